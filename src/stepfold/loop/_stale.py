"""Telling a late answer from a mistake.

Time-outs, cancellations and duplicates race, so a late answer is normal and changes nothing. An
answer to something that cannot have been issued is a mistake of the host's.
"""

from stepfold.loop._draft import Draft
from stepfold.loop._state import Calling, Done, Preparing, Resting, Waiting, Working, slot_key
from stepfold.loop.commands import CallKey, ModelCallKey
from stepfold.values import IllegalEvent


def current_step(out: Draft) -> int:
    """The step that the run is in; the last one that was issued, if it rests between two."""
    phase = out.phase
    return len(out.transcript.steps) - 1 if isinstance(phase, Done) else phase.step


def is_at_work(out: Draft, step: int) -> bool:
    """Whether the run is in this step, and does not rest."""
    return step == current_step(out) and not isinstance(out.phase, Resting)


def _refuse(out: Draft, what: str) -> None:
    phase = type(out.phase).__name__
    msg = f"{what} was never issued: the run {out.run!r} is in {phase}"
    raise IllegalEvent(msg)


def refuse_unissued_step(out: Draft, step: int, *, first: int = 0) -> None:
    """Raise `IllegalEvent` if nothing can have been asked about this step."""
    if step > current_step(out) or step < first:
        _refuse(out, f"step {step}")


def refuse_unissued_model_call(out: Draft, key: ModelCallKey, *, is_pause: bool) -> None:
    """Raise `IllegalEvent` if this attempt at a model call cannot have been issued.

    Or the pause before it, if it `is_pause`: the first attempt has none. While a pause lasts, the
    attempt after it is still to be issued.
    """
    pause = "the pause before " if is_pause else ""
    what = f"{pause}attempt {key.total} of the model call of step {key.step}"
    now = current_step(out)
    if key.step > now or key.step < 0 or key.total < (1 if is_pause else 0):
        _refuse(out, what)
    if key.step < now:
        return
    match out.phase:
        case Calling() as calling if key.total > calling.total:
            _refuse(out, what)
        case Waiting(calling) if key.total >= calling.total + is_pause:
            _refuse(out, what)
        case Preparing():
            _refuse(out, what)
        case _:
            pass


def refuse_unissued_call(out: Draft, key: CallKey) -> None:
    """Raise `IllegalEvent` if this attempt at a tool call cannot have been issued."""
    what = f"attempt {key.attempt} of call {key.index} of step {key.step}"
    now = current_step(out)
    if key.step > now or key.step < -1 or key.index < 0 or key.attempt < 0:
        _refuse(out, what)
    if key.step < now:
        return
    match out.phase:
        case Calling() | Waiting() | Preparing():
            _refuse(out, what)
        case Working() as working if working.replied is not None:
            if all(_was_before(key, slot_key(working.step, slot)) for slot in working.slots):
                _refuse(out, what)
        case _:
            pass


def _was_before(asked: CallKey, live: CallKey) -> bool:
    return asked.index != live.index or asked.attempt > live.attempt
