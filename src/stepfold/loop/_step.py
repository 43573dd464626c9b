"""`step`: the whole loop, one event at a time.

Two rules. Everything that changes the state of a run is decided here and in the modules beside
this one; and nothing here knows what a model, a tool, a clock or a thread is.

A run is always in one phase. A phase *owes* commands (what is in flight: `pending`), and events
move it on:

    phase       owes                                 event             leads to
    ----------  -----------------------------------  ----------------  -------------------------
    Preparing   PrepareStep                          StepPrepared      Calling Done
    Calling     CallModel                            ModelReplied      Working Resting Preparing
                                                                       Checking Concluding
                                                                       Calling Done
    Calling     CallModel                            ModelFailed       Waiting Calling Done
    Waiting     Wait                                 Waited            Calling Done
    Working     RepairCall BindCall ResolveApproval  CallRepaired      Working Resting Preparing
                                                                       Checking Calling Done
    Working     RepairCall BindCall ResolveApproval  CallBound         Working Resting Preparing
                                                                       Checking Calling Done
    Working     RepairCall BindCall ResolveApproval  ApprovalDecided   Working Resting Preparing
                                                                       Checking Calling Done
    Working     RunTool                              ToolStarted       Working
    Working     RunTool                              ToolReturned      Working Resting Preparing
                                                                       Checking Calling Done
    Working     RepairCall BindCall RunTool          ApprovalAnswered  Working
    Working     RunTool                              Resumed           Working Resting Preparing
                                                                       Checking Calling Done
    Checking    CheckStop                            StopChecked       Preparing Concluding
                                                                       Calling Done
    Concluding  BindOutput                           OutputBound       Preparing Checking Calling
                                                                       Done
    Resting     (people and clients)                 ApprovalAnswered  Resting Working Preparing
                                                                       Checking Calling Done
    Resting     (people and clients)                 ToolReturned      Resting Working Preparing
                                                                       Checking Calling Done
    Resting     (people and clients)                 MessageSteered    Resting Preparing Checking
                                                                       Calling Done

In every phase but Done, `MessageSteered` goes into the inbox, `TimedOut` and `Cancelled` lead to
Done, and `Resumed` issues again what is owed. `CancelRequested` is kept while a step is in flight,
and leads to Done once that is over: no model is called after it. Done absorbs everything. The time
limit of a single step holds while that step is at work: in Resting it is stale, since a person may
take a month.

`step` is total: whatever a model, a tool, a policy or a hook answers, it raises nothing. An
answer that is no longer open is stale and gives the same state object; an answer to something
never issued is a mistake of the host's and raises `IllegalEvent`.
"""

from attrs import evolve

from stepfold.loop._budget import settle_grant
from stepfold.loop._calls import (
    admit,
    answered,
    approval_of,
    ask,
    denied_part,
    finished,
    outcome_part,
    permit,
    position_of,
    refine,
    reject,
)
from stepfold.loop._close import (
    advance,
    after_final_answer,
    finish,
    leave,
    next_step,
    not_fit,
    rest,
    stopped,
)
from stepfold.loop._draft import Draft, Work
from stepfold.loop._interrupt import cancel_after_step, interrupt, resume, steer, timed_out
from stepfold.loop._model_call import on_failure, on_reply, recall
from stepfold.loop._offer import visible_tools
from stepfold.loop._pre_phase import decided_again, rebound
from stepfold.loop._prepared import on_prepared
from stepfold.loop._program import Program
from stepfold.loop._slots import Slot
from stepfold.loop._stale import (
    is_at_work,
    refuse_unissued_call,
    refuse_unissued_model_call,
    refuse_unissued_step,
)
from stepfold.loop._state import (
    Calling,
    Checking,
    Concluding,
    Done,
    LoopState,
    Phase,
    Resting,
    Transition,
    Waiting,
    Working,
    slot_key,
)
from stepfold.loop.commands import CallKey
from stepfold.loop.events import (
    ApprovalAnswered,
    ApprovalDecided,
    ApprovalDecision,
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
    StepPrepared,
    StopChecked,
    TimedOut,
    ToolReturned,
    ToolStarted,
    Waited,
)
from stepfold.values import Cancelled as CancelledEnd
from stepfold.values import Failed, HookFailed, NoOutput, Stop, Stopped


