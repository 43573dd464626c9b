"""`step`: the whole loop, one event at a time.

Two rules. Everything that changes the state of a run is decided here and in the modules beside
this one; and nothing here knows what a model, a tool, a clock or a thread is.

A run is always in one phase. A phase *owes* commands (what is in flight: `pending`), and events
move it on:

    phase       owes                                 event             leads to
    ----------  -----------------------------------  ----------------  -------------------------
    Preparing   PrepareStep                          StepPrepared      Calling Done
    Calling     CallModel                            ModelReplied      Working Resting Preparing
                                                                       Checking Calling Done
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
    Checking    CheckStop                            StopChecked       Preparing Calling Done
    Resting     (people and clients)                 ApprovalAnswered  Resting Working Preparing
                                                                       Checking Calling Done
    Resting     (people and clients)                 ToolReturned      Resting Working Preparing
                                                                       Checking Calling Done
    Resting     (people and clients)                 MessageSteered    Resting Preparing Checking
                                                                       Calling Done

In every phase but Done, `MessageSteered` goes into the inbox, `TimedOut` and `Cancelled` lead to
Done, and `Resumed` issues again what is owed. Done absorbs everything.

`step` is total: whatever a model, a tool, a policy or a hook answers, it raises nothing. An
answer that is no longer open is stale and gives the same state object; an answer to something
never issued is a mistake of the host's and raises `IllegalEvent`.
"""

from attrs import evolve

from stepfold.loop._calls import (
    Emitted,
    admit,
    answered,
    approval_of,
    approve,
    ask,
    denied_part,
    finished,
    outcome_part,
    permit,
    position_of,
    reject,
    replaced,
)
from stepfold.loop._close import advance, call, finish, next_step, rest, stopped
from stepfold.loop._interrupt import interrupt, resume, steer
from stepfold.loop._model_call import on_failure, on_reply, recall, visible_tools
from stepfold.loop._program import Program
from stepfold.loop._prompt import unpaired
from stepfold.loop._stale import (
    current_step,
    refuse_unissued_call,
    refuse_unissued_model_call,
    refuse_unissued_step,
)
from stepfold.loop._state import (
    Calling,
    Checking,
    Done,
    LoopState,
    Phase,
    Preparing,
    Resting,
    Slot,
    Transcript,
    Transition,
    Waiting,
    Working,
)
from stepfold.loop.commands import CallKey
from stepfold.loop.events import (
    ApprovalAnswered,
    ApprovalDecided,
    CallBound,
    CallRepaired,
    Cancelled,
    Event,
    MessageSteered,
    ModelFailed,
    ModelReplied,
    Resumed,
    StepPrepared,
    StopChecked,
    TimedOut,
    ToolReturned,
    ToolStarted,
    Waited,
)
from stepfold.values import Cancelled as CancelledEnd
from stepfold.values import Failed, HookFailed, Stop, Stopped, UnpairedPrompt


def step(program: Program, state: LoopState, event: Event) -> Transition:
    """Decide what one event means: the next state, what to carry out, and what to tell.

    Pure: equal arguments give equal results. The commands may be carried out concurrently. An
    event that changes nothing gives the same state object, and no commands.

    Raises:
        IllegalEvent: the event answers something that was never issued; `state` stays usable.
    """
    if isinstance(state.phase, Done):
        return Transition(state)
    out = Emitted()
    after = _dispatch(program, state, event, out)
    return Transition(after, tuple(out.commands), tuple(out.notes))


def _dispatch(program: Program, state: LoopState, event: Event, out: Emitted) -> LoopState:
    match event:
        case ModelReplied() | ModelFailed() | Waited():
            return _on_model(program, state, event, out)
        case ToolReturned() | ToolStarted():
            return _on_tool(program, state, event, out)
        case CallRepaired() | CallBound() | ApprovalDecided():
            return _on_resolution(program, state, event, out)
        case ApprovalAnswered():
            return _on_answer(program, state, event, out)
        case StepPrepared():
            return _on_prepared(program, state, event, out)
        case StopChecked():
            return _on_stop_checked(program, state, event, out)
        case MessageSteered():
            return steer(program, state, event, out)
        case TimedOut(limit, at_step):
            if limit == "step" and at_step != current_step(state):
                refuse_unissued_step(state, at_step, first=-1)
                return state
            stop = Stop(f"timeout-{limit}")
            return interrupt(state.at(event.at), Stopped(stop), event.partial, out)
        case Cancelled(reason):
            return interrupt(state.at(event.at), CancelledEnd(reason), event.partial, out)
        case Resumed():
            return resume(program, state, event, out)


