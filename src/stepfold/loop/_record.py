"""What a step leaves in the history: its messages and its `StepResult`."""

from stepfold.loop._calls import Emitted
from stepfold.loop._state import Approval, LoopState, Replied, Slot, Working
from stepfold.loop.notes import StepFinished
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    ContentPart,
    DocumentSource,
    ErrorJsonOutput,
    ErrorTextOutput,
    Instant,
    JsonText,
    Message,
    Performance,
    StepResult,
    ToolCall,
    ToolError,
    ToolMessage,
    ToolPart,
    ToolResult,
    UrlSource,
    without_lone_surrogates,
)


def write(state: LoopState, working: Working, slots: tuple[Slot, ...], out: Emitted) -> LoopState:
    """Append one assistant message (of a fresh reply) and one tool message, in call order."""
    old = state.transcript
    replied = working.replied
    answers = tool_message(slots)
    if replied is None:
        if answers is None:
            return state
        transcript = old.with_late((answers,))
        return state.with_transcript(transcript, state.phase)
    said = assistant_message(replied, slots)
    added = tuple(message for message in (said, answers) if message is not None)
    result = step_result(working.step, replied, slots, old.late, state.now)
    out.notes.append(StepFinished(result))
    transcript = old.with_step(added, result)
    return state.with_transcript(transcript, state.phase)


def assistant_message(replied: Replied, slots: tuple[Slot, ...]) -> AssistantMessage | None:
    """What the model said, with the requests for approval right after their calls."""
    requests = {
        slot.call.tool_call_id: _request(slot.call, slot.approval)
        for slot in slots
        if slot.approval is not None
    }
    calls = {slot.call.tool_call_id: slot.call for slot in slots}
    parts: list[AssistantPart] = []
    for part in replied.reply.content:
        match part:
            case ToolCall(call_id):
                parts.append(calls.get(call_id, part))
                if call_id in requests:
                    parts.append(requests[call_id])
            case ToolError():
                parts.append(_provider_error(part))
            case UrlSource() | DocumentSource():
                pass
            case _:
                parts.append(part)
    return AssistantMessage(tuple(parts)) if parts else None


def _provider_error(part: ToolError) -> ToolResult:
    value = part.value
    if value is None:
        value = JsonText.of(without_lone_surrogates(part.error))
    return ToolResult(
        part.tool_call_id,
        part.tool_name,
        ErrorJsonOutput(value),
        provider_executed=part.provider_executed,
        dynamic=part.dynamic,
        provider_options=part.provider_options,
    )


def tool_message(slots: tuple[Slot, ...]) -> ToolMessage | None:
    """The answers of the settled calls, each after the decision that it rests on."""
    parts: list[ToolPart] = []
    for slot in slots:
        part = slot.part
        if part is None:
            continue
        response = _response(slot)
        if response is not None:
            parts.append(response)
        parts.append(part if isinstance(part, ToolResult) else _told(part))
    return ToolMessage(tuple(parts)) if parts else None


def _request(call: ToolCall, approval: Approval) -> ApprovalRequest:
    return ApprovalRequest(
        approval.id,
        call.tool_call_id,
        digest=approval.digest,
        reason=approval.asked_because,
        is_automatic=approval.automatic,
    )


def _response(slot: Slot) -> ApprovalResponse | None:
    approval = slot.approval
    if approval is None or approval.approved is None:
        return None
    return ApprovalResponse(approval.id, approval.approved, reason=approval.reason)


def _told(error: ToolError) -> ToolResult:
    return ToolResult(
        error.tool_call_id,
        error.tool_name,
        ErrorTextOutput(error.error),
        value=error.value,
        dynamic=error.dynamic,
        provider_options=error.provider_options,
    )


def step_result(
    step: int,
    replied: Replied,
    slots: tuple[Slot, ...],
    late: tuple[Message, ...],
    now: Instant,
) -> StepResult:
    """The record of a step, written once."""
    reply = replied.reply
    content: tuple[ContentPart, ...] = reply.content
    if slots:
        calls = {slot.call.tool_call_id: slot.call for slot in slots}
        parts: list[ContentPart] = [
            calls.get(part.tool_call_id, part) if isinstance(part, ToolCall) else part
            for part in reply.content
        ]
        for slot in slots:
            if slot.approval is not None:
                parts.append(_request(slot.call, slot.approval))
                response = _response(slot)
                if response is not None and (slot.part is not None or slot.approval.automatic):
                    parts.append(response)  # a held answer takes effect after this step
            if slot.part is not None:
                parts.append(slot.part)
        content = tuple(parts)
    first = replied.first_output
    usage = reply.usage
    return StepResult(
        step,
        replied.model,
        content,
        reply.finish_reason,
        usage,
        Performance(
            response_time=replied.at - replied.since,
            step_time=now - replied.since,
            tool_time=tuple(
                (slot.call.tool_call_id, slot.elapsed) for slot in slots if slot.elapsed is not None
            ),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            time_to_first_output=None if first is None else max(0, first - replied.started),
            streaming_time=None if first is None else max(0, replied.at - first),
            chunk_gaps=replied.gaps,
        ),
        warnings=reply.warnings,
        response=reply.response,
        provider_metadata=reply.provider_metadata,
        late=late,
    )
