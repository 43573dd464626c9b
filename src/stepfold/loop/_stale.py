"""Telling a late answer from a mistake.

Time-outs, cancellations and duplicates race, so a late answer is normal and changes nothing. An
answer to something that cannot have been issued is a mistake of the host's.
"""

from stepfold.loop._state import Calling, Done, LoopState, Preparing, Waiting, Working, slot_key
from stepfold.loop.commands import CallKey, ModelCallKey
from stepfold.values import IllegalEvent


def current_step(state: LoopState) -> int:
    """The step that the run is in; the last one that was issued, if it rests between two."""
    phase = state.phase
    return len(state.steps) - 1 if isinstance(phase, Done) else phase.step


def _refuse(state: LoopState, what: str) -> None:
    phase = type(state.phase).__name__
    msg = f"{what} was never issued: the run {state.identity.run!r} is in {phase}"
    raise IllegalEvent(msg)


def refuse_unissued_step(state: LoopState, step: int, *, first: int = 0) -> None:
    """Raise `IllegalEvent` if nothing can have been asked about this step."""
    if step > current_step(state) or step < first:
        _refuse(state, f"step {step}")


def refuse_unissued_model_call(state: LoopState, key: ModelCallKey) -> None:
    """Raise `IllegalEvent` if this attempt at a model call cannot have been issued."""
    what = f"attempt {key.total} of the model call of step {key.step}"
    now = current_step(state)
    if key.step > now or key.step < 0 or key.total < 0:
        _refuse(state, what)
    if key.step < now:
        return
    match state.phase:
        case Calling() as calling if key.total > calling.total:
            _refuse(state, what)
        case Waiting(calling) if key.total > calling.total:
            _refuse(state, what)
        case Preparing():
            _refuse(state, what)
        case _:
            pass


def refuse_unissued_call(state: LoopState, key: CallKey) -> None:
    """Raise `IllegalEvent` if this attempt at a tool call cannot have been issued."""
    what = f"attempt {key.attempt} of call {key.index} of step {key.step}"
    now = current_step(state)
    if key.step > now or key.step < -1 or key.index < 0 or key.attempt < 0:
        _refuse(state, what)
    if key.step < now:
        return
    match state.phase:
        case Calling() | Waiting() | Preparing():
            _refuse(state, what)
        case Working() as working if working.replied is not None:
            if all(_was_before(key, slot_key(working.step, slot)) for slot in working.slots):
                _refuse(state, what)
        case _:
            pass


def _was_before(asked: CallKey, live: CallKey) -> bool:
    return asked.index != live.index or asked.attempt > live.attempt
