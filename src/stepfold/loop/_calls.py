"""Client calls: from the model's text to an answer.

A slot goes `repairing → binding → deciding → asked → ready → running → done`, skipping what its
tool does not ask for. Two barriers make the history independent of the order of answers:
nothing runs, here or at a client, until every call of the step is resolved (`issue`), and nothing
is written until none runs (`stepfold.loop._close`).
"""

from collections.abc import Mapping, Sequence

from attrs import evolve

from stepfold.loop._budget import grants_of, settle_grant
from stepfold.loop._draft import Draft, Work
from stepfold.loop._granted import limits_of
from stepfold.loop._limits import NO_LIMITS
from stepfold.loop._program import Program, ToolSpec
from stepfold.loop._search import answer_search
from stepfold.loop._slots import Approval, Slot
from stepfold.loop._state import slot_key
from stepfold.loop.commands import BindCall, CallKey, RepairCall, ResolveApproval, RunTool
from stepfold.loop.events import ToolFailed, ToolOutcome, ToolSucceeded
from stepfold.loop.notes import (
    ApprovalRequested,
    CallOpened,
    CallRejected,
    CallRequested,
    ToolFinished,
)
from stepfold.schema import SchemaFault, nearest
from stepfold.values import (
    DeniedOutput,
    Failure,
    JsonText,
    OpenCall,
    TextOutput,
    ToolCall,
    ToolError,
    ToolErrorKind,
    ToolResult,
    parse_json,
)

# --- parsing ----------------------------------------------------------------------------------


def argument_text(call: ToolCall) -> str:
    """The model's text for the arguments; blank text stands for an empty object."""
    return "{}" if call.input.isspace() or not call.input else call.input


def fault_of(program: Program, visible: Mapping[str, ToolSpec], call: ToolCall) -> str | None:
    """Say what is wrong with a call, in words for the model; `None` if nothing is."""
    spec = visible.get(call.tool_name)
    if spec is None:
        hidden = program.tools.get(call.tool_name)
        if hidden is not None and hidden.defer_loading and program.search_tool in visible:
            return f"{call.tool_name} is not loaded: find it by {program.search_tool} first"
        near = nearest(call.tool_name, visible)
        meant = "" if near is None else f"did you mean {near!r}? "
        known = ", ".join(visible) or "none"
        return f"no tool is named {call.tool_name[:100]!r}; {meant}the tools are: {known}"
    parsed = parse_json(argument_text(call), program.bounds)
    if isinstance(parsed, Failure):
        fault = parsed.failure()
        where = "" if fault.position is None else f" (at character {fault.position})"
        return f"the arguments are not acceptable JSON: {fault.message}{where}"
    faults = spec.check(parsed.unwrap())
    if not faults:
        return None
    told = "; ".join(map(_fault_text, faults))
    return f"the arguments do not fit the schema of {call.tool_name}: {told}"


def _fault_text(fault: SchemaFault) -> str:
    return f"{fault.pointer or '(the whole input)'}: {fault.message}"


def error_part(
    call: ToolCall, kind: ToolErrorKind, message: str, value: JsonText | None = None
) -> ToolError:
    """A failed call, as it stands in the content of a step."""
    return ToolError(
        call.tool_call_id,
        call.tool_name,
        message,
        kind=kind,
        value=value,
        dynamic=call.dynamic,
        title=call.title,
        tool_metadata=call.tool_metadata,
        provider_options=call.provider_options,
    )


def outcome_part(call: ToolCall, outcome: ToolOutcome) -> ToolResult | ToolError:
    """What a tool gave, as it stands in the content of a step."""
    match outcome:
        case ToolSucceeded(output, value):
            return ToolResult(
                call.tool_call_id,
                call.tool_name,
                output,
                value=value,
                dynamic=call.dynamic,
                title=call.title,
                tool_metadata=call.tool_metadata,
                provider_options=call.provider_options,
            )
        case ToolFailed(message, kind, value):
            return error_part(call, kind, message, value)


def denied_part(call: ToolCall, reason: str | None) -> ToolResult:
    """A denied call, as it stands in the content of a step."""
    return ToolResult(
        call.tool_call_id,
        call.tool_name,
        DeniedOutput(reason),
        dynamic=call.dynamic,
        title=call.title,
        tool_metadata=call.tool_metadata,
        provider_options=call.provider_options,
    )


# --- before anything runs ---------------------------------------------------------------------


def admit(
    program: Program, visible: Mapping[str, ToolSpec], step: int, slot: Slot, out: Draft
) -> Slot:
    """Take a call in: reject it, send it to repair, or go on to binding and approval."""
    key = slot_key(step, slot)
    error = fault_of(program, visible, slot.call)
    if error is None:
        spec = visible[slot.call.tool_name]
        if spec.binds or spec.refines:
            out.commands.append(BindCall(key))
            return evolve(slot, status="binding")
        return approve(program, spec, key, slot, out)
    if program.repairs and not slot.repaired:
        out.commands.append(RepairCall(key))
        return evolve(slot, status="repairing")
    return reject(key, slot, error, out)


