"""Law 17, and the laws of each combinator, beside a reference that only knows outcomes."""

import itertools
from collections.abc import Callable, Iterator
from itertools import product
from typing import TypeAlias, final

import anyio
import pytest
from attrs import frozen
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import stepfold as sf
from stepfold.durable import MemoryStore
from stepfold.pipeline import Stage
from stepfold.ports import JournalRecord
from stepfold.testing import VirtualClock, laws

Numbers: TypeAlias = Stage[int, int, int]
"""Pipelines over numbers, whose failures are numbers as well."""

Possible: TypeAlias = frozenset[tuple[bool, int]]
"""Every outcome that some order of events may lead to: whether it is a success, and its number."""


@final
@frozen
class Drawn:
    """A pipeline, and what the reference says about it."""

    stage: Numbers
    outcomes: Callable[[int], Possible]


def yes(value: int) -> Possible:
    return frozenset({(True, value)})


def no(value: int) -> Possible:
    return frozenset({(False, value)})


def each(
    outcomes: Possible, success: Callable[[int], Possible], failure: Callable[[int], Possible]
) -> Possible:
    """Go on from every outcome."""
    found = ((success if is_success else failure)(value) for is_success, value in outcomes)
    return frozenset(one for possible in found for one in possible)


# --- one leaf, and what is made of one pipeline -----------------------------------------------


def added(number: int) -> Drawn:
    def add(value: int) -> sf.Outcome[int, int]:
        return sf.Success(value + number)

    return Drawn(sf.fallible(add), lambda it: yes(it + number))


def failing(number: int) -> Drawn:
    def check(value: int) -> sf.Outcome[int, int]:
        return sf.Failure(value) if value % number == 0 else sf.Success(value)

    return Drawn(sf.fallible(check), lambda it: no(it) if it % number == 0 else yes(it))


def in_sequence(one: Drawn, two: Drawn) -> Drawn:
    return Drawn(one.stage >> two.stage, lambda it: each(one.outcomes(it), two.outcomes, no))


def recovered(one: Drawn, two: Drawn) -> Drawn:
    return Drawn(
        one.stage.recover_with(two.stage), lambda it: each(one.outcomes(it), yes, two.outcomes)
    )


def failure_mapped(one: Drawn, number: int) -> Drawn:
    def mapped(error: int) -> int:
        return error + number

    return Drawn(
        one.stage.map_failure(mapped),
        lambda it: each(one.outcomes(it), yes, lambda error: no(error + number)),
    )


def fallen_back(one: Drawn, two: Drawn) -> Drawn:
    return Drawn(
        one.stage.fallback(two.stage),
        lambda it: each(one.outcomes(it), yes, lambda _: two.outcomes(it)),
    )


def retried(one: Drawn, attempts: int) -> Drawn:
    policy = sf.RetryPolicy(max_retries=attempts, initial_delay=0)
    return Drawn(one.stage.retry(policy), one.outcomes)


def timed(one: Drawn) -> Drawn:
    def plain(error: int | sf.TimedOut) -> int:
        return error if isinstance(error, int) else -1

    return Drawn(one.stage.timeout(1e6).map_failure(plain), one.outcomes)


def chosen(one: Drawn, two: Drawn) -> Drawn:
    return Drawn(
        sf.when(lambda it: it % 2 == 0, one.stage).otherwise(two.stage),
        lambda it: (two if it % 2 else one).outcomes(it),
    )


def looped(one: Drawn, at_most: int) -> Drawn:
    def outcomes(it: int) -> Possible:
        found: set[tuple[bool, int]] = set()
        rounds: Possible = yes(it)
        for count in range(at_most + 1):
            found |= {found_one for found_one in rounds if not found_one[0]}
            going = {value for is_success, value in rounds if is_success}
            found |= {(True, value) for value in going if value % 3 == 0}
            left = {value for value in going if value % 3}
            if count == at_most:
                found |= {(False, value) for value in left}
            rounds = frozenset(one_more for value in left for one_more in one.outcomes(value))
        return frozenset(found)

    def plain(error: int | sf.BoundReached[int]) -> int:
        return error if isinstance(error, int) else error.last

    looping = sf.given(int).loop_until(one.stage, lambda it: it % 3 == 0, at_most=at_most)
    return Drawn(looping.map_failure(plain), outcomes)


# --- side by side -----------------------------------------------------------------------------


def all_of(parts: list[Possible]) -> Possible:
    """The sum of all, or any of the failures."""
    return frozenset(one for together in product(*parts) for one in _all_of_these(list(together)))


def _all_of_these(together: list[tuple[bool, int]]) -> Iterator[tuple[bool, int]]:
    failures = [one for one in together if not one[0]]
    if failures:
        yield from failures
    else:
        yield (True, sum(value for _, value in together))


def added_up(numbers: tuple[int, ...]) -> int:
    return sum(numbers)


def side_by_side(parts: list[Drawn]) -> Drawn:
    return Drawn(
        sf.parallel_all([part.stage for part in parts]).map(added_up),
        lambda it: all_of([part.outcomes(it) for part in parts]),
    )


@sf.stage
def three_listed(number: int) -> list[int]:
    return [number, number + 1, number + 2]


def for_each(one: Drawn, limit: int) -> Drawn:
    return Drawn(
        three_listed.map_each(one.stage, limit=limit).map(added_up),
        lambda it: all_of([one.outcomes(item) for item in (it, it + 1, it + 2)]),
    )


