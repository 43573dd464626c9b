"""How alike two vectors are."""

import math
from collections.abc import Sequence

from stepfold.values._errors import UsageError


def cosine_similarity(left: Sequence[float], right: Sequence[float], /) -> float:
    """The cosine of the angle between two vectors: 1 for the same direction, -1 for the opposite.

    Vectors of nothing but zeros have no direction: with one of them it is 0.

    Raises:
        UsageError: the vectors are of different lengths, or hold no finite numbers.
    """
    if len(left) != len(right):
        msg = (
            f"cosine_similarity: expected vectors of one length, got {len(left)} and {len(right)}: "
            "both have to come from one model, with the same dimensions"
        )
        raise UsageError(msg)
    dot = math.fsum(map(_product, _unit(left), _unit(right)))
    return max(-1.0, min(1.0, dot))


def _product(one: float, other: float) -> float:
    return one * other


def _unit(vector: Sequence[float]) -> Sequence[float]:
    """The vector of the same direction and length 1; zeros stay zeros."""
    for number in vector:
        if not math.isfinite(number):
            msg = f"cosine_similarity: expected finite numbers, got {number!r}"
            raise UsageError(msg)
    if not any(vector):
        return vector
    largest = max(map(abs, vector))
    scaled = [number / largest for number in vector]  # squares neither overflow nor vanish
    length = math.hypot(*scaled)
    return [number / length for number in scaled]
