"""What pipelines say beside the values of stages: why something did not go on, and verdicts."""

from typing import Generic, TypeAlias, final

from attrs import field, frozen
from typing_extensions import TypeVar

B_co = TypeVar("B_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
F = TypeVar("F")


@final
@frozen(order=False)
class TimedOut:
    """A stage had not ended after so many seconds."""

    seconds: float


@final
@frozen(order=False)
class BoundReached(Generic[B_co]):
    """A bound on rounds was reached; `last` is what the last round gave.

    For `orchestrate`, whose bound is on tasks, `rounds` is the bound and `last` how many were
    planned.
    """

    rounds: int
    last: B_co


@final
@frozen(order=False)
class NotRouted:
    """A model that was to choose a route chose none.

    `answer` is what it said, and `message` what was wrong with it, or with the model.
    """

    answer: str
    message: str = field(default="", kw_only=True)


@final
@frozen(order=False)
class Accepted:
    """The verdict that a draft is good as it is."""


@final
@frozen(order=False)
class Improve(Generic[B_co]):
    """The verdict that a draft has to be better, and what to do about it."""

    feedback: B_co


Verdict: TypeAlias = Accepted | Improve[F]
"""What an evaluation comes to."""


@final
@frozen(order=False)
class Revision(Generic[B_co, E_co]):
    """A draft and the feedback on it: what an improving stage is given."""

    draft: B_co
    feedback: E_co
