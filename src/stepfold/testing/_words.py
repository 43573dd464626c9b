"""Parts and events in few words, for people who read what became of a run."""

from collections.abc import Iterable
from typing import Final

from stepfold.loop.commands import CallKey
from stepfold.loop.events import (
    ApprovalAnswered,
    ApprovalDecided,
    CallBound,
    CallRepaired,
    Cancelled,
    CancelRequested,
    Event,
    MessageSteered,
    ModelFailed,
    ModelReplied,
    OutputBound,
    Resumed,
    StepPlan,
    StepPrepared,
    StopChecked,
    TimedOut,
    ToolOutcome,
    ToolReturned,
    ToolStarted,
    ToolSucceeded,
    Waited,
)
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
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    ContentOutput,
    ContentPart,
    Custom,
    DeniedOutput,
    DocumentSource,
    ErrorJsonOutput,
    ErrorTextOutput,
    File,
    HookFailed,
    JsonOutput,
    Message,
    ModelReply,
    OpenApproval,
    OpenCall,
    OpenRequest,
    Reasoning,
    ReasoningFile,
    Stop,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolError,
    ToolOutput,
    ToolResult,
    UrlSource,
)

_LONGEST: Final = 240


def words_of_event(event: Event) -> str:
    """An event: its name, what it is about, and what it says, cut to a readable length."""
    text = f"{type(event).__name__}: {_said(event)}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def words_of_message(message: Message) -> str:
    """A message: who says it, and what."""
    match message:
        case SystemMessage(content):
            return f"system: {content!r}"
        case _:
            who = type(message).__name__.removesuffix("Message").lower()
            return f"{who}: {words_of_parts(message.content)}"


def words_of_parts(parts: Iterable[ContentPart]) -> str:
    """Parts, one after the other."""
    return "; ".join(map(words_of_part, parts)) or "nothing"


def words_of_part(part: ContentPart) -> str:
    """A part as one would write it down: a call as a call, a result with its arrow."""
    by_provider = " by the provider" if getattr(part, "provider_executed", False) else ""
    match part:
        case Text(text):
            return repr(text)
        case Reasoning(text):
            return f"thinks {text!r}"
        case File(data, media_type) | ReasoningFile(data, media_type):
            return f"file {media_type} {data!r}"
        case UrlSource(_, url):
            return f"source {url}"
        case DocumentSource(_, media_type, title):
            return f"source {title!r} {media_type}"
        case Custom(kind):
            return f"custom {kind}"
        case ToolCall(call_id, name, text):
            return f"calls {name}({text}){_named(call_id)}{by_provider}"
        case ToolResult(call_id, name, output):
            kept = " so far" if part.preliminary else ""
            return f"{name} -> {words_of_output(output)}{kept}{_named(call_id)}{by_provider}"
        case ToolError(call_id, name, error):
            return f"{name} -> {part.kind}: {error!r}{_named(call_id)}{by_provider}"
        case ApprovalRequest(approval_id, call_id):
            asks = "settles" if part.is_automatic else "asks"
            return f"{asks} whether [{call_id}] may run: {approval_id}"
        case ApprovalResponse(approval_id, approved):
            return f"{'yes' if approved else 'no'} to {approval_id}{_because(part.reason)}"


def words_of_request(request: OpenRequest) -> str:
    """What people and clients owe."""
    match request:
        case OpenApproval(approval_id, call):
            return f"{approval_id}: may it run? {words_of_part(call)}{_because(request.reason)}"
        case OpenCall():
            return f"a client's: {words_of_part(request.call)}"


def words_of_note(note: Note) -> str:
    """A note: its name, and what it tells."""
    return f"{type(note).__name__}: {_noted(note)}"


