"""What a step leaves in the history: its messages and its `StepResult`."""

from collections.abc import Sequence

from stepfold.loop._draft import Draft, Work
from stepfold.loop._slots import Approval, Slot
from stepfold.loop._state import Replied
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


def write(out: Draft, work: Work) -> None:
    """Append one assistant message (of a fresh reply) and one tool message, in call order."""
    old, slots, replied = out.transcript, work.slots, work.replied
    answers = tool_message(slots)
    if replied is None:
        if answers is not None:
            out.transcript = old.with_late((answers,))
        return
    said = assistant_message(replied, slots)
    added: tuple[Message, ...] = () if said is None else (said,)
    if answers is not None:
        added = added + (answers,)
    result = step_result(work.step, replied, slots, old.late, out.now)
    out.notes.append(StepFinished(result))
    out.transcript = old.with_step(added, result)


def assistant_message(replied: Replied, slots: Sequence[Slot]) -> AssistantMessage | None:
    """What the model said, with the requests for approval right after their calls."""
    of_call = {slot.call.tool_call_id: slot for slot in slots}
    parts: list[AssistantPart] = []
    for part in replied.reply.content:
        match part:
            case ToolCall(call_id):
                slot = of_call.get(call_id)
                parts.append(part if slot is None else slot.call)
                if slot is not None and slot.approval is not None and not part.provider_executed:
                    parts.append(_request(slot.call, slot.approval))
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


def tool_message(slots: Sequence[Slot]) -> ToolMessage | None:
    """The answers of the settled calls, each after the decision that it rests on."""
    parts: list[ToolPart] = []
    for slot in slots:
        if slot.status != "done":
            continue
        response = _response(slot)
        if response is not None:
            parts.append(response)
        part = slot.part
        if part is not None:  # the provider gives the results of its own calls
            parts.append(part if isinstance(part, ToolResult) else _told(part))
    return ToolMessage(tuple(parts)) if parts else None


def _request(call: ToolCall, approval: Approval) -> ApprovalRequest:
    return ApprovalRequest(
        approval.id,
        call.tool_call_id,
        digest=approval.digest,
        reason=approval.asked_because,
        is_automatic=approval.automatic,
        signature=approval.signature,
    )


def _response(slot: Slot) -> ApprovalResponse | None:
    approval = slot.approval
    if approval is None or approval.approved is None or approval.recorded:
        return None
    return ApprovalResponse(
        approval.id,
        approval.approved,
        reason=approval.reason,
        provider_executed=slot.call.provider_executed,
    )


def _told(error: ToolError) -> ToolResult:
    return ToolResult(
        error.tool_call_id,
        error.tool_name,
        ErrorTextOutput(error.error),
        value=error.value,
        dynamic=error.dynamic,
        title=error.title,
        tool_metadata=error.tool_metadata,
        provider_options=error.provider_options,
    )


def step_result(
    step: int,
    replied: Replied,
    slots: Sequence[Slot],
    late: tuple[Message, ...],
    now: Instant,
) -> StepResult:
    """The record of a step, written once."""
    reply = replied.reply
    content: tuple[ContentPart, ...] = reply.content
    if slots:
        parts: list[ContentPart] = list(content)
        if any(slot.repaired for slot in slots):
            calls = {slot.call.tool_call_id: slot.call for slot in slots}
            parts = [
                calls.get(part.tool_call_id, part) if isinstance(part, ToolCall) else part
                for part in content
            ]
        for slot in slots:
            if slot.approval is not None:
                if not slot.call.provider_executed:
                    parts.append(_request(slot.call, slot.approval))
                response = _response(slot)
                if response is not None and (slot.status == "done" or slot.approval.automatic):
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
        cost=replied.cost,
    )
