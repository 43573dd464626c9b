"""What is measured of a streamed reply: percentiles by nearest rank, rates that are finite."""

import math
from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stepfold.shell._gaps import gaps_of
from stepfold.values import Performance

instants = st.lists(st.integers(0, 10**12), max_size=40).map(sorted)
figures = st.none() | st.integers(0, 10**12)


@given(instants)
def test_percentiles_are_the_smallest_gaps_that_enough_gaps_do_not_exceed(times: list[int]) -> None:
    gaps = [later - earlier for earlier, later in pairwise(times)]
    found = gaps_of(times)

    if not gaps:
        assert found is None
        return
    assert found is not None
    for percent, gap in ((10, found.p10), (50, found.median), (90, found.p90)):
        enough = [
            one
            for one in gaps
            if Fraction(sum(other <= one for other in gaps), len(gaps)) >= Fraction(percent, 100)
        ]
        assert gap == min(enough)
    assert (found.count, found.min, found.max) == (len(gaps), min(gaps), max(gaps))
    assert found.average == math.floor(Fraction(times[-1] - times[0], len(gaps)))


@given(figures, figures, figures, figures, st.integers(0, 10**12))
def test_rates_are_finite_or_absent(
    tokens_in: int | None, out: int | None, first: int | None, rest: int | None, whole: int
) -> None:
    measured = Performance(
        response_time=whole,
        step_time=whole,
        input_tokens=tokens_in,
        output_tokens=out,
        time_to_first_output=first,
        streaming_time=rest,
    )

    for rate, tokens, time in (
        (measured.effective_output_tokens_per_second, out, whole),
        (measured.output_tokens_per_second, out, rest),
        (measured.input_tokens_per_second, tokens_in, first),
    ):
        if tokens is None or not time:
            assert rate is None
        else:
            assert rate is not None
            assert math.isclose(rate * time / 1e9, tokens)
