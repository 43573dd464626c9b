"""Approvals that a provider asks for, of calls that it executes itself.

The request stands in the reply. A person is asked as for a call that runs here, but the answer is
for the provider: it is written into the history, nothing runs, and the next model call tells it.
Without an answer there is nothing to write, since the result of such a call is not ours to give.
"""

from collections.abc import Sequence

from stepfold.loop._calls import argument_text, ask
from stepfold.loop._draft import Draft
from stepfold.loop._slots import Approval, Slot
from stepfold.loop._state import slot_key
from stepfold.values import (
    ApprovalRequest,
    Failure,
    JsonText,
    ToolCall,
    ToolError,
    ToolResult,
    parse_json,
    without_lone_surrogates,
)


def asked_in(content: Sequence[object]) -> dict[str, ApprovalRequest]:
    """The requests for calls that the provider has not answered, by the ids of these calls.

    Of several for one call, or under one id, the first counts; what a rule has decided is no
    question.
    """
    requests = [part for part in content if isinstance(part, ApprovalRequest)]
    if not requests:
        return {}
    answered = {
        part.tool_call_id
        for part in content
        if isinstance(part, ToolError) or (isinstance(part, ToolResult) and not part.preliminary)
    }
    waiting = {
        part.tool_call_id
        for part in content
        if isinstance(part, ToolCall) and part.provider_executed
    } - answered
    asked: dict[str, ApprovalRequest] = {}
    ids: set[str] = set()
    for request in requests:
        call_id = request.tool_call_id
        is_new = call_id not in asked and request.approval_id not in ids
        if is_new and call_id in waiting and not request.is_automatic:
            asked[call_id] = request
            ids.add(request.approval_id)
    return asked


def ask_for_provider(step: int, slot: Slot, request: ApprovalRequest, out: Draft) -> Slot:
    """Ask a person whether the provider may execute a call."""
    approval = Approval(
        request.approval_id,
        _digest(slot.call),
        asked_because=request.reason,
        signature=request.signature,
    )
    return ask(slot_key(step, slot), slot, approval, out)


def _digest(call: ToolCall) -> str:
    """That of the arguments; of the text where it is no JSON, which is not for us to refuse."""
    text = argument_text(call)
    if isinstance(parse_json(text), Failure):
        return JsonText.of(without_lone_surrogates(text)).digest()
    return JsonText(text).digest()
