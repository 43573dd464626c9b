"""`inspect`, `replay`, `fork`, `view` and `redact`: what was recorded, and what becomes of it."""

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from stepfold.agent import Agent
from stepfold.cli._kept_pipelines import (
    fork_pipeline,
    kept_pipeline,
    refuse_pipeline,
    replay_pipeline,
    show_pipeline,
)
from stepfold.cli._named import kind_of, object_named
from stepfold.cli._screen import Screen, shortened
from stepfold.cli._view import call_text, outcome_text
from stepfold.codec import to_json
from stepfold.durable import (
    BaseRecord,
    EntryRecord,
    Recording,
    explained,
    fork_recording,
    page_of,
    read_recording,
    redacted,
    replayed,
    replayed_states,
    spans_of,
    write_recording,
)
from stepfold.loop import Limits, LoopState, Program
from stepfold.loop.events import (
    ApprovalAnswered,
    ApprovalDecided,
    Event,
    MessageSteered,
    ModelFailed,
    ModelReplied,
    ToolReturned,
    ToolStarted,
)
from stepfold.ports import JournalError
from stepfold.values import (
    Failure,
    File,
    Reasoning,
    StepResult,
    Success,
    Text,
    ToolCall,
    ToolError,
    UsageError,
)

_SECOND: Final = 1_000_000_000
_EXAMPLE: Final = "my_agents:agent"
_DIVERGED: Final = 1


def program_named(reference: str) -> Program:
    """The program of the agent that `module:name` stands for.

    Raises:
        UsageError: there is no such thing, or it is neither an agent nor a program.
    """
    found = object_named(reference, option="--program", example=_EXAMPLE)
    if isinstance(found, Program):
        return found
    if isinstance(found, Agent):
        return found.program
    raise UsageError(f"--program {reference}: expected an Agent or a Program, got {kind_of(found)}")


def _recording(file: str) -> Recording:
    try:
        outcome = read_recording(file)
    except JournalError as error:
        raise UsageError(f"cannot read {file}: {error}") from error
    match outcome:
        case Success(recording):
            return recording
        case Failure(fault):
            raise UsageError(_told(file, fault.message))


def _told(file: str, message: str) -> str:
    if not Path(file).exists():
        return f"there is no file {file}"
    return message


# --- inspect ----------------------------------------------------------------------------------


def redact_file(file: str, output: str, screen: Screen) -> int:
    """Write a journal without what was said in it.

    Raises:
        UsageError: the file is no journal, or there is such a file as the other.
    """
    refuse_pipeline(file, "redact")
    recording = redacted(_recording(file))
    try:
        write_recording(recording, output)
    except JournalError as error:
        exists = Path(output).exists()
        told = f"{output} exists already" if exists else f"cannot write {output}: {error}"
        raise UsageError(told) from error
    screen.line((output, "bold"), " can be looked at, and not replayed")
    return 0


def inspect_file(file: str, screen: Screen, *, shows_events: bool, redacts: bool) -> int:
    """Show what a journal tells without a program: its steps, or every event.

    Raises:
        UsageError: the file is no journal.
    """
    pipeline = kept_pipeline(file)
    if pipeline is not None:
        show_pipeline(pipeline, screen, shows_events=shows_events, redacts=redacts)
        return 0
    recording = _recording(file)
    if redacts:
        recording = redacted(recording)
    _show_head(screen, recording)
    _show_steps(screen, recording)
    if shows_events:
        screen.line()
        head = ("n", "event", "what", "at", "step")
        screen.table(head, tuple(_event_rows(recording)), total=False)
    return 0


def _show_head(screen: Screen, recording: Recording) -> None:
    run, header = recording.run, recording.header
    took = _seconds(run.updated - run.created)
    told = f"{run.status}, {run.version} records in {took}, begun {_date(run.created)}"
    screen.line((f"run {run.run}", "bold"), f"  {told}")
    screen.line((f"program {header.fingerprint[:12]}, rules {header.rules}", "dim"))
    if header.granted is not None:
        screen.line((f"granted by a tool call: {_told_limits(header.granted.limits)}", "dim"))
    if run.parent is not None:
        screen.line((f"a fork of {run.parent} after record {run.forked_at}", "dim"))
    if recording.redacted:
        screen.line(("redacted, or without its secrets: cannot be replayed", "yellow"))


