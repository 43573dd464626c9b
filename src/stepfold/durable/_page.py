"""A run as one page for a browser: a timeline, what was said, and what each step changed.

The page is one file of HTML and CSS. It runs no script and loads nothing from elsewhere, and says
so to the browser; whatever models and tools said is shown as text.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from stepfold.durable._page_axis import Axis
from stepfold.durable._page_style import STYLE
from stepfold.durable._recording import Recording
from stepfold.durable._records import BaseRecord
from stepfold.durable._timeline import Change, Span, changes, spans_of
from stepfold.loop import LoopState
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    ContentOutput,
    ContentPart,
    DeniedOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    JsonOutput,
    JsonText,
    Message,
    Reasoning,
    StepResult,
    Success,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolError,
    ToolMessage,
    ToolOutput,
    ToolResult,
    UserMessage,
    dump_json,
)

_SECOND: Final = 1_000_000_000
_LONGEST: Final = 400
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def page_of(recording: Recording, states: Sequence[LoopState] = ()) -> str:
    """Draw a run as a page of HTML that needs nothing else.

    `states` are those of `replayed_states`, if there is a program: the page then shows what each
    event changed, else what each step did.
    """
    run = recording.run
    body = "".join(
        (
            _head(recording),
            "<h2>Timeline</h2>",
            _waterfall(recording),
            "<h2>Steps</h2>",
            *_prompt(recording),
            *_steps(recording),
            *_events(recording, states),
        )
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(run.run)}</title><style>{STYLE}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


# --- the head ---------------------------------------------------------------------------------


def _head(recording: Recording) -> str:
    run, header, snapshot = recording.run, recording.header, recording.snapshot
    told = [f"begun {_date(run.created)}", f"program {header.fingerprint[:12]}"]
    if run.parent is not None:
        told.append(f"a fork of {run.parent} after record {run.forked_at}")
    if recording.redacted:
        told.append("redacted, or without its secrets")
    figures = [
        ("steps", str(len(recording.steps))),
        ("records", f"{run.version:,}"),
        ("from begin to end", _duration(run.updated - run.created)),
    ]
    if snapshot is not None:
        usage = snapshot.usage
        figures += [
            ("tokens in", _count(usage.input_tokens)),
            ("tokens out", _count(usage.output_tokens)),
        ]
        if snapshot.cost is not None:
            figures.append(("cost", _cost(snapshot.cost)))
    boxes = "".join(
        f"<div><b>{escape(value)}</b><span>{name}</span></div>" for name, value in figures
    )
    return (
        f'<div class="head"><h1>{escape(run.run)}</h1>'
        f'<span class="pill {run.status}">{run.status}</span></div>'
        f'<div class="soft small">{escape(" · ".join(told))}</div>'
        f'<div class="figures">{boxes}</div>'
    )


# --- the timeline -----------------------------------------------------------------------------


def _waterfall(recording: Recording) -> str:
    spans = spans_of(recording)
    if not spans:
        return '<div class="card"><div class="says soft">Nothing was at work yet.</div></div>'
    axis = Axis.of(recording.header.at, [(span.started, span.ended) for span in spans])
    gaps = "".join(
        f'<div class="gap" style="left:{left:.3f}%;width:{width:.3f}%" title="{escape(title)}">'
        "</div>"
        for left, width, title in (
            (left, width, f"{_duration(time)} in which nothing was at work")
            for left, width, time in axis.gaps()
        )
    )
    ticks = "".join(
        f'<i class="{kind}" style="left:{place:.3f}%">{_duration(time)}</i>'
        for place, time, kind in axis.ticks()
    )
    rows = [f'<div class="axis"><div></div><div class="track">{ticks}</div><div></div></div>']
    step = spans[0].step - 1
    for span in spans:
        rows.append(_row(span, axis, gaps, is_new=span.step != step))
        step = span.step
    key = "".join(
        f'<span style="--swatch:var(--{color})">{name}</span>'
        for color, name in (
            ("model", "model"),
            ("tool", "tool"),
            ("wait", "pause"),
            ("bad", "failed"),
            ("lost", "lost in a crash or at the end"),
        )
    )
    return (
        f'<div class="card"><div class="waterfall">{"".join(rows)}</div>'
        f'<div class="key">{key}</div></div>'
    )


def _row(span: Span, axis: Axis, gaps: str, *, is_new: bool) -> str:
    left, right = axis.place(span.started), axis.place(span.ended)
    number = f'<span class="soft">{span.step + 1 if span.step >= 0 else "·"}</span> '
    label = f"{number if is_new else ''}{escape(span.name)}"
    time = "?" if span.end == "lost" else _duration(span.ended - span.started)
    title = span.name if span.call is None else f"{span.name} {span.call.input}"
    looks = f"bar {span.kind} {span.end}"
    return (
        f'<a class="row{" new" if is_new else ""}" href="#step-{span.step}" '
        f'title="{escape(_short(title))}">'
        f'<div class="label{"" if is_new else " inner"}">{label}</div>'
        f'<div class="track">{gaps}<div class="{looks}" '
        f'style="left:{left:.3f}%;width:{max(0.0, right - left):.3f}%"></div></div>'
        f'<div class="time">{time}</div></a>'
    )


# --- what was said ----------------------------------------------------------------------------


def _prompt(recording: Recording) -> Iterator[str]:
    messages = recording.header.messages
    if messages:
        said = "".join(_message(message) for message in messages)
        yield f'<div class="card" id="step--1"><header><h3>Prompt</h3></header>{said}</div>'


def _steps(recording: Recording) -> Iterator[str]:
    older: LoopState | None = None
    shown = 0
    for number, state in recording.snapshots():
        changed = changes(older, state)
        older = state
        fresh = state.steps[shown:]
        shown = len(state.steps)
        for step in fresh:
            yield _step(step, _changes_table(changed, f"What changed up to record {number}"))
            changed = ()
    snapshot = recording.snapshot
    if snapshot is not None and snapshot.transcript.late:
        said = "".join(_message(message) for message in snapshot.transcript.late)
        yield f'<div class="card"><header><h3>After the last step</h3></header>{said}</div>'


def _step(step: StepResult, changed: str) -> str:
    performance = step.performance
    told = [
        step.model,
        step.finish_reason.unified,
        f"{_count(step.usage.input_tokens)} tokens in, {_count(step.usage.output_tokens)} out",
        _duration(performance.step_time),
    ]
    if step.cost is not None:
        told.append(_cost(step.cost))
    late = "".join(_message(message) for message in step.late)
    said = "".join(_content(step.content, dict(performance.tool_time)))
    return (
        f'<div class="card" id="step-{step.step}"><header><h3>Step {step.step + 1}</h3>'
        f'<span class="soft">{escape(" · ".join(told))}</span></header>'
        f"{late}{said}{changed}</div>"
    )


def _message(message: Message) -> str:
    match message:
        case SystemMessage(text):
            return _says("system", f'<div class="text">{escape(text)}</div>')
        case UserMessage(content):
            parts = (
                part.text if isinstance(part, Text) else f"[{type(part).__name__.lower()}]"
                for part in content
            )
            return _says("user", f'<div class="text">{escape(" ".join(parts))}</div>')
        case AssistantMessage(content):
            return "".join(_content(content, {}))
        case ToolMessage(content):
            answers = (part for part in content if isinstance(part, ToolResult))
            return "".join(
                _says("tool", _call(part.tool_name, None, _output(part.output), "ok", ""))
                for part in answers
            )


def _content(content: Sequence[ContentPart], times: dict[str, int]) -> Iterator[str]:
    """What a model said and what came of its calls, each call with its answer."""
    answers = {
        part.tool_call_id: part for part in content if isinstance(part, ToolResult | ToolError)
    }
    asked = {part.approval_id: part for part in content if isinstance(part, ApprovalRequest)}
    decided = {
        asked[part.approval_id].tool_call_id: part
        for part in content
        if isinstance(part, ApprovalResponse) and part.approval_id in asked
    }
    waiting = {part.tool_call_id for part in asked.values()} - {*decided}
    for part in content:
        match part:
            case Text(text) if text:
                yield _says("assistant", f'<div class="text">{escape(text)}</div>')
            case Reasoning(text) if text:
                yield _says("reasoning", f'<div class="text reasoning">{escape(text)}</div>')
            case ToolCall(call_id, name, given):
                answer = answers.get(call_id)
                notes = [_duration(times[call_id])] if call_id in times else []
                if call_id in decided:
                    answered = decided[call_id]
                    said = "approved" if answered.approved else "denied"
                    notes.append(said if answered.reason is None else f"{said}: {answered.reason}")
                elif call_id in waiting:
                    notes.append("needed an approval")
                looks, told = _answer(answer)
                yield _says("call", _call(name, given, told, looks, " · ".join(notes)))
            case ToolResult() | ToolError() | ApprovalRequest() | ApprovalResponse():
                pass
            case Text() | Reasoning():
                pass
            case other:
                kind = type(other).__name__
                yield _says(kind, f'<div class="text soft">[{escape(kind)}]</div>')


def _answer(answer: ToolResult | ToolError | None) -> tuple[str, str | None]:
    match answer:
        case None:
            return "ok", None
        case ToolError(_, _, error, kind=kind):
            return ("lost" if kind == "interrupted" else "failed"), f"{kind}: {error}"
        case ToolResult(_, _, output):
            return "ok", _output(output)


def _says(who: str, what: str) -> str:
    looks = " user" if who == "user" else ""
    return f'<div class="says{looks}"><div class="who">{escape(who)}</div>{what}</div>'


def _call(name: str, given: str | None, answer: str | None, looks: str, note: str) -> str:
    arguments = "" if given is None else f"<pre>{escape(_pretty(given))}</pre>"
    told = "" if answer is None else f"<pre>→ {escape(answer)}</pre>"
    noted = f' <span class="soft small">{escape(note)}</span>' if note else ""
    return (
        f'<div class="call {looks}"><span class="name">{escape(name)}</span>{noted}'
        f"{arguments}{told}</div>"
    )


def _output(output: ToolOutput) -> str:
    match output:
        case TextOutput(value) | ErrorTextOutput(value):
            return value
        case JsonOutput(value) | ErrorJsonOutput(value):
            return _pretty(value.text)
        case DeniedOutput(reason):
            return "denied" if reason is None else f"denied: {reason}"
        case ContentOutput(parts):
            return "\n".join(
                part.text if isinstance(part, Text) else f"[{type(part).__name__.lower()}]"
                for part in parts
            )


def _pretty(text: str) -> str:
    """JSON as people read it: a short document on a line, a text without quotes."""
    match JsonText.parse(text):
        case Success(document):
            value = document.value
            return value if isinstance(value, str) else dump_json(value)
        case _:
            return text


# --- what changed -----------------------------------------------------------------------------


def _events(recording: Recording, states: Sequence[LoopState]) -> Iterator[str]:
    """What each event changed, as far as a program has decided them anew."""
    if not states:
        return
    yield '<h2>Events</h2><div class="card">'
    for number, (record, before, after) in enumerate(
        zip(recording.records, states, states[1:], strict=False), start=2
    ):
        if isinstance(record, BaseRecord):
            kind, commands = "Forked", ""
        else:
            kind = type(record.entry.event).__name__
            commands = ", ".join(record.entry.commands)
        owed = f" → {commands}" if commands else ""
        title = f"{number} · {kind}{owed}"
        yield _changes_table(changes(before, after), title)
    yield "</div>"


def _changes_table(changed: Sequence[Change], title: str) -> str:
    if not changed:
        return ""
    rows = "".join(
        f"<tr><td><code>{escape(change.path)}</code></td>"
        f'<td class="was"><code>{escape(_short(change.before or ""))}</code></td>'
        f"<td><code>{escape(_short(change.after or ''))}</code></td></tr>"
        for change in changed
    )
    return (
        f"<details><summary>{escape(title)}</summary><table>"
        f"<tr><th>state</th><th>before</th><th>after</th></tr>{rows}</table></details>"
    )


# --- texts ------------------------------------------------------------------------------------


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"


def _cost(cost: int) -> str:
    return f"{cost / 1_000_000:.6f}"


def _date(at: int) -> str:
    moment = dt.datetime.fromtimestamp(at / _SECOND, tz=dt.UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _duration(nanoseconds: int) -> str:
    """A time in the unit in which people would tell it."""
    seconds = nanoseconds / _SECOND
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
