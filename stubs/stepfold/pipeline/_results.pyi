from typing import Generic, TypeAlias, final
from attrs import field, frozen
from typing_extensions import TypeVar

B_co = TypeVar("B_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
F = TypeVar("F")

@final
@frozen(order=False)
class TimedOut:
    seconds: float

@final
@frozen(order=False)
class BoundReached(Generic[B_co]):
    rounds: int
    last: B_co

@final
@frozen(order=False)
class NotRouted:
    answer: str
    message: str = field(default="", kw_only=True)

@final
@frozen(order=False)
class Accepted: ...

@final
@frozen(order=False)
class Improve(Generic[B_co]):
    feedback: B_co

Verdict: TypeAlias = Accepted | Improve[F]

@final
@frozen(order=False)
class Revision(Generic[B_co, E_co]):
    draft: B_co
    feedback: E_co
