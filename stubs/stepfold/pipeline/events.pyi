from typing import TypeAlias, final
from attrs import frozen
from stepfold.values import Instant

__all__ = (
    "CancelAsked",
    "Event",
    "InputGiven",
    "StageEvent",
    "StageFailed",
    "StageKey",
    "StageRaised",
    "StageStopped",
    "StageSucceeded",
    "StageTimedOut",
    "Waited",
)

@final
@frozen(order=False)
class StageKey:
    strand: tuple[int, ...]
    place: int

@final
@frozen(order=False)
class StageSucceeded:
    key: StageKey
    value: object
    at: Instant

@final
@frozen(order=False)
class StageFailed:
    key: StageKey
    error: object
    at: Instant

@final
@frozen(order=False)
class StageRaised:
    key: StageKey
    exception: str
    message: str
    at: Instant

@final
@frozen(order=False)
class StageStopped:
    key: StageKey
    at: Instant

@final
@frozen(order=False)
class StageTimedOut:
    key: StageKey
    at: Instant

@final
@frozen(order=False)
class Waited:
    key: StageKey
    at: Instant

@final
@frozen(order=False)
class InputGiven:
    key: StageKey
    value: object
    at: Instant

@final
@frozen(order=False)
class CancelAsked:
    reason: str
    at: Instant

StageEvent: TypeAlias = (
    StageSucceeded | StageFailed | StageRaised | StageStopped | StageTimedOut | Waited | InputGiven
)
Event: TypeAlias = StageEvent | CancelAsked