def settled(one: Drawn, limit: int) -> Drawn:
    def weigh(outcomes: tuple[sf.Outcome[int, int], ...]) -> int:
        return sum(sf.fold(outcome, lambda it: it, lambda it: 2 * it) for outcome in outcomes)

    def outcomes(it: int) -> Possible:
        parts = [one.outcomes(item) for item in (it, it + 1, it + 2)]
        return frozenset(
            (True, sum(value if is_success else 2 * value for is_success, value in together))
            for together in product(*parts)
        )

    return Drawn(three_listed.settle_each(one.stage, limit=limit).map(weigh), outcomes)


def raced(one: Drawn, two: Drawn) -> Drawn:
    def outcomes(it: int) -> Possible:
        found: set[tuple[bool, int]] = set()
        for first, second in product(one.outcomes(it), two.outcomes(it)):
            winners = {racer for racer in (first, second) if racer[0]}
            found |= winners or {first}
        return frozenset(found)

    return Drawn(one.stage.race(two.stage), outcomes)


# --- inputs -----------------------------------------------------------------------------------


_names = itertools.count()


def asked() -> Drawn:
    """Asks for a number; whoever answers gives one more than that of the question."""
    asking = sf.await_input(int, name=f"input {next(_names)}", ask=str)
    return Drawn(sf.given(int).then(asking), lambda it: yes(it + 1))


numbers = st.integers(min_value=1, max_value=4)
leaves = st.builds(added, numbers) | st.builds(failing, numbers)


def composed(parts: st.SearchStrategy[Drawn]) -> st.SearchStrategy[Drawn]:
    return (
        st.builds(in_sequence, parts, parts)
        | st.builds(recovered, parts, parts)
        | st.builds(failure_mapped, parts, numbers)
        | st.builds(fallen_back, parts, parts)
        | st.builds(retried, parts, st.just(1))
        | st.builds(timed, parts)
        | st.builds(chosen, parts, parts)
        | st.builds(looped, parts, st.integers(min_value=1, max_value=2))
        | st.builds(side_by_side, st.lists(parts, max_size=3))
        | st.builds(for_each, parts, numbers)
        | st.builds(settled, parts, numbers)
        | st.builds(raced, parts, parts)
    )


pipelines = st.recursive(leaves, composed, max_leaves=5)
asking_pipelines = st.recursive(leaves | st.builds(asked), composed, max_leaves=4)


@given(drawn=pipelines, start=st.integers(min_value=0, max_value=12), data=st.data())
def test_every_order_of_answers_leads_to_a_possible_outcome(
    drawn: Drawn, start: int, data: st.DataObject
) -> None:
    def choose(count: int) -> int:
        return data.draw(st.integers(min_value=0, max_value=count - 1))

    outcome = laws.pipeline_keeps_its_laws(drawn.stage, start, choose)

    told = sf.fold(outcome, lambda it: (True, it), lambda it: (False, it))
    assert told in drawn.outcomes(start)


@given(drawn=pipelines, start=st.integers(min_value=0, max_value=12))
def test_driven_runs_have_a_possible_outcome(drawn: Drawn, start: int) -> None:
    outcome = anyio.run(lambda: drawn.stage.run(start, clock=VirtualClock()))

    told = sf.fold(outcome, lambda it: (True, it), lambda it: (False, it))
    assert told in drawn.outcomes(start)


@given(
    one=pipelines,
    two=pipelines,
    three=pipelines,
    start=st.integers(min_value=0, max_value=12),
    number=numbers,
)
@settings(max_examples=40)
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_stages_compose_lawfully(
    one: Drawn, two: Drawn, three: Drawn, start: int, number: int, backend: str
) -> None:
    together = in_sequence(in_sequence(one, two), three)
    assume(len(together.outcomes(start)) == 1)  # whatever comes first

    async def main() -> None:
        await laws.stages_compose(one.stage, two.stage, three.stage, start)
        await laws.mapping_fuses(one.stage, lambda it: it + number, lambda it: it * number, start)
        await laws.failures_skip(one.stage, start)

    anyio.run(main, backend=backend)


# --- in a store -------------------------------------------------------------------------------


Finished: TypeAlias = sf.PipelineRun[int, int]


async def ended(stage: Numbers, run: Finished, store: MemoryStore) -> tuple[bool, int]:
    """Answer whatever is asked, one input at a time, until the run ends."""
    while isinstance(run.end, sf.Suspended):
        first = run.end.open[0]
        run = await stage.resume("r", {first: int(first.question) + 1}, journal=store)
    assert isinstance(run.end, sf.Finished)
    return sf.fold(run.end.outcome, lambda it: (True, it), lambda it: (False, it))


@given(drawn=asking_pipelines, start=st.integers(min_value=0, max_value=6), data=st.data())
def test_a_run_that_was_suspended_or_killed_anywhere_ends_as_if_it_was_not(
    drawn: Drawn, start: int, data: st.DataObject
) -> None:
    stage = sf.given(int).then(drawn.stage).idempotent()

    async def main() -> None:
        store = MemoryStore()
        run = await stage.start(start, journal=store, run_id="r", seed=0)
        assert await ended(stage, run, store) in drawn.outcomes(start)
        records = (await store.read("r")).unwrap().records
        kept = data.draw(st.integers(min_value=1, max_value=len(records)))
        left = MemoryStore()
        for version, record in enumerate(records[:kept]):
            await left.append("r", JournalRecord(record, 0, "running"), expected=version)
        again = await stage.resume("r", journal=left)
        assert await ended(stage, again, left) in drawn.outcomes(start)

    anyio.run(main)