# --- the model --------------------------------------------------------------------------------


def _on_model(
    program: Program, state: LoopState, event: ModelReplied | ModelFailed | Waited, out: Emitted
) -> LoopState:
    match state.phase, event:
        case Calling() as calling, ModelReplied(key) if key == calling.key:
            return on_reply(program, state.at(event.at), calling, event, out)
        case Calling() as calling, ModelFailed(key) if key == calling.key:
            return on_failure(program, state.at(event.at), calling, event, out)
        case Waiting(calling), Waited(key) if key == calling.key:
            return recall(program, state.at(event.at), calling, out)
        case _:
            refuse_unissued_model_call(state, event.key)
            return state


def _on_prepared(
    program: Program, state: LoopState, event: StepPrepared, out: Emitted
) -> LoopState:
    phase = state.phase
    if not isinstance(phase, Preparing) or phase.step != event.step:
        refuse_unissued_step(state, event.step)
        return state
    state = state.at(event.at)
    plan = event.plan
    if isinstance(plan, HookFailed):
        return finish(state, Failed(plan), out)
    if plan.model is not None and plan.model not in program.models:
        return finish(state, Failed(HookFailed("prepare_step", "UnknownModel")), out)
    fault = None if plan.messages is None else unpaired(plan.messages)
    if fault is not None:
        return finish(state, Failed(UnpairedPrompt(fault)), out)
    old = state.transcript
    if plan.instructions is not None or plan.messages is not None:
        replaces = plan.messages is not None
        transcript = Transcript(
            old.messages,
            old.steps,
            plan.messages if replaces else old.base,
            len(old.messages) if replaces else old.base_from,
            old.instructions if plan.instructions is None else plan.instructions,
            old.late,
            old.held_back,
        )
        state = state.with_transcript(transcript, phase)
    return call(program, state, phase.step, phase.since, plan, out)


def _on_stop_checked(
    program: Program, state: LoopState, event: StopChecked, out: Emitted
) -> LoopState:
    phase = state.phase
    if not isinstance(phase, Checking) or phase.step != event.step:
        refuse_unissued_step(state, event.step)
        return state
    state = state.at(event.at)
    match event.stop:
        case HookFailed() as failed:
            return finish(state, Failed(failed), out)
        case Stop() as stop:
            return stopped(program, state, phase.step, stop, out)
        case None:
            return next_step(program, state, phase.step + 1, out)


# --- calls ------------------------------------------------------------------------------------


def _slot_of(phase: Phase, key: CallKey) -> tuple[Working | Resting, int, Slot] | None:
    """The slot that a key names now, and where it is; `None` if the key is not of this attempt."""
    if not isinstance(phase, Working | Resting) or phase.step != key.step:
        return None
    place = position_of(phase.slots, key.index)
    if place is None or phase.slots[place].attempt != key.attempt:
        return None
    return phase, place, phase.slots[place]


def _on_tool(
    program: Program, state: LoopState, event: ToolReturned | ToolStarted, out: Emitted
) -> LoopState:
    found = _slot_of(state.phase, event.key)
    if found is None:
        refuse_unissued_call(state, event.key)
        return state
    phase, place, slot = found
    match event:
        case ToolStarted():
            if not isinstance(phase, Working) or slot.status != "running" or slot.started:
                return state
            after = replaced(phase.slots, place, evolve(slot, started=True))
            return state.at(event.at).with_phase(_with_slots(phase, after))
        case ToolReturned(_, outcome):
            if isinstance(phase, Working) and slot.status == "running":
                state = state.at(event.at)
                part = outcome_part(slot.call, outcome)
                elapsed = max(0, event.at - event.started)
                done = finished(phase.step, slot, part, out, elapsed)
                after = replaced(phase.slots, place, done)
                working = Working(
                    phase.step,
                    phase.replied,
                    after,
                    phase.unresolved,
                    phase.running - 1,
                    phase.closing,
                    phase.refused,
                )
                return advance(program, state, working, out)
            if slot.status != "awaited" or slot.held is not None:
                return state
            held = evolve(slot, held=outcome)
            return _held(program, state.at(event.at), phase, place, held, out)