def refine(
    program: Program, spec: ToolSpec, key: CallKey, slot: Slot, text: str | None, out: Draft
) -> Slot:
    """Put refined arguments in the place of the model's, if there are any, and go on to approval.

    They have to be as good as the model's: what is approved, run and told of is theirs alone.
    """
    if text is not None:
        call = evolve(slot.call, input=text)
        error = fault_of(program, {spec.name: spec}, call)
        if error is not None:
            return reject(key, slot, f"as refined, {error}", out)
        slot = evolve(slot, call=call, repaired=True)
    return approve(program, spec, key, slot, out)


def reject(key: CallKey, slot: Slot, error: str, out: Draft) -> Slot:
    """Answer an unacceptable call with its error."""
    out.notes.append(CallRequested(key, slot.call))
    out.notes.append(CallRejected(key, slot.call, error))
    return finished(key, slot, error_part(slot.call, "invalid", error), out)


def finished(
    key: CallKey,
    slot: Slot,
    part: ToolResult | ToolError,
    out: Draft,
    elapsed: int | None = None,
) -> Slot:
    """Answer a call, and tell so."""
    out.notes.append(ToolFinished(key, part))
    if slot.grant is not None:  # nobody has told what it spent
        settle_grant(out, slot.grant, None)
    return slot.done(part, elapsed)


def approve(program: Program, spec: ToolSpec, key: CallKey, slot: Slot, out: Draft) -> Slot:
    """Tell of an acceptable call, and ask whoever must agree to it."""
    out.notes.append(CallRequested(key, slot.call))
    match spec.approval:
        case "never":
            return permit(slot)
        case "always":
            return ask(key, slot, approval_of(program, out.run, key, slot), out)
        case "policy":
            out.commands.append(ResolveApproval(key))
            return evolve(slot, status="deciding")


def ask(key: CallKey, slot: Slot, approval: Approval, out: Draft) -> Slot:
    """Ask a person, for exactly these arguments."""
    out.notes.append(ApprovalRequested(key, approval.open_for(slot.call)))
    return evolve(slot, status="asked", approval=approval)


def approval_of(program: Program, run: str, key: CallKey, slot: Slot) -> Approval:
    """The approval that a call needs, not yet decided; signed, if the program has a secret."""
    call, text = slot.call, argument_text(slot.call)
    approval_id = f"{run}/{key.step}/{key.index}"
    secret = program.tool_approval_secret
    signature = None
    if secret is not None:
        signature = secret.signature_of(approval_id, call.tool_call_id, call.tool_name, text)
    return Approval(approval_id, JsonText(text).digest(), signature=signature)


def permit(slot: Slot) -> Slot:
    """Let a call run, here or at a client, once every call of the step is resolved."""
    return slot if slot.status == "ready" else evolve(slot, status="ready")


# --- answers from outside ---------------------------------------------------------------------


def answered(program: Program, key: CallKey, slot: Slot, approval: Approval, out: Draft) -> Slot:
    """Note a person's answer; it takes effect when the step is at rest.

    A client's call that was approved is opened to the client at once, unless a limit might refuse
    it: which call gets the last of a budget is not for the quicker person to decide.
    """
    agreed = evolve(slot, approval=approval)
    if slot.call.provider_executed:
        return agreed
    spec = program.tools.get(slot.call.tool_name)
    if not approval.approved or spec is None or spec.executes or _is_limited(program, out, spec):
        return agreed
    out.total_issued += 1
    return _opened(key, agreed, out)


def _is_limited(program: Program, out: Draft, spec: ToolSpec) -> bool:
    limits = limits_of(program, out.identity.granted)
    return limits.tool_calls is not None or any(name == spec.name for name, _ in limits.calls_of)


def _opened(key: CallKey, slot: Slot, out: Draft) -> Slot:
    out.notes.append(CallOpened(key, OpenCall(key.step, key.index, key.attempt, slot.call)))
    return evolve(slot, status="awaited")


def taken_up(step: int, slot: Slot, out: Draft) -> Slot:
    """Let a held answer take effect: the call is ready to run, denied, or answered.

    One that the provider executes is done with: what is left is to tell the answer.
    """
    approval = slot.approval
    if slot.call.provider_executed:
        return evolve(slot, status="done")
    if slot.held is not None:
        return finished(slot_key(step, slot), slot, outcome_part(slot.call, slot.held), out)
    if approval is not None and approval.approved is False:
        part = denied_part(slot.call, approval.reason)
        return finished(slot_key(step, slot), slot, part, out)
    return evolve(slot, status="ready")