def _told_limits(limits: Limits) -> str:
    figures = attrs.asdict(
        limits, recurse=False, filter=lambda _, figure: figure is not None and figure != ()
    )
    return ", ".join(f"{name}={figure}" for name, figure in figures.items()) or "no limits"


def _show_steps(screen: Screen, recording: Recording) -> None:
    snapshot = recording.snapshot
    if snapshot is None or not snapshot.steps:
        screen.line(("no step has come to rest", "dim"))
        return
    screen.line()
    head = ("#", "model", "parts", "ended", "in", "out", "cost", "first", "time")
    rows = [_step_row(step) for step in snapshot.steps]
    steps = snapshot.steps
    time = _seconds(sum(step.performance.step_time for step in steps))
    usage = snapshot.usage
    total = (
        "all",
        "",
        "",
        "",
        _count(usage.input_tokens),
        _count(usage.output_tokens),
        _cost(snapshot.cost),
        "",
        time,
    )
    screen.table(head, [*rows, total] if len(rows) > 1 else rows, total=len(rows) > 1)


def _step_row(step: StepResult) -> Sequence[str]:
    performance = step.performance
    first = performance.time_to_first_output
    return (
        str(step.step + 1),
        step.model,
        ", ".join(_parts(step)),
        step.finish_reason.unified,
        _count(step.usage.input_tokens),
        _count(step.usage.output_tokens),
        _cost(step.cost),
        "" if first is None else _seconds(first),
        _seconds(performance.step_time),
    )


def _parts(step: StepResult) -> Iterator[str]:
    """What a step is made of, in few words: what was said, and what came of each call."""
    times = dict(step.performance.tool_time)
    errors = {part.tool_call_id: part.kind for part in step.content if isinstance(part, ToolError)}
    for part in step.content:
        match part:
            case Text(text) if text:
                yield f"text {len(text):,}"
            case Reasoning(text):
                yield f"reasoning {len(text):,}"
            case File(media_type=kind):
                yield kind
            case ToolCall(call_id, name):
                time = f" {_seconds(times[call_id])}" if call_id in times else ""
                error = f" ({errors[call_id]})" if call_id in errors else ""
                yield f"{name}{time}{error}"
            case _:
                pass


def _event_rows(recording: Recording) -> Iterator[Sequence[str]]:
    began = recording.header.at
    yield ("1", "began", f"{len(recording.header.messages)} messages", _seconds(0), "")
    names = {(span.kind, span.record): span for span in spans_of(recording)}
    for number, record in enumerate(recording.records, start=2):
        match record:
            case BaseRecord(increment):
                state = increment.state
                at = _seconds(state.now - began)
                yield (str(number), "forked", f"from here on it is {state.identity.run}", at, "")
            case EntryRecord(entry):
                span = names.get(("tool", number)) or names.get(("model", number))
                name = "" if span is None else span.name
                event = entry.event
                at = _seconds(event.at - began)
                yield (str(number), _kind(event), _what(event, name), at, _step_of(event))


def _kind(event: Event) -> str:
    return str(to_json(event)["type"])


def _step_of(event: Event) -> str:
    key = getattr(event, "key", None)
    step = getattr(event, "step", None) if key is None else getattr(key, "step", None)
    return str(step + 1) if isinstance(step, int) else ""


def _what(event: Event, name: str) -> str:
    match event:
        case ModelReplied(_, reply):
            said = (
                call_text(part) if isinstance(part, ToolCall) else part.text
                for part in reply.content
                if isinstance(part, ToolCall | Text)
            )
            return shortened(f"{name}: " + "; ".join(said), 200)
        case ModelFailed(_, reason):
            return shortened(f"{name}: {reason}", 200)
        case ToolReturned(_, outcome):
            return shortened(f"{name}: {outcome_text(outcome)}", 200)
        case ToolStarted(key):
            return f"call {key.index}"
        case ApprovalAnswered(_, _, approved) as answer:
            return ("approved" if approved else "denied") + f" {answer.reason or ''}"
        case ApprovalDecided(_, decision):
            return decision
        case MessageSteered(_, message):
            texts = (part.text for part in message.content if isinstance(part, Text))
            return shortened(" ".join(texts), 200)
        case _:
            return str(getattr(event, "reason", ""))


