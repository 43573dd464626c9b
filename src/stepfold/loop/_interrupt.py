"""What comes from outside at any time: an end, a word to the model, a new process."""

from attrs import evolve

from stepfold.loop._calls import Emitted, error_part, finished, given_up
from stepfold.loop._close import advance, after_step, finish, flush
from stepfold.loop._model_call import write_partial
from stepfold.loop._pending import pending
from stepfold.loop._program import Program
from stepfold.loop._record import write
from stepfold.loop._state import (
    Calling,
    Identity,
    Inbox,
    LoopState,
    Resting,
    Slot,
    Working,
)
from stepfold.loop.events import MessageSteered, Resumed
from stepfold.values import NO_USAGE, IllegalEvent, Instant, JsonText, ModelReply, RunEnd

_INTERRUPTED = "interrupted: the run ended while this call was open; it may or may not have run"
_OVERTAKEN = "not run: somebody spoke before this call was answered"
_CRASHED = "interrupted: the process ended while this call ran; it may or may not have run"


def interrupt(
    state: LoopState, end: RunEnd[JsonText], partial: ModelReply | None, out: Emitted
) -> LoopState:
    """End the run now: keep all that was finished, close what is open as interrupted."""
    phase = state.phase
    match phase:
        case Calling() as calling:
            state = _released(state, calling, partial)
            if partial is not None and partial.content:
                state = write_partial(state, calling, partial, _INTERRUPTED, out)
        case Working() as working:
            state = _give_up(state, working, _INTERRUPTED, out)
        case Resting(step, slots, refused):
            working = Working(step, None, slots, 0, 0, None, refused)
            state = _give_up(state, working, _INTERRUPTED, out)
        case _:
            pass
    return finish(state, end, out)


def _released(state: LoopState, calling: Calling, partial: ModelReply | None) -> LoopState:
    """Count an unfinished call as what is known of it, else as what was reserved for it."""
    usage = NO_USAGE if partial is None else partial.usage
    spent = usage.total_tokens
    if spent is None:
        spent = calling.reserved
    return state.with_ledger(
        state.ledger.settle(calling.reserved, spent, usage),
        state.phase,
    )


def _give_up(state: LoopState, working: Working, message: str, out: Emitted) -> LoopState:
    slots = tuple(
        given_up(working.step, slot, "interrupted", message, out) for slot in working.slots
    )
    return write(state, working, slots, out)


def steer(program: Program, state: LoopState, event: MessageSteered, out: Emitted) -> LoopState:
    """Keep a message for the next step; a run at rest goes on at once to hear it."""
    inbox = state.inbox
    if event.id in inbox.seen:
        return state
    kept = Inbox((*inbox.waiting, event), (*inbox.seen, event.id))
    state = state.at(event.at).with_inbox(kept)
    phase = state.phase
    if not isinstance(phase, Resting) or event.mode == "queue":
        return state
    working = Working(phase.step, None, phase.slots, 0, 0, None, phase.refused)
    state = flush(_give_up(state, working, _OVERTAKEN, out))
    return after_step(program, state, phase.step, out, refused=phase.refused)


def resume(program: Program, state: LoopState, event: Resumed, out: Emitted) -> LoopState:
    """Issue again what is owed, in a new process.

    A call that never started runs; an idempotent one that had started runs again, under the same
    key but another attempt; any other one that had started is closed as interrupted.
    """
    number = state.identity.resumed + 1
    if event.number > number:
        msg = f"expected Resumed({number}) next, got Resumed({event.number})"
        raise IllegalEvent(msg)
    if event.number < number:
        return state
    old = state.identity
    identity = Identity(old.run, old.seed, old.started, old.fingerprint, old.rules, number)
    state = evolve(state.at(event.at), identity=identity)
    phase = state.phase
    if not isinstance(phase, Working) or not phase.running:
        out.commands.extend(pending(state))
        return state
    slots = tuple(_restarted(program, phase.step, slot, state.now, out) for slot in phase.slots)
    running = sum(slot.status == "running" for slot in slots)
    working = Working(phase.step, phase.replied, slots, 0, running, phase.closing, phase.refused)
    state = state.with_phase(working)
    out.commands.extend(pending(state))
    return state if running else advance(program, state, working, out)


def _restarted(program: Program, step: int, slot: Slot, now: Instant, out: Emitted) -> Slot:
    if slot.status != "running":
        return slot
    spec = program.tools.get(slot.call.tool_name)
    if spec is None or (slot.started and not spec.idempotent):
        return finished(step, slot, error_part(slot.call, "interrupted", _CRASHED), out)
    again = slot.running(None if spec.timeout is None else now + spec.timeout)
    return evolve(again, attempt=slot.attempt + 1) if slot.started else again
