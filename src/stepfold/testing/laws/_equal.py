"""How laws compare, and what they say where values differ."""

from typing import Protocol, TypeVar

from typing_extensions import TypeForm

from stepfold.codec import decode, encode
from stepfold.values import Failure, Outcome, Success

T = TypeVar("T")
U = TypeVar("U")

_SHOWN = 1_500


class Writer(Protocol):
    """Writes values: `encode`, or what stands in its place."""

    def __call__(self, value: object, /) -> bytes:
        """The document of a value."""
        ...


class Reader(Protocol):
    """Reads values: `decode`, or what stands in its place."""

    def __call__(self, data: bytes, kind: TypeForm[U], /) -> Outcome[U, object]:
        """The value of a document; its failure says why there is none."""
        ...


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


def rewritten(value: T, kind: TypeForm[T], *, write: Writer = encode, read: Reader = decode) -> T:
    """The value as another process would read it."""
    match read(write(value), kind):
        case Success(copy):
            return copy
        case Failure(fault):
            msg = f"{type(value).__name__}: what was written cannot be read: {fault}"
            raise AssertionError(msg)