def step(program: Program, state: LoopState, event: Event) -> Transition:
    """Decide what one event means: the next state, what to carry out, and what to tell.

    Pure: equal arguments give equal results. The commands may be carried out concurrently. An
    event that changes nothing gives the same state object, and no commands.

    Raises:
        IllegalEvent: the event answers something that was never issued; `state` stays usable.
    """
    if isinstance(state.phase, Done):
        return Transition(state)
    out = Draft(state)
    _dispatch(program, out, event)
    return Transition(out.state(), tuple(out.commands), tuple(out.notes))


def _dispatch(program: Program, out: Draft, event: Event) -> None:
    match event:
        case ModelReplied() | ModelFailed() | Waited():
            _on_model(program, out, event)
        case ToolReturned() | ToolStarted():
            _on_tool(program, out, event)
        case CallRepaired() | CallBound() | ApprovalDecided():
            _on_resolution(program, out, event)
        case ApprovalAnswered():
            _on_answer(program, out, event)
        case StepPrepared():
            on_prepared(program, out, event)
        case StopChecked():
            _on_stop_checked(program, out, event)
        case OutputBound():
            _on_output_bound(program, out, event)
        case MessageSteered():
            steer(program, out, event)
        case TimedOut(limit, at_step):
            if limit == "step" and not is_at_work(out, at_step):
                refuse_unissued_step(out, at_step, first=-1)
                return
            out.at(event.at)
            interrupt(program, out, timed_out(program, limit), event.partial)
        case Cancelled(reason):
            out.at(event.at)
            interrupt(program, out, CancelledEnd(reason), event.partial)
        case CancelRequested():
            cancel_after_step(program, out, event)
        case Resumed():
            resume(program, out, event)


# --- the model --------------------------------------------------------------------------------


def _on_model(program: Program, out: Draft, event: ModelReplied | ModelFailed | Waited) -> None:
    phase, key = out.phase, event.key
    calling = phase.calling if isinstance(phase, Waiting) else phase
    if (
        not isinstance(calling, Calling)
        or (calling.total, calling.step) != (key.total, key.step)
        or isinstance(phase, Waiting) != isinstance(event, Waited)
    ):
        refuse_unissued_model_call(out, key, is_pause=isinstance(event, Waited))
        return
    out.at(event.at)
    match event:
        case ModelReplied():
            on_reply(program, out, calling, event)
        case ModelFailed():
            on_failure(program, out, calling, event)
        case Waited():
            recall(program, out, calling)


def _on_stop_checked(program: Program, out: Draft, event: StopChecked) -> None:
    phase = out.phase
    if not isinstance(phase, Checking) or phase.step != event.step:
        refuse_unissued_step(out, event.step)
        return
    out.at(event.at)
    match event.stop:
        case HookFailed() as failed:
            finish(out, Failed(failed))
        case _ if out.cancel_requested is not None:
            leave(program, out, phase.step, phase.answer)
        case Stop() as stop:
            stopped(program, out, phase.step, stop, phase.answer)
        case None:
            next_step(program, out, phase.step + 1, phase.answer)


def _on_output_bound(program: Program, out: Draft, event: OutputBound) -> None:
    phase = out.phase
    if not isinstance(phase, Concluding) or phase.step != event.step:
        refuse_unissued_step(out, event.step)
        return
    out.at(event.at)
    if phase.wrap is not None:
        finish(out, Stopped(phase.wrap), phase.output if event.error is None else None)
    elif event.error is None:
        after_final_answer(program, out, phase.step, phase.output)
    else:
        last = out.transcript.steps[-1]
        finish_reason = last.finish_reason.unified
        error = NoOutput(event.error, last.text, cause="refused", finish_reason=finish_reason)
        not_fit(program, out, phase.step, error, is_last=phase.is_last)


# --- calls ------------------------------------------------------------------------------------


def _slot_of(phase: Phase, key: CallKey) -> tuple[Working | Resting, int, Slot] | None:
    """The slot that a key names now, and where it is; `None` if the key is not of this attempt."""
    if not isinstance(phase, Working | Resting) or phase.step != key.step:
        return None
    place = position_of(phase.slots, key.index)
    if place is None or phase.slots[place].attempt != key.attempt:
        return None
    return phase, place, phase.slots[place]