def _with_slots(working: Working, slots: tuple[Slot, ...]) -> Working:
    return Working(
        working.step,
        working.replied,
        slots,
        working.unresolved,
        working.running,
        working.closing,
        working.refused,
    )


def _held(
    program: Program,
    state: LoopState,
    phase: Working | Resting,
    place: int,
    slot: Slot,
    out: Emitted,
) -> LoopState:
    """Keep an answer from outside until the step is at rest and all of them are here."""
    slots = replaced(phase.slots, place, slot)
    if isinstance(phase, Working):
        return state.with_phase(_with_slots(phase, slots))
    return rest(program, state, Resting(phase.step, slots, phase.refused), out)


def _on_answer(
    program: Program, state: LoopState, event: ApprovalAnswered, out: Emitted
) -> LoopState:
    phase = state.phase
    if isinstance(phase, Working | Resting):
        for place, slot in enumerate(phase.slots):
            approval = slot.approval
            if slot.status != "asked" or approval is None or approval.approved is not None:
                continue
            if approval.id != event.approval_id or approval.digest != event.digest:
                continue
            decided = evolve(approval, approved=event.approved, reason=event.reason)
            taken = answered(program, phase.step, slot, decided, out)
            return _held(program, state.at(event.at), phase, place, taken, out)
    return state


def _on_resolution(
    program: Program,
    state: LoopState,
    event: CallRepaired | CallBound | ApprovalDecided,
    out: Emitted,
) -> LoopState:
    found = _slot_of(state.phase, event.key)
    if found is None:
        refuse_unissued_call(state, event.key)
        return state
    phase, place, slot = found
    if not isinstance(phase, Working) or slot.status != _AWAITS[type(event)]:
        return state
    resolved = _resolved(program, state, phase, slot, event, out)
    slots = replaced(phase.slots, place, resolved)
    unresolved = phase.unresolved - (not resolved.is_unresolved)
    working = Working(
        phase.step, phase.replied, slots, unresolved, phase.running, phase.closing, phase.refused
    )
    return advance(program, state.at(event.at), working, out)


_AWAITS = {CallRepaired: "repairing", CallBound: "binding", ApprovalDecided: "deciding"}


def _resolved(
    program: Program,
    state: LoopState,
    working: Working,
    slot: Slot,
    event: CallRepaired | CallBound | ApprovalDecided,
    out: Emitted,
) -> Slot:
    run, at_step = state.identity.run, working.step
    spec = program.tools.get(slot.call.tool_name)
    match event:
        case CallRepaired(_, text):
            repaired = evolve(
                slot,
                call=slot.call if text is None else evolve(slot.call, input=text),
                attempt=slot.attempt + 1,
                repaired=True,
                status="ready",
            )
            plan = None if working.replied is None else working.replied.plan
            visible = visible_tools(program, plan)
            return admit(program, visible, run, at_step, repaired, out)
        case _ if spec is None:  # the program has lost a tool since the call was issued
            return reject(at_step, slot, f"no tool is named {slot.call.tool_name!r}", out)
        case CallBound(_, error):
            if error is not None:
                return reject(at_step, slot, error, out)
            return approve(spec, run, at_step, evolve(slot, status="ready"), out)
        case ApprovalDecided(_, decision):
            approval = approval_of(run, at_step, slot)
            match decision:
                case "not-applicable":
                    return permit(spec, at_step, slot, out)
                case "approved":
                    agreed = evolve(approval, approved=True, automatic=True, reason=event.reason)
                    return permit(spec, at_step, evolve(slot, approval=agreed), out)
                case "denied":
                    refused = evolve(approval, approved=False, automatic=True, reason=event.reason)
                    part = denied_part(slot.call, event.reason)
                    return finished(at_step, evolve(slot, approval=refused), part, out)
                case "user-approval":
                    wanted = evolve(approval, asked_because=event.reason)
                    return ask(at_step, slot, wanted, out)
