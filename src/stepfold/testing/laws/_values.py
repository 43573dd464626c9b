"""Laws of values that are stored."""

from typing import TypeVar

from typing_extensions import TypeForm

from stepfold.codec import decode, encode
from stepfold.testing.laws._equal import Reader, Writer, require_equal, rewritten

T = TypeVar("T")


def value_survives(
    value: T, kind: TypeForm[T], *, write: Writer = encode, read: Reader = decode
) -> None:
    """Law 12: `decode(encode(x)) == x`, with the same hash, and the same bytes once more.

    `write` and `read` are a codec of your own, such as a quicker one.
    """
    copy = rewritten(value, kind, write=write, read=read)
    require_equal(copy, value, "a value is not what it was after it was stored")
    require_equal(hash(copy), hash(value), "equal values have different hashes")
    require_equal(write(copy), write(value), "equal values are written as different bytes")