# --- replay -----------------------------------------------------------------------------------


def replay_file(file: str, program: str, screen: Screen, *, allows_other: bool) -> int:
    """Decide a recording anew, and tell where it parts from what was recorded.

    Raises:
        UsageError: the file is no journal, or there is no such program.
    """
    pipeline = kept_pipeline(file)
    if pipeline is not None:
        return replay_pipeline(pipeline, program, screen)
    recording = _recording(file)
    decided = program_named(program)
    match replayed(decided, recording, allow_other_program=allows_other):
        case Success(state):
            same = f"{len(recording.entries)} events, {len(state.steps)} steps"
            screen.line(("the same", "green"), f": {same}, {recording.run.status}")
            return 0
        case Failure(diverged):
            head, *lines = explained(decided, recording, diverged).splitlines()
            screen.line(("diverged ", "bold red"), head)
            styles = {"-": "red", "+": "green"}
            for line in lines:
                screen.line((line, styles.get(line[:1], "dim")))
            if diverged.position < 0 and not allows_other:
                screen.line(("--allow-other decides it anew with another program", "dim"))
            return _DIVERGED


# --- fork -------------------------------------------------------------------------------------


def fork_file(file: str, program: str, screen: Screen, *, at: str, new: str | None) -> int:
    """Write a fork beside a journal; `resume` takes it on.

    Raises:
        UsageError: the file is no journal, there is no such program, or it cannot be forked there.
    """
    number = int(at) if at.isdecimal() else 0
    pipeline = kept_pipeline(file)
    if pipeline is not None:
        return fork_pipeline(pipeline, file, program, screen, at=number or at, new=new)
    recording = _recording(file)
    name = new or f"{recording.run.run}-{at}"
    if not 0 < number <= recording.run.version:
        raise UsageError(f"--at {at}: expected a record from 1 to {recording.run.version}")
    try:
        path = fork_recording(program_named(program), file, name, at=number)
    except JournalError as error:
        raise UsageError(str(error)) from error
    folder = str(path.parent)
    screen.line((str(path), "bold"), f": the run {name}, from record {at} of {recording.run.run}")
    how = f"durable.resume(agent, durable.FileStore({folder!r}), {name!r}) takes it on"
    screen.line((how, "dim"))
    return 0


# --- view -------------------------------------------------------------------------------------


def view_file(
    file: str, program: str | None, output: str | None, screen: Screen, *, redacts: bool
) -> int:
    """Write a page that shows a journal.

    Raises:
        UsageError: the file is no journal, there is no such program, or the page cannot be
            written.
    """
    refuse_pipeline(file, "view")
    recording = _recording(file)
    states: list[LoopState] = []
    code = 0
    if redacts and program is not None:
        raise UsageError("--redact: expected no --program, since states hold all that was said")
    if redacts:
        recording = redacted(recording)
    if program is not None:
        decided = program_named(program)
        for outcome in replayed_states(decided, recording, allow_other_program=True):
            match outcome:
                case Success(state):
                    states.append(state)
                case Failure(diverged):
                    screen.complain(explained(decided, recording, diverged))
                    code = _DIVERGED
    path = Path(output or Path(file).with_suffix(".html").name)
    try:
        path.write_text(page_of(recording, states), "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    screen.line((str(path), "bold"), " shows the run in a browser")
    return code


# --- texts ------------------------------------------------------------------------------------


def _date(at: int) -> str:
    moment = dt.datetime.fromtimestamp(at / _SECOND, tz=dt.UTC)
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / _SECOND:.3f}s"


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"


def _cost(cost: int | None) -> str:
    return "" if cost is None else f"{cost / 1_000_000:.6f}"
