from collections.abc import Callable
from typing import TypeAlias
from returns.result import Failure as Failure, Result, Success as Success
from typing_extensions import TypeIs, TypeVar

T = TypeVar("T")
E = TypeVar("E")
R = TypeVar("R")
R2 = TypeVar("R2")
Outcome: TypeAlias = Success[T] | Failure[E]

def settle(result: Result[T, E]) -> Outcome[T, E]: ...
def fold(
    outcome: Outcome[T, E], on_success: Callable[[T], R], on_failure: Callable[[E], R2]
) -> R | R2: ...
def succeeded(outcome: Outcome[T, E]) -> TypeIs[Success[T]]: ...
