"""Usage is a commutative monoid in which unknown is not zero."""

from functools import reduce
from itertools import permutations

import pytest

from stepfold.values import NO_USAGE, InputTokenDetails, OutputTokenDetails, Usage

CACHED = Usage(
    10,
    5,
    input_token_details=InputTokenDetails(2, 3, 5),
    output_token_details=OutputTokenDetails(4, 1),
)
PARTLY = Usage(
    7,
    input_token_details=InputTokenDetails(cache_read_tokens=4),
    output_token_details=OutputTokenDetails(reasoning_tokens=2),
)
PLAIN = Usage(1, 2)


def plus(left: Usage, right: Usage) -> Usage:
    """Add two."""
    return left + right


@pytest.mark.parametrize("usage", [NO_USAGE, PLAIN, PARTLY, CACHED])
def test_nothing_is_the_unit(usage: Usage) -> None:
    """Adding no usage changes nothing, from either side."""
    assert usage == usage + NO_USAGE
    assert usage == NO_USAGE + usage


def test_figures_are_added_one_by_one() -> None:
    """A known figure beside an unknown one stays."""
    expected = Usage(
        17,
        5,
        input_token_details=InputTokenDetails(2, 7, 5),
        output_token_details=OutputTokenDetails(4, 3),
    )

    assert expected == CACHED + PARTLY


def test_the_order_of_addition_is_no_matter() -> None:
    """Replies may be summed as they come."""
    sums = {reduce(plus, order) for order in permutations((CACHED, PARTLY, PLAIN))}

    assert len(sums) == 1


def test_the_total_is_unknown_only_if_both_are() -> None:
    """Unknown counts as nothing beside a known figure and stays unknown beside another."""
    assert PLAIN.total_tokens == 3
    assert PARTLY.total_tokens == 7
    assert Usage(0, 0).total_tokens == 0
    assert NO_USAGE.total_tokens is None


def test_what_was_added_can_be_told_from_the_sum() -> None:
    """Where it is known."""
    part = Usage(1, 2, input_token_details=InputTokenDetails(1, 0, None))
    added = Usage(10, None, output_token_details=OutputTokenDetails(3, 4))

    assert (part + added) - part == Usage(
        10,
        0,
        input_token_details=InputTokenDetails(0, 0, None),
        output_token_details=OutputTokenDetails(3, 4),
    )
    assert Usage() - part == Usage()
    both = Usage(output_token_details=OutputTokenDetails(5, 7))
    assert both - Usage(output_token_details=OutputTokenDetails(4, 3)) == Usage(
        output_token_details=OutputTokenDetails(1, 4)
    )
