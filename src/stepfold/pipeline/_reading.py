"""How what a function of the user's returned becomes an event."""

from types import CoroutineType
from typing import Final, cast

from returns.result import Failure, Success

from stepfold.pipeline._kept import Rested
from stepfold.pipeline._wiring import Wiring
from stepfold.pipeline._works import Reading, Work
from stepfold.pipeline.commands import RunStage
from stepfold.pipeline.events import (
    StageEvent,
    StageFailed,
    StageRaised,
    StageRested,
    StageSucceeded,
)
from stepfold.values import Instant, UsageError

_ASYNC: Final = (
    "{} gave a coroutine where a value was expected: make it a stage, and use then(stage(…))"
)

_IGNORED: Final = Reading.IGNORED
_OUTCOME: Final = Reading.OUTCOME
_EITHER: Final = Reading.EITHER


def answer_of(work: Work, command: RunStage, result: object, at: Instant) -> StageEvent:
    """What a function returned, as the answer to the command to run it.

    Raises:
        TypeError: it returned something else than it promised.
    """
    key, reading = command.key, work.reading
    value: object = result
    if work.wants_context and isinstance(result, Rested):
        return StageRested(key, result.asked, at)
    if reading is _IGNORED:
        return StageSucceeded(key, command.given, at)
    if reading is _OUTCOME or reading is _EITHER:
        if isinstance(result, Success):
            value = cast("Success[object]", result).unwrap()
        elif isinstance(result, Failure):
            return StageFailed(key, cast("Failure[object]", result).failure(), at)
        elif reading is _OUTCOME:
            raise TypeError(f"expected a Success or a Failure, got {type(result).__name__}")
    if type(value) is CoroutineType:
        value.close()
        raise TypeError(_ASYNC.format(work.name))
    return StageSucceeded(key, value, at)


def carried_out(wiring: Wiring, command: RunStage, at: Instant) -> StageEvent:
    """Run a function that does not wait, here and now; for those who drive a pipeline by hand.

    Raises:
        UsageError: the command is of another pipeline.
    """
    work = wiring.code[command.instruction].work
    if work is None:
        raise UsageError(f"expected a command of this pipeline, got {command}")
    try:
        return answer_of(work, command, work.function(command.given), at)
    except Exception as error:  # noqa: BLE001 - a defect of the stage is an event
        return StageRaised(command.key, type(error).__name__, str(error), at)