def _on_tool(program: Program, out: Draft, event: ToolReturned | ToolStarted) -> None:
    key = event.key
    found = _slot_of(out.phase, key)
    if found is None:
        refuse_unissued_call(out, key)
        return
    phase, place, slot = found
    match event:
        case ToolStarted():
            if isinstance(phase, Working) and slot.status == "running" and not slot.started:
                out.at(event.at)
                work = Work.of(phase)
                work.slots[place] = evolve(slot, started=True)
                out.phase = work.phase()
        case ToolReturned(_, outcome):
            if isinstance(phase, Working) and slot.status == "running":
                out.at(event.at)
                work = Work.of(phase)
                if slot.grant is not None or event.spending is not None:
                    settle_grant(out, slot.grant, event.spending)
                    slot = evolve(slot, grant=None)
                part = outcome_part(slot.call, outcome)
                elapsed = max(0, event.at - event.started)
                work.slots[place] = finished(key, slot, part, out, elapsed)
                work.running -= 1
                advance(program, out, work)
            elif slot.status == "awaited" and slot.held is None:
                out.at(event.at)
                _hold(program, out, phase, place, evolve(slot, held=outcome))


def _hold(program: Program, out: Draft, phase: Working | Resting, place: int, slot: Slot) -> None:
    """Keep an answer from outside until the step is at rest and all of them are here."""
    slots = (*phase.slots[:place], slot, *phase.slots[place + 1 :])
    if isinstance(phase, Working):
        out.phase = evolve(phase, slots=slots)
    else:
        rest(program, out, Resting(phase.step, slots, phase.refused))


def _on_answer(program: Program, out: Draft, event: ApprovalAnswered) -> None:
    phase = out.phase
    if not isinstance(phase, Working | Resting):
        return
    for place, slot in enumerate(phase.slots):
        approval = slot.approval
        if slot.status != "asked" or approval is None or approval.approved is not None:
            continue
        if (approval.id, approval.digest) == (event.approval_id, event.digest):
            out.at(event.at)
            decided = evolve(approval, approved=event.approved, reason=event.reason)
            taken = answered(program, slot_key(phase.step, slot), slot, decided, out)
            _hold(program, out, phase, place, taken)
            return


def _on_resolution(
    program: Program, out: Draft, event: CallRepaired | CallBound | ApprovalDecided
) -> None:
    found = _slot_of(out.phase, event.key)
    if found is None:
        refuse_unissued_call(out, event.key)
        return
    phase, place, slot = found
    if not isinstance(phase, Working) or slot.status != _AWAITS[type(event)]:
        return
    out.at(event.at)
    work = Work.of(phase)
    work.slots[place] = resolved = _resolved(program, out, work, slot, event)
    work.unresolved -= not resolved.is_unresolved
    advance(program, out, work)


_AWAITS = {CallRepaired: "repairing", CallBound: "binding", ApprovalDecided: "deciding"}


def _resolved(
    program: Program,
    out: Draft,
    work: Work,
    slot: Slot,
    event: CallRepaired | CallBound | ApprovalDecided,
) -> Slot:
    key = event.key
    spec = program.tools.get(slot.call.tool_name)
    approval = slot.approval  # before it runs, only a call of the history has one
    match event:
        case CallRepaired(_, text):
            repaired = evolve(
                slot,
                call=slot.call if text is None else evolve(slot.call, input=text),
                attempt=slot.attempt + 1,
                repaired=True,
            )
            plan = None if work.replied is None else work.replied.plan
            visible = visible_tools(program, out.toolbox, plan)
            return admit(program, visible, work.step, repaired, out)
        case _ if spec is None:  # the program has lost a tool since the call was issued
            return reject(key, slot, f"no tool is named {slot.call.tool_name!r}", out)
        case CallBound() if approval is not None:
            return rebound(program, spec, slot, approval, event, out)
        case CallBound(_, error) if error is not None:
            return reject(key, slot, error, out)
        case CallBound():
            return refine(program, spec, key, slot, event.input, out)
        case ApprovalDecided() if approval is not None:
            return decided_again(slot, approval, event, out)
        case ApprovalDecided(_, decision):
            return _decided(program, slot, event, decision, out)


def _decided(
    program: Program,
    slot: Slot,
    event: ApprovalDecided,
    decision: ApprovalDecision,
    out: Draft,
) -> Slot:
    key = event.key
    if decision == "not-applicable":
        return permit(slot)
    approval = approval_of(program, out.run, key, slot)
    match decision:
        case "approved":
            agreed = evolve(approval, approved=True, automatic=True, reason=event.reason)
            return permit(evolve(slot, approval=agreed))
        case "denied":
            refused = evolve(approval, approved=False, automatic=True, reason=event.reason)
            part = denied_part(slot.call, event.reason)
            return finished(key, evolve(slot, approval=refused), part, out)
        case "user-approval":
            return ask(key, slot, evolve(approval, asked_because=event.reason), out)
