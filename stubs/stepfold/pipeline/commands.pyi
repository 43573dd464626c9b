from typing import TypeAlias, final
from attrs import frozen
from stepfold.pipeline.events import StageKey
from stepfold.values import Instant

__all__ = ("CancelStage", "Command", "Pause", "RunStage")

@final
@frozen(order=False)
class RunStage:
    key: StageKey
    instruction: int
    given: object
    deadline: Instant | None = None

@final
@frozen(order=False)
class Pause:
    key: StageKey
    until: Instant
    deadline: Instant | None = None

@final
@frozen(order=False)
class CancelStage:
    key: StageKey

Command: TypeAlias = RunStage | Pause | CancelStage
