"""`Outcome`: what every public fallible function returns.

It is a union of the two classes of the `returns` library, not `Result`, since only the union is
exact and exhaustive in `match` in mypy and pyright without a plugin. It is assignable to
`Result` wherever the methods `map` and `bind` are wanted.
"""

from collections.abc import Callable
from typing import TypeAlias

from returns.result import Failure, Result, Success
from typing_extensions import TypeIs, TypeVar

__all__ = ("Failure", "Outcome", "Success", "fold", "settle", "succeeded")

T = TypeVar("T")
E = TypeVar("E")
R = TypeVar("R")
R2 = TypeVar("R2")

Outcome: TypeAlias = Success[T] | Failure[E]
"""A success with its value, or a failure with its error."""


def settle(result: Result[T, E]) -> Outcome[T, E]:
    """Narrow a `Result` of the `returns` library to the union that `match` can exhaust."""
    if isinstance(result, Success | Failure):
        return result
    msg = f"expected Success or Failure, got {type(result).__name__}"
    raise TypeError(msg)


def fold(
    outcome: Outcome[T, E],
    on_success: Callable[[T], R],
    on_failure: Callable[[E], R2],
) -> R | R2:
    """Apply the function that fits: one of the two is called, once."""
    match outcome:
        case Success(value):
            return on_success(value)
        case Failure(error):
            return on_failure(error)


def succeeded(outcome: Outcome[T, E]) -> TypeIs[Success[T]]:
    """Tell whether this is a `Success`, narrowing both branches."""
    return isinstance(outcome, Success)