def _noted(note: Note) -> str:
    match note:
        case HistoryRepaired(findings):
            return ", ".join(finding.kind for finding in findings)
        case StepStarted(step, model):
            return f"step {step}, {model}"
        case ModelRetried(step, total, model, reason):
            return f"step {step}, attempt {total}: {model}, after {reason.kind}, {reason.message!r}"
        case CallRequested(_, call):
            return words_of_part(call)
        case CallRejected(_, call, error):
            return f"{words_of_part(call)}, {error!r}"
        case ApprovalRequested(_, request) | CallOpened(_, request):
            return words_of_request(request)
        case ToolFinished(_, part):
            return words_of_part(part)
        case SteeringDelivered(id, step):
            return f"{id}, in step {step}"
        case SteeringDropped(id, reason):
            return f"{id}, {reason}"
        case OutputRejected(step, error):
            return f"step {step}: {error.message}"
        case StepFinished(result):
            return f"step {result.step}, {result.finish_reason.unified}"
        case RunBlocked(owed):
            return f"on {len(owed)} open requests"
        case RunEnded(end):
            return type(end).__name__


def words_of_output(output: ToolOutput) -> str:
    """What a tool gave, and whether it is an error."""
    match output:
        case TextOutput(text):
            return repr(text)
        case JsonOutput(value):
            return value.text
        case ErrorTextOutput(text):
            return f"error {text!r}"
        case ErrorJsonOutput(value):
            return f"error {value.text}"
        case DeniedOutput(reason):
            return f"denied{_because(reason)}"
        case ContentOutput(parts):
            return f"({words_of_parts(parts)})"


def words_of_finish(reply: ModelReply) -> str:
    """How a reply ended, and what it cost."""
    usage = reply.usage
    return f"({reply.finish_reason.unified}, {usage.input_tokens}+{usage.output_tokens} tokens)"


def _said(event: Event) -> str:
    match event:
        case ModelReplied(key, reply):
            return f"step {key.step}: {words_of_parts(reply.content)} {words_of_finish(reply)}"
        case ModelFailed(key, reason):
            return f"step {key.step}, attempt {key.total}: {reason.kind}, {reason.message!r}"
        case Waited(key):
            return f"step {key.step}: the pause before attempt {key.total + 1} is over"
        case StepPrepared(step, plan):
            return f"step {step}: {_planned(plan)}"
        case CallRepaired(key, text):
            return f"{_call(key)} is not repaired" if text is None else f"{_call(key)}: {text}"
        case CallBound(key, error):
            return f"{_call(key)}: {'as it is' if error is None else f'refused, {error!r}'}"
        case ApprovalDecided(key, decision):
            return f"{_call(key)}: {decision}"
        case ApprovalAnswered(approval_id, _, approved):
            return f"{'yes' if approved else 'no'} to {approval_id}{_because(event.reason)}"
        case ToolStarted(key):
            return _call(key)
        case ToolReturned(key, outcome):
            return f"{_call(key)} -> {_came(outcome)}"
        case StopChecked(step, answer):
            return f"step {step}: {_stops(answer)}"
        case OutputBound(step, error):
            return f"step {step}: {'accepted' if error is None else f'refused, {error!r}'}"
        case MessageSteered(id, message, mode):
            return f"{id} ({mode}) {words_of_parts(message.content)}"
        case TimedOut(limit, step):
            return f"{limit} time, in step {step}{_cut(event.partial)}"
        case Cancelled(reason):
            return f"{reason!r}{_cut(event.partial)}"
        case CancelRequested(reason):
            return f"{reason!r}, after the step"
        case Resumed(number):
            return f"by process {number}"


def _call(key: CallKey) -> str:
    again = f", attempt {key.attempt}" if key.attempt else ""
    return f"call {key.index} of step {key.step}{again}"


def _came(outcome: ToolOutcome) -> str:
    if isinstance(outcome, ToolSucceeded):
        return words_of_output(outcome.output)
    return f"{outcome.kind}: {outcome.message!r}"


def _planned(plan: StepPlan | HookFailed) -> str:
    if isinstance(plan, HookFailed):
        return f"the hook failed, {plan.message!r}"
    return "as configured" if plan == StepPlan() else "otherwise than configured"


def _stops(answer: Stop | HookFailed | None) -> str:
    match answer:
        case None:
            return "go on"
        case Stop(name):
            return f"stop, {name}"
        case HookFailed():
            return f"the condition failed, {answer.message!r}"


def _cut(partial: ModelReply | None) -> str:
    return "" if partial is None else f", having heard {words_of_parts(partial.content)}"


def _named(call_id: str) -> str:
    return f" [{call_id}]" if call_id else ""


def _because(reason: str | None) -> str:
    return f", {reason!r}" if reason else ""
