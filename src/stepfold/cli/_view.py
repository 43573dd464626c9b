"""A run as people read it: tokens as they come, calls and results as they happen."""

from collections.abc import Sequence
from typing import Final, final

from stepfold.cli._screen import Screen, shortened
from stepfold.loop.commands import CallKey
from stepfold.loop.events import ToolFailed, ToolOutcome, ToolSucceeded
from stepfold.loop.notes import (
    ApprovalRequested,
    CallOpened,
    CallRejected,
    CallRequested,
    HistoryRepaired,
    ModelRetried,
    Note,
    OutputRejected,
    RunBlocked,
    RunEnded,
    SteeringDelivered,
    SteeringDropped,
    StepFinished,
    StepStarted,
    ToolFinished,
)
from stepfold.shell import RunPart, ToolProgressed
from stepfold.values import (
    Blocked,
    Cancelled,
    Completed,
    ContentOutput,
    DeniedOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    Failed,
    File,
    JsonObject,
    JsonOutput,
    JsonText,
    ModelErrorReason,
    ReasoningDelta,
    ReasoningEnd,
    RunEnd,
    StepResult,
    Stopped,
    StreamPart,
    StreamStart,
    Success,
    Text,
    TextDelta,
    TextEnd,
    TextOutput,
    ToolCall,
    ToolError,
    ToolInputStart,
    ToolOutput,
    ToolResult,
    Usage,
)

_SECOND: Final = 1_000_000_000


@final
class RunView:
    """Shows the parts of one run; makes no decision and keeps no history."""

    def __init__(self, screen: Screen, *, tells_approvals: bool = True) -> None:
        self._screen = screen
        self._tells_approvals = tells_approvals
        self._names: dict[CallKey, str] = {}

    def show(self, part: RunPart) -> None:
        """Show one part, if it says anything to a person."""
        match part:
            case ToolProgressed(_, value, call):
                name = (f"{call.tool_name}: ", "dim")
                self._screen.line(("  … ", "yellow"), name, shortened(plain(value)), hang=4)
            case (
                HistoryRepaired()
                | StepStarted()
                | ModelRetried()
                | CallRequested()
                | CallRejected()
                | ApprovalRequested()
                | CallOpened()
                | ToolFinished()
                | SteeringDelivered()
                | SteeringDropped()
                | StepFinished()
                | OutputRejected()
                | RunBlocked()
                | RunEnded()
            ):
                self._decided(part)
            case _:
                self._said(part)

    def _said(self, part: StreamPart) -> None:
        screen = self._screen
        match part:
            case TextDelta(_, delta):
                screen.stream(delta)
            case ReasoningDelta(_, delta):
                screen.stream(delta, "dim italic")
            case TextEnd() | ReasoningEnd():
                screen.end_line()
            case ToolInputStart(_, name):
                screen.busy(f"waiting for the arguments of {name}")
            case StreamStart(warnings):
                for warning in warnings:
                    said = f"{warning.kind}: {warning.subject} {warning.message}".rstrip()
                    screen.line((f"  ! {said}", "yellow"), hang=4)
            case ToolCall() if part.provider_executed:
                screen.line(("  ↗ ", "cyan"), (call_text(part), "bold"), ("  (provider)", "dim"))
            case File():
                screen.line((f"  [a file: {part.media_type}]", "cyan"))
            case _:
                pass

    def _decided(self, note: Note) -> None:
        screen = self._screen
        match note:
            case HistoryRepaired(findings):
                for found in findings:
                    told = f"message {found.message + 1}: {found.problem}; {found.mend}"
                    screen.line(("  ! ", "yellow"), told, hang=4)
            case StepStarted(step, model):
                screen.busy(f"step {step + 1}: waiting for {model}")
            case ModelRetried() as retried:
                screen.line((f"  ! {retried.reason}", "yellow"), hang=4)
                screen.busy(f"trying again with {retried.model}")
            case CallRequested(key, call):
                self._names[key] = call.tool_name
                screen.line(("  → ", "cyan"), (call_text(call), "bold"), hang=4)
                screen.busy(f"running {call.tool_name}")
            case CallRejected(_, call, error):
                screen.line(("  ✗ ", "red"), f"{call.tool_name} was refused: {error}", hang=4)
            case ApprovalRequested(_, request) if self._tells_approvals:
                screen.line(("  ? ", "yellow"), f"{request.call.tool_name} needs an approval")
            case OutputRejected(_, error):
                screen.line((f"  ! {shortened(error.message)}", "yellow"), hang=4)
            case CallOpened(_, request):
                screen.line(("  ? ", "yellow"), f"{request.call.tool_name} waits for a client")
            case ToolFinished(_, ToolResult(_, name, output)):
                shown = shortened(output_text(output))
                screen.line(("  ← ", "green"), (f"{name}: ", "dim"), shown, hang=4)
            case ToolFinished(_, ToolError(kind="invalid")):
                screen.idle()  # it was shown when it was refused
            case ToolFinished(_, ToolError(_, name, error, kind=kind)):
                screen.line(("  ✗ ", "red"), shortened(f"{name} ({kind}): {error}"), hang=4)
            case _:
                screen.idle()


