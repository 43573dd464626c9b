"""Prices: whole micro-units, and an unknown figure is never nothing."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepfold.testing.strategies.values import usages
from stepfold.values import (
    InputTokenDetails,
    OutputTokenDetails,
    Price,
    Usage,
    UsageError,
)

PLAIN = Price(input=2_000_000, output=8_000_000)
CACHED = Price(
    input=2_000_000, output=8_000_000, cache_read=200_000, cache_write=2_500_000, reasoning=0
)
FREE = Price(input=0, output=0)
FIGURES = st.integers(0, 10_000_000)
PRICES = st.builds(
    Price,
    input=FIGURES,
    output=FIGURES,
    cache_read=st.none() | FIGURES,
    cache_write=st.none() | FIGURES,
    reasoning=st.none() | FIGURES,
)
TOKENS = st.integers(0, 100_000)

ALL_KINDS = Usage(
    1_000,
    100,
    input_token_details=InputTokenDetails(cache_read_tokens=500, cache_write_tokens=300),
    output_token_details=OutputTokenDetails(reasoning_tokens=60),
)


@pytest.mark.parametrize(
    ("price", "usage", "cost"),
    [
        (PLAIN, Usage(1_000, 100), 2_800),
        (PLAIN, ALL_KINDS, 2_800),
        (CACHED, ALL_KINDS, 200 * 2 + 100 + 750 + 40 * 8),
        (PLAIN, Usage(0, 0), 0),
        (Price(input=1, output=0), Usage(1, 0), 1),
        (PLAIN, Usage(), None),
        (PLAIN, Usage(7), None),
        (PLAIN, Usage(None, 7), None),
        (FREE, Usage(), 0),
        (Price(input=1_000_000, output=0), Usage(7), 7),
        (Price(input=0, output=1_000_000), Usage(None, 7), 7),
    ],
)
def test_each_kind_of_token_has_its_price(price: Price, usage: Usage, cost: int | None) -> None:
    """Rounded up; what has a price and is not known makes the whole unknown."""
    assert cost == price.cost_of(usage)


def test_details_that_do_not_add_up_never_make_a_cost_negative() -> None:
    """A provider may report more cached input than input."""
    usage = Usage(10, 0, input_token_details=InputTokenDetails(cache_read_tokens=50))

    assert CACHED.cost_of(usage) == 10


@pytest.mark.parametrize(
    ("price", "left", "prompt", "room"),
    [
        (PLAIN, 100, 0, 12),
        (PLAIN, 100, 10, 10),
        (PLAIN, 100, 50, 0),
        (PLAIN, 0, 0, 0),
        (PLAIN, -3, 0, 0),
        (Price(input=999_999, output=1), 1, 1, 1),
        (FREE, 0, 10, None),
        (FREE, -1, 0, 0),
        (Price(input=1_000_000, output=0), 10, 9, None),
        (Price(input=1_000_000, output=0), 10, 10, 0),
    ],
)
def test_what_is_left_buys_so_many_tokens(
    price: Price, left: int, prompt: int, room: int | None
) -> None:
    """`None` is any number."""
    assert room == price.output_within(left, prompt)


@given(PRICES, st.integers(0, 10_000), TOKENS)
def test_what_is_bought_is_paid(price: Price, left: int, prompt: int) -> None:
    room = price.output_within(left, prompt)

    assert not room or price.cost_at_most(prompt, room) <= left


@given(PRICES, usages())
def test_no_reply_costs_more_than_its_tokens_may(price: Price, usage: Usage) -> None:
    cost = price.cost_of(usage)
    details, given_tokens = usage.input_token_details, usage.input_tokens or 0
    cached = (details.cache_read_tokens or 0) + (details.cache_write_tokens or 0)
    said = max(usage.output_tokens or 0, usage.output_token_details.reasoning_tokens or 0)

    assert cost is None or 0 <= cost <= price.cost_at_most(max(given_tokens, cached), said)


@pytest.mark.parametrize("name", ["input", "output", "cache_read", "cache_write", "reasoning"])
@pytest.mark.parametrize("figure", [-1, 2.5, True, "3"])
def test_a_price_is_a_whole_number(name: str, figure: object) -> None:
    """Floats would add up to another sum in another order."""
    options: dict[str, Any] = {"input": 0, "output": 0, name: figure}
    with pytest.raises(UsageError) as caught:
        Price(**options)

    assert str(caught.value) == (
        f"Price.{name}: expected a whole number of micro-units that is not negative, got "
        f"{figure!r}; 2.50 per million tokens are 2_500_000"
    )
