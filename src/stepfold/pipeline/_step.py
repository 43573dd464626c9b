"""The transitions of a pipeline: a pure function from a state and an event to what follows.

Rules.

1. A run is a tree of strands. A strand waits for the answer to one instruction, or for its fan:
   the strands that it branched into. What a stage keeps while another within it runs (an input to
   try again with, a count of rounds, a deadline) is a frame on the strand's stack.
2. No code of the user's runs here. Functions, predicates and iterables are run by commands, and
   what they gave comes back in events. Time too comes in events only.
3. A success goes on at `then`, a failure at `failed`. Nothing between them is visited, so the
   first failure skips all that it skips at once.
4. Whoever is to be stopped is cancelled and waited for: a fan that is decided (a branch failed, or
   won a race), a deadline that has passed, a crash. The strand that has to go on is `closing`
   until the last command below it is answered; what those answers say no longer counts. A crash
   overrules all else, and a closing strand all those below it.
5. A deadline is looked at when an answer comes: an answer at the deadline or after it is too late,
   whoever gave it. The outermost deadline that has passed is the one that counts.
6. An answer to what is no longer open changes nothing; to what was never asked, it is the host's
   mistake, and raises. After the end nothing changes anything.
7. That a stage was begun which must not run twice is kept in mind, and changes nothing else. A
   stage whose agent rests runs no more until it is taken up; whoever stops it need not wait.
8. Branches are begun in their order, results are in their order, and an end does not depend on
   which of two answers came first, except where the first decides: a race, and which failure.
"""

from typing import Final

from stepfold.pipeline._following import lineage_to
from stepfold.pipeline._state import PipelineState, Strand, Transition
from stepfold.pipeline._turn import Turn
from stepfold.pipeline._wiring import Instruction, Op, Wiring
from stepfold.pipeline.events import (
    CancelAsked,
    Event,
    InputGiven,
    StageBegun,
    StageEvent,
    StageRested,
    StageStopped,
    StageSucceeded,
    StageTakenUp,
    StageTimedOut,
    Waited,
)
from stepfold.values import Cancelled, IllegalEvent, Instant

_WORK: Final = Op.WORK
_CHOOSE: Final = Op.CHOOSE

_MOVES: Final = (StageBegun, StageRested, StageTakenUp)
_UNLIKE_WORK: Final = (Waited, InputGiven)
_OF_PAUSE: Final = (Waited, StageStopped, StageTimedOut)


def begin(
    wiring: Wiring, given: object, *, run: str, seed: int, at: Instant, tells: bool = True
) -> Transition:
    """Begin a run: `given` goes to the first stage, `seed` decides the jitter of pauses."""
    turn = Turn(wiring, run, seed, 0, at, tells)
    return turn.over(turn.proceed((), 0, None, None, wiring.entry, given))


def step(wiring: Wiring, state: PipelineState, event: Event, *, tells: bool = True) -> Transition:
    """Let one event happen.

    Where nobody watches, `tells=False` leaves out the notes on what single stages do.

    Raises:
        IllegalEvent: it answers what was never asked; the state given stays usable.
    """
    root = state.root
    if root is None:
        return Transition(state, (), ())
    turn = Turn(wiring, state.run, state.seed, state.busy, event.at, tells)
    if isinstance(event, CancelAsked):
        return turn.over(turn.cancelled(root, Cancelled(event.reason)))
    path = event.key.strand
    lineage = lineage_to(root, path) if path else [root]
    if lineage is None or not _is_open(lineage[-1], event):
        return Transition(state, (), ())
    instruction = wiring.code[lineage[-1].at]
    if instruction.op is not _WORK or type(event) is not StageSucceeded:
        _require_fitting(instruction, event)
        if isinstance(event, _MOVES):
            return _moved(turn, state, lineage, instruction, event)
    if lineage[-1].known:
        raise IllegalEvent(f"{instruction.title}: its agent rests, got {type(event).__name__}")
    return turn.over(turn.answered(lineage, instruction, event))


def _moved(
    turn: Turn,
    state: PipelineState,
    lineage: list[Strand],
    instruction: Instruction,
    event: StageBegun | StageRested | StageTakenUp,
) -> Transition:
    """What leaves a stage open, but in another way."""
    strand = lineage[-1]
    match event:
        case StageBegun() if not strand.begun:
            return turn.over(turn.begun(lineage))
        case StageRested() if not strand.asked:
            return turn.over(turn.rested(lineage, instruction, event))
        case StageTakenUp() if strand.asked:
            return turn.over(turn.taken_up(lineage, instruction))
        case _:
            return Transition(state, (), ())


def _is_open(strand: Strand, event: StageEvent) -> bool:
    """Whether a strand waits for this answer.

    Raises:
        IllegalEvent: it was never asked for.
    """
    place = event.key.place
    if place == strand.key.place and strand.fan is None:
        return True
    if place >= strand.key.place:
        raise IllegalEvent(f"stage {event.key} was never issued")
    return False


def _require_fitting(instruction: Instruction, event: StageEvent) -> None:
    """Refuse an answer of another kind than what was asked for.

    Raises:
        IllegalEvent: it is of another kind.
    """
    op = instruction.op
    if op is _WORK or op is _CHOOSE:
        fits = not isinstance(event, _UNLIKE_WORK)
    elif op is Op.ASK:
        fits = isinstance(event, InputGiven)
    else:
        fits = isinstance(event, _OF_PAUSE)
    if not fits:
        raise IllegalEvent(f"{instruction.title}: {type(event).__name__} answers nothing here")