def given_up(step: int, slot: Slot, kind: ToolErrorKind, message: str, out: Draft) -> Slot:
    """Close a call that will not be run to its end; answers that are already here are kept.

    What became of a call of the provider is not for us to say.
    """
    if slot.status == "done":
        return slot
    if slot.is_held or slot.call.provider_executed:
        slot = taken_up(step, slot, out)
        if slot.status == "done":
            return slot
    return closed(step, slot, kind, message, out)


def closed(step: int, slot: Slot, kind: ToolErrorKind, message: str, out: Draft) -> Slot:
    """Answer a call by an error, without running it."""
    return finished(slot_key(step, slot), slot, error_part(slot.call, kind, message), out)


# --- barrier 1 --------------------------------------------------------------------------------


def issue(program: Program, out: Draft, work: Work) -> None:
    """Reserve budgets and issue calls, in call order, once every call is resolved.

    A tool that is run here is started, a client's is opened to the client.
    """
    limits = limits_of(program, out.identity.granted)
    limit_of = dict(limits.calls_of)
    issued = dict(out.issued)
    step, slots = work.step, work.slots
    granted: list[tuple[int, int]] = []
    for place, slot in enumerate(slots):
        if slot.status != "ready":
            continue
        name = slot.call.tool_name
        spec = program.tools.get(name)
        limit = limit_of.get(name)
        if spec is None:  # the program has lost a tool since the call was accepted
            message = f"not run: no tool is named {name!r} any more"
            slots[place] = closed(step, slot, "invalid", message, out)
        elif spec.is_output:
            slots[place] = _taken_as_output(step, slot, slots, out)
        elif limits.tool_calls is not None and out.total_issued >= limits.tool_calls:
            work.refused = True
            message = f"not run: the run's limit of {limits.tool_calls} tool calls is used up"
            slots[place] = closed(step, slot, "limit", message, out)
        elif limit is not None and issued.get(name, 0) >= limit:
            message = f"not run: the limit of {limit} calls of {name} is used up; go on without it"
            slots[place] = closed(step, slot, "limit", message, out)
        else:
            out.total_issued += 1
            if limit is not None:
                issued[name] = issued.get(name, 0) + 1
            slots[place] = _issued(program, spec, step, slot, out, work)
            if spec.grant is not None and slots[place].status == "running":
                granted.append((place, len(out.commands) - 1))
    if issued:
        out.issued = tuple(sorted(issued.items()))
    if granted:
        _grant(program, out, work, granted)


def _grant(program: Program, out: Draft, work: Work, granted: list[tuple[int, int]]) -> None:
    """Reserve what the issued tools may spend by runs of their own, in call order.

    Takes the place of each slot, and that of its command.
    """
    declared = [program.tools[work.slots[place].call.tool_name].grant for place, _ in granted]
    grants = grants_of(program, out, [limits or NO_LIMITS for limits in declared])
    for (place, position), grant in zip(granted, grants, strict=True):
        slot = work.slots[place] = evolve(work.slots[place], grant=grant)
        key, name = slot_key(work.step, slot), slot.call.tool_name
        out.commands[position] = RunTool(key, name, slot.deadline, grant)


def _taken_as_output(step: int, slot: Slot, slots: Sequence[Slot], out: Draft) -> Slot:
    """Answer a call that gives the output; the first acceptable one of a step counts."""
    call = slot.call
    if any(one.call.tool_name == call.tool_name and _is_result(one.part) for one in slots):
        message = "not taken: the output was given by the call before this one"
        return closed(step, slot, "not-run", message, out)
    result = ToolResult(call.tool_call_id, call.tool_name, TextOutput(_ACCEPTED))
    return finished(slot_key(step, slot), slot, result, out)


_ACCEPTED = "accepted"


def _is_result(part: ToolResult | ToolError | None) -> bool:
    return isinstance(part, ToolResult)


def _issued(
    program: Program, spec: ToolSpec, step: int, slot: Slot, out: Draft, work: Work
) -> Slot:
    key = slot_key(step, slot)
    if spec.searches is not None:
        part = answer_search(program, slot.call, spec.searches, out)
        return finished(key, slot, part, out)
    if not spec.executes:
        return _opened(key, slot, out)
    work.running += 1
    timeout = program.timeout_of(spec)
    deadline = None if timeout is None else out.now + timeout
    out.commands.append(RunTool(key, spec.name, deadline))
    return slot.running(deadline)


def position_of(slots: Sequence[Slot], index: int) -> int | None:
    """Where the slot of this index stands; slots keep their index after others were written."""
    if 0 <= index < len(slots) and slots[index].index == index:
        return index
    return next((place for place, slot in enumerate(slots) if slot.index == index), None)