def call_text(call: ToolCall) -> str:
    """A call as one would write it in Python; arguments that are no JSON object stay as they are.

    Nothing is left out, since people decide by it.
    """
    match JsonText.parse(call.input):
        case Success(document) if isinstance(document.value, JsonObject):
            items = document.value.items()
            given = ", ".join(f"{key}={JsonText.of(value).text}" for key, value in items)
        case _:
            given = call.input
    return f"{call.tool_name}({given})"


def plain(document: JsonText) -> str:
    """A JSON document as people read it: texts without quotes."""
    value = document.value
    return value if isinstance(value, str) else document.text


def output_text(output: ToolOutput) -> str:
    """What a tool gave, in one piece of text."""
    match output:
        case TextOutput(value) | ErrorTextOutput(value):
            return value
        case JsonOutput(value) | ErrorJsonOutput(value):
            return plain(value)
        case DeniedOutput(reason):
            return "denied" if reason is None else f"denied: {reason}"
        case ContentOutput(parts):
            return "\n".join(
                part.text if isinstance(part, Text) else f"[{type(part).__name__.lower()}]"
                for part in parts
            )


def outcome_text(outcome: ToolOutcome) -> str:
    """What came of a tool, in one piece of text."""
    match outcome:
        case ToolSucceeded(output):
            return output_text(output)
        case ToolFailed(message):
            return message


def end_text(end: RunEnd[object]) -> str:
    """How a run ended, in a few words."""
    match end:
        case Completed():
            return "completed"
        case Stopped(stop):
            return f"stopped by {stop.name} {plain(stop.evidence)}"
        case Blocked(requests):
            names = ", ".join(request.call.tool_name for request in requests)
            return f"blocked: an answer is needed for {names}"
        case Failed(error):
            told = str(error) if isinstance(error, ModelErrorReason) else error.message
            return f"failed: {told}"
        case Cancelled(reason):
            return f"cancelled: {reason}"


def show_steps(screen: Screen, steps: Sequence[StepResult], usage: Usage) -> None:
    """Show a table of the steps: what each did, its tokens and its times."""
    if not steps:
        screen.idle()
        return
    head = ("#", "model", "calls", "ended", "in", "out", "first", "time", "tok/s")
    rows = [_row(step) for step in steps]
    many = len(steps) > 1
    if many:
        time = _seconds(sum(step.performance.step_time for step in steps))
        tokens = (_count(usage.input_tokens), _count(usage.output_tokens))
        rows.append(("all", "", "", "", *tokens, "", time, ""))
    screen.line()
    screen.table(head, rows, total=many)


def summary_of(steps: Sequence[StepResult]) -> str:
    """The steps in one line: how many, their tokens and their time."""
    usage = sum((step.usage for step in steps), Usage())
    time = _seconds(sum(step.performance.step_time for step in steps))
    many = "1 step" if len(steps) == 1 else f"{len(steps)} steps"
    tokens = f"{_count(usage.input_tokens)} tokens in, {_count(usage.output_tokens)} out"
    return f"{many} · {tokens} · {time}"


def _row(step: StepResult) -> Sequence[str]:
    performance = step.performance
    rate = performance.output_tokens_per_second
    if rate is None:
        rate = performance.effective_output_tokens_per_second
    first = performance.time_to_first_output
    return (
        str(step.step + 1),
        step.model,
        ", ".join(call.tool_name for call in step.tool_calls),
        step.finish_reason.unified,
        _count(step.usage.input_tokens),
        _count(step.usage.output_tokens),
        "" if first is None else _seconds(first),
        _seconds(performance.step_time),
        f"{rate:.0f}" if rate else "",
    )


def _count(tokens: int | None) -> str:
    return "?" if tokens is None else f"{tokens:,}"


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / _SECOND:.2f}s"
