"""`Outcome`: one of two, and no third."""

from typing import cast

import pytest
from returns.result import Result, safe

from stepfold.values import Failure, Outcome, Success, fold, settle, succeeded


def halved(number: int) -> Outcome[int, str]:
    """Halve an even number."""
    return Failure(f"{number} is odd") if number % 2 else Success(number // 2)


@pytest.mark.parametrize(("number", "expected"), [(8, "it is 4"), (7, "no: 7 is odd")])
def test_folding_calls_the_function_that_fits(number: int, expected: str) -> None:
    """One of the two functions is called, once."""
    assert expected == fold(halved(number), "it is {}".format, "no: {}".format)


def test_success_is_told_apart() -> None:
    """The question narrows both branches."""
    assert succeeded(halved(2))
    assert not succeeded(halved(1))


def test_a_result_of_the_returns_library_settles_into_an_outcome() -> None:
    """What `map` and `bind` give can be matched again."""

    @safe
    def number(text: str) -> int:
        return int(text)

    assert Success(4) == settle(Success(8).bind(halved))
    assert isinstance(settle(number("x")), Failure)


def test_what_is_neither_does_not_settle() -> None:
    """A third kind of result is a mistake of the caller's."""
    with pytest.raises(TypeError, match="expected Success or Failure, got str"):
        settle(cast("Result[int, str]", "neither"))
