"""Laws of values that are stored."""

from typing import TypeVar

from typing_extensions import TypeForm

from stepfold.codec import encode
from stepfold.testing.laws._equal import require_equal, rewritten

T = TypeVar("T")


def value_survives(value: T, kind: TypeForm[T]) -> None:
    """Law 12: `decode(encode(x)) == x`, with the same hash, and the same bytes once more."""
    copy = rewritten(value, kind)
    require_equal(copy, value, "a value is not what it was after it was stored")
    require_equal(hash(copy), hash(value), "equal values have different hashes")
    require_equal(encode(copy), encode(value), "equal values are written as different bytes")
