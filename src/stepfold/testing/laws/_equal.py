"""How laws compare, and what they say where values differ."""

from typing import TypeVar

from typing_extensions import TypeForm

from stepfold.codec import decode, encode
from stepfold.values import Failure, Success

T = TypeVar("T")

_SHOWN = 1_500


def require(holds: object, law: str) -> None:
    """Raise `AssertionError` with the law in the user's words unless it holds."""
    if not holds:
        raise AssertionError(law)


def require_equal(left: object, right: object, law: str) -> None:
    """Raise `AssertionError` with both values, cut to a readable length, unless they are equal."""
    if left != right:
        msg = f"{law}\n  one:   {_shown(left)}\n  other: {_shown(right)}"
        raise AssertionError(msg)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def rewritten(value: T, kind: TypeForm[T]) -> T:
    """The value as another process would read it."""
    match decode(encode(value), kind):
        case Success(copy):
            return copy
        case Failure(fault):
            msg = f"{type(value).__name__}: what was written cannot be read: {fault}"
            raise AssertionError(msg)
