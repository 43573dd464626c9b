from typing import TypeAlias, final
from attrs import frozen
from stepfold.values import Instant, OpenRequest

__all__ = (
    "CancelAsked",
    "Event",
    "InputGiven",
    "StageAnswer",
    "StageBegun",
    "StageEvent",
    "StageFailed",
    "StageKey",
    "StageRaised",
    "StageRested",
    "StageStopped",
    "StageSucceeded",
    "StageTakenUp",
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
class StageBegun:
    key: StageKey
    at: Instant

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
class StageRested:
    key: StageKey
    asked: tuple[OpenRequest, ...]
    at: Instant

@final
@frozen(order=False)
class StageTakenUp:
    key: StageKey
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

StageAnswer: TypeAlias = (
    StageSucceeded | StageFailed | StageRaised | StageStopped | StageTimedOut | Waited | InputGiven
)
StageEvent: TypeAlias = StageAnswer | StageBegun | StageRested | StageTakenUp
Event: TypeAlias = StageEvent | CancelAsked
