"""What comes from outside at any time: an end, a word to the model, a new process."""

from typing import Literal

from attrs import evolve

from stepfold.loop._budget import settle_attempt
from stepfold.loop._calls import closed, given_up
from stepfold.loop._close import (
    INTERRUPTED,
    advance,
    after_step,
    finish,
    flush,
    has_final_answer,
)
from stepfold.loop._draft import Draft, Work
from stepfold.loop._model_call import write_partial
from stepfold.loop._pending import pending_in
from stepfold.loop._program import Program
from stepfold.loop._record import write
from stepfold.loop._slots import Slot
from stepfold.loop._state import Calling, Checking, Concluding, Inbox, Resting, Working
from stepfold.loop.events import CancelRequested, MessageSteered, Resumed
from stepfold.values import (
    EMPTY_OBJECT,
    Cancelled,
    IllegalEvent,
    JsonText,
    ModelReply,
    RunEnd,
    Stop,
    Stopped,
)

_OVERTAKEN = "not run: somebody spoke before this call was answered"
CALL_LOST = "interrupted: the process ended while this call ran; it may or may not have run"
"""What the model is told of a call whose process is gone, and which must not run twice."""


def interrupt(
    program: Program, out: Draft, end: RunEnd[JsonText], partial: ModelReply | None
) -> None:
    """End the run now: keep all that was finished, close what is open as interrupted."""
    match out.phase:
        case Calling() as calling:
            cost = settle_attempt(program, out, calling, partial)
            if partial is not None and partial.content:
                write_partial(program, out, calling, partial, INTERRUPTED, cost)
        case Working() as working:
            _give_up(out, Work.of(working), INTERRUPTED)
        case Resting(step, slots):
            _give_up(out, Work(step, None, list(slots)), INTERRUPTED)
        case _:
            pass
    finish(out, end)


def cancel_after_step(program: Program, out: Draft, event: CancelRequested) -> None:
    """End the run once the step in flight is over; at once, if there is none."""
    if out.cancel_requested is not None:
        return
    out.at(event.at)
    out.cancel_requested = event.reason
    match out.phase:
        case Calling() | Working() | Concluding():
            return
        case Checking() if has_final_answer(program, out):
            return  # it may still be for validators to look at
        case _:
            interrupt(program, out, Cancelled(event.reason), None)


def timed_out(program: Program, limit: Literal["total", "step"]) -> Stopped:
    """The end of a run that took too long; its evidence is the limit in seconds, if it is known."""
    timeouts = program.timeouts
    seconds = timeouts.total if limit == "total" else timeouts.step
    evidence = EMPTY_OBJECT if seconds is None else JsonText.of({"limit": seconds})
    return Stopped(Stop(f"timeout-{limit}", evidence))


def _give_up(out: Draft, work: Work, message: str) -> None:
    work.slots[:] = [given_up(work.step, slot, "interrupted", message, out) for slot in work.slots]
    write(out, work)


def steer(program: Program, out: Draft, event: MessageSteered) -> None:
    """Keep a message for the next step; a run at rest goes on at once to hear it."""
    inbox = out.inbox
    if event.id in inbox.seen:
        return
    out.at(event.at)
    out.inbox = Inbox((*inbox.waiting, event), (*inbox.seen, event.id))
    phase = out.phase
    if isinstance(phase, Resting) and event.mode == "steer":
        _give_up(out, Work(phase.step, None, list(phase.slots)), _OVERTAKEN)
        flush(out)
        after_step(program, out, phase.step, refused=phase.refused)


def resume(program: Program, out: Draft, event: Resumed) -> None:
    """Issue again what is owed, in a new process.

    A call that never started runs; an idempotent one that had started runs again, under the same
    key but another attempt; any other one that had started is closed as interrupted.
    """
    number = out.identity.resumed + 1
    if event.number > number:
        msg = f"expected Resumed({number}) next, got Resumed({event.number})"
        raise IllegalEvent(msg)
    if event.number < number:
        return
    out.at(event.at)
    granted = out.identity.granted if event.granted is None else event.granted
    out.identity = evolve(out.identity, resumed=number, granted=granted)
    phase = out.phase
    if isinstance(phase, Working) and phase.running:
        work = Work.of(phase)
        work.slots[:] = [_restarted(program, phase.step, slot, out) for slot in phase.slots]
        work.running = sum(slot.status == "running" for slot in work.slots)
        if not work.running:
            advance(program, out, work)
            return
        out.phase = work.phase()
    out.commands.extend(pending_in(out.phase))


def _restarted(program: Program, step: int, slot: Slot, out: Draft) -> Slot:
    if slot.status != "running":
        return slot
    spec = program.tools.get(slot.call.tool_name)
    if spec is None or (slot.started and not spec.idempotent):
        return closed(step, slot, "interrupted", CALL_LOST, out)
    timeout = program.timeout_of(spec)
    again = slot.running(None if timeout is None else out.now + timeout)
    return evolve(again, attempt=slot.attempt + 1) if slot.started else again
