"""What a pipeline asks for: imperatives that whoever drives it has to carry out."""

from typing import TypeAlias, final

from attrs import frozen

from stepfold.pipeline.events import StageKey
from stepfold.values import Instant

__all__ = (
    "CancelStage",
    "Command",
    "Pause",
    "RunStage",
)


@final
@frozen(order=False)
class RunStage:
    """Run the function of an instruction with what is given, and say what came of it.

    At the deadline, if there is one, it has to be interrupted: that is `StageTimedOut`.
    """

    key: StageKey
    instruction: int
    given: object
    deadline: Instant | None = None


@final
@frozen(order=False)
class Pause:
    """Wait until then (`Waited`), or until the deadline, if it is earlier (`StageTimedOut`)."""

    key: StageKey
    until: Instant
    deadline: Instant | None = None


@final
@frozen(order=False)
class CancelStage:
    """Cancel a stage or a pause, wait until it has ended, and say so: `StageStopped`."""

    key: StageKey


Command: TypeAlias = RunStage | Pause | CancelStage
"""What a pipeline may ask for."""
