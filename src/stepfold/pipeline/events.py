"""What happened to a pipeline: past-tense facts, each with the time, that go into `step`."""

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
    """Which execution of a stage: the strand that it is in, and the how manieth of that strand.

    A strand is named by where it branched off, as numbers: which execution of its parent it was
    a part of, which arm or item, and so on. So keys derive from positions alone.
    """

    strand: tuple[int, ...]
    place: int


@final
@frozen(order=False)
class StageBegun:
    """A stage that must not run twice is about to run: what tells it from one that never did."""

    key: StageKey
    at: Instant


@final
@frozen(order=False)
class StageSucceeded:
    """A stage gave a value."""

    key: StageKey
    value: object
    at: Instant


@final
@frozen(order=False)
class StageFailed:
    """A stage gave a failure, which is a value of its error type."""

    key: StageKey
    error: object
    at: Instant


@final
@frozen(order=False)
class StageRaised:
    """A stage raised: a defect. `exception` is the name of its type, `message` its text."""

    key: StageKey
    exception: str
    message: str
    at: Instant


@final
@frozen(order=False)
class StageRested:
    """The agent of a stage waits for what people or clients owe it: at least one thing."""

    key: StageKey
    asked: tuple[OpenRequest, ...]
    at: Instant


@final
@frozen(order=False)
class StageTakenUp:
    """The agent of a stage goes on, since somebody has answered."""

    key: StageKey
    at: Instant


@final
@frozen(order=False)
class StageStopped:
    """A stage that was to be cancelled has ended."""

    key: StageKey
    at: Instant


@final
@frozen(order=False)
class StageTimedOut:
    """A stage was interrupted at its deadline."""

    key: StageKey
    at: Instant


@final
@frozen(order=False)
class Waited:
    """A pause is over."""

    key: StageKey
    at: Instant


@final
@frozen(order=False)
class InputGiven:
    """Somebody gave an input that the pipeline waited for."""

    key: StageKey
    value: object
    at: Instant


@final
@frozen(order=False)
class CancelAsked:
    """Somebody asked the pipeline to end."""

    reason: str
    at: Instant


StageAnswer: TypeAlias = (
    StageSucceeded | StageFailed | StageRaised | StageStopped | StageTimedOut | Waited | InputGiven
)
"""What may come of one stage."""

StageEvent: TypeAlias = StageAnswer | StageBegun | StageRested | StageTakenUp
"""What may happen to one stage."""

Event: TypeAlias = StageEvent | CancelAsked
"""What may happen to a pipeline."""
