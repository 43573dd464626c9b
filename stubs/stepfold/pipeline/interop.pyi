from collections.abc import Callable
from typing import TypeVar
from returns.future import FutureResult
from returns.result import Result
from stepfold.pipeline._stage import Stage

A = TypeVar("A")
B = TypeVar("B")
E = TypeVar("E")
__all__ = ("as_future_result", "from_future_result", "from_result")

def as_future_result(stage: Stage[A, B, E], /) -> Callable[[A], FutureResult[B, E]]: ...
def from_result(function: Callable[[A], Result[B, E]], /) -> Stage[A, B, E]: ...
def from_future_result(function: Callable[[A], FutureResult[B, E]], /) -> Stage[A, B, E]: ...
