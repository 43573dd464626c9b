"""Cosine similarity by example; its laws are in `properties/test_embedding.py`."""

import math

import pytest

from stepfold.values import UsageError, cosine_similarity


@pytest.mark.parametrize(
    ("left", "right", "similarity"),
    [
        ([1, 0], [2, 0], 1),
        ([1, 0], [0, 3], 0),
        ([1, 1], [-2, -2], -1),
        ([3, 0], [1, 1], math.sqrt(0.5)),
        ([0, 0], [1, 1], 0),
        ([], [], 0),
        ([1e300, 1e300], [1e-300, 1e-300], 1),
    ],
)
def test_similarity_is_the_cosine(left: list[float], right: list[float], similarity: float) -> None:
    assert math.isclose(cosine_similarity(left, right), similarity, abs_tol=1e-12)


def test_rounding_never_takes_it_beyond_one() -> None:
    """The square of the unit vector of (1, 8) is a little more."""
    assert cosine_similarity([1, 8], [1, 8]) == 1
    assert cosine_similarity([1, 8], [-1, -8]) == -1


def test_vectors_of_two_models_are_not_compared() -> None:
    with pytest.raises(UsageError, match="expected vectors of one length, got 2 and 3"):
        cosine_similarity([1, 2], [1, 2, 3])


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_are_finite(number: float) -> None:
    with pytest.raises(UsageError, match="expected finite numbers"):
        cosine_similarity([1.0, number], [1.0, 1.0])
