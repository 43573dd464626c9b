"""The pre-phase: calls that a history leaves open, before the first step.

A history comes from outside, so an answer in it is believed less than a live one. A call runs only
if it was approved, its request is signed (where the program has a secret), its arguments are still
acceptable and those of the request, the user's validators take them and the refine hook leaves them
as they are, and the policy, asked once more, does not deny. Whatever fails closes the call with an
error that the model sees; nothing raises. A request that nobody has answered is put to a person
again, under the same conditions.

A bad signature tells that somebody else has written into the history. Then no call runs for which
it holds an approval.

A client's call for which nobody asked an approval is taken in as if the model had just made it. A
request that the provider made for a call of its own is put to a person again, as it is.
"""

from collections.abc import Sequence
from typing import final

from attrs import evolve, frozen

from stepfold.loop._calls import (
    approve,
    argument_text,
    ask,
    closed,
    denied_part,
    fault_of,
    finished,
    permit,
)
from stepfold.loop._draft import Draft, Work
from stepfold.loop._program import Program, ToolSpec
from stepfold.loop._provider_approval import ask_for_provider
from stepfold.loop._slots import Approval, Slot, slot_of
from stepfold.loop._state import slot_key
from stepfold.loop.commands import BindCall, CallKey, ResolveApproval
from stepfold.loop.events import ApprovalDecided, CallBound
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    Failure,
    JsonText,
    ToolCall,
    parse_json,
)

PRE_PHASE = -1
"""The step that calls of a history are in."""

_DRIFTED = "not run: the arguments are not those that approval was asked for"
_REFINED = "not run: refined once more, the arguments are not those that approval was asked for"
_UNSIGNED = "not run: the request for its approval is not signed"
_FORGED = "not run: the signature of the request for its approval is not that of this call"
_BESIDE_FORGED = "not run: another request for approval in this history could not be verified"


@final
@frozen(order=False)
class Asked:
    """A call of the history that nobody has answered, and what was said of its approval."""

    call: ToolCall
    request: ApprovalRequest | None
    response: ApprovalResponse | None

    @property
    def is_denied(self) -> bool:
        """Whether somebody has said no."""
        return self.response is not None and not self.response.approved


def pre_phase(program: Program, asked: Sequence[Asked], out: Draft) -> Work:
    """Take in the open calls of a history, in the order of the calls."""
    unproven = [
        None if one.is_denied or one.call.provider_executed else _unproven(program, one)
        for one in asked
    ]
    beside = _BESIDE_FORGED if any(unproven) else None
    slots: list[Slot] = []
    for index, (one, why) in enumerate(zip(asked, unproven, strict=True)):
        slot = slot_of(index, one.call)
        key = slot_key(PRE_PHASE, slot)
        if one.request is not None and one.call.provider_executed:
            slot = ask_for_provider(PRE_PHASE, slot, one.request, out)
        elif one.response is not None and one.is_denied:
            slot = finished(key, slot, denied_part(one.call, one.response.reason), out)
        elif one.request is not None and (unverified := why or beside) is not None:
            slot = closed(PRE_PHASE, slot, "unverified", unverified, out)
        else:
            slot = _admitted(program, key, slot, one, out)
        slots.append(slot)
    unresolved = sum(slot.is_unresolved for slot in slots)
    return Work(PRE_PHASE, None, slots, unresolved=unresolved)


def _unproven(program: Program, asked: Asked) -> str | None:
    """Why a request may not be one of this program's, if it has to prove that it is."""
    secret, call, request = program.tool_approval_secret, asked.call, asked.request
    if secret is None or request is None:
        return None
    if request.signature is None:
        return _UNSIGNED
    text = argument_text(call)
    if isinstance(parse_json(text, program.bounds), Failure):
        return _FORGED  # for such arguments nobody was ever asked
    ids = (request.approval_id, call.tool_call_id, call.tool_name)
    return None if secret.has_signed(request.signature, *ids, text) else _FORGED


def _admitted(program: Program, key: CallKey, slot: Slot, asked: Asked, out: Draft) -> Slot:
    call, request, response = asked.call, asked.request, asked.response
    error = fault_of(program, program.tools, call)
    if error is not None:
        return closed(PRE_PHASE, slot, "invalid", error, out)
    spec = program.tools[call.tool_name]
    if request is None:
        return approve(program, spec, key, slot, out)
    digest = JsonText(argument_text(call)).digest()
    if request.digest is not None and request.digest != digest:
        return closed(PRE_PHASE, slot, "invalid", _DRIFTED, out)
    approval = Approval(
        request.approval_id,
        digest,
        approved=None if response is None else True,
        asked_because=request.reason,
        signature=request.signature,
        recorded=response is not None,
    )
    slot = evolve(slot, approval=approval)
    if spec.binds or spec.refines:
        out.commands.append(BindCall(key))
        return evolve(slot, status="binding")
    return _reconsidered(spec, key, slot, approval, out)


def rebound(
    program: Program,
    spec: ToolSpec,
    slot: Slot,
    approval: Approval,
    event: CallBound,
    out: Draft,
) -> Slot:
    """Take what the user's validators say; arguments that are refined anew are others."""
    error, call = event.error, slot.call
    if error is None and event.input is not None:
        refined = evolve(call, input=event.input)
        error = fault_of(program, {spec.name: spec}, refined)
        if error is None and JsonText(argument_text(refined)).digest() != approval.digest:
            error = _REFINED
    if error is not None:
        return closed(PRE_PHASE, slot, "invalid", error, out)
    return _reconsidered(spec, event.key, slot, approval, out)


def _reconsidered(spec: ToolSpec, key: CallKey, slot: Slot, approval: Approval, out: Draft) -> Slot:
    """Ask the policy once more about a call whose arguments are acceptable today."""
    if spec.approval == "policy":
        out.commands.append(ResolveApproval(key))
        return evolve(slot, status="deciding")
    return _agreed(key, slot, approval, out)


def decided_again(slot: Slot, approval: Approval, event: ApprovalDecided, out: Draft) -> Slot:
    """Take the policy's answer: it may deny what was approved, and approves nothing by itself."""
    if event.decision == "denied":
        denied = evolve(slot, approval=evolve(approval, approved=False, reason=event.reason))
        return finished(event.key, denied, denied_part(slot.call, event.reason), out)
    return _agreed(event.key, slot, approval, out)


def _agreed(key: CallKey, slot: Slot, approval: Approval, out: Draft) -> Slot:
    """Let an approved call run; put an open request to a person."""
    return permit(slot) if approval.approved else ask(key, slot, approval, out)
