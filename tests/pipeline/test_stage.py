"""What each combinator comes to."""

import functools
from collections.abc import Iterator
from typing import Literal, final

import anyio
import anyio.lowlevel
import pytest
from attrs import frozen

import stepfold as sf
from stepfold.pipeline import Verdict
from stepfold.testing import VirtualClock


@sf.stage
def half(number: int) -> sf.Outcome[int, str]:
    return sf.Failure(f"{number} is odd") if number % 2 else sf.Success(number // 2)


@sf.stage
async def doubled(number: int) -> int:
    await anyio.lowlevel.checkpoint()
    return 2 * number


# --- one after the other ----------------------------------------------------------------------


async def test_a_success_goes_on_and_a_failure_does_not() -> None:
    pipeline = half >> doubled

    assert await pipeline.run(4) == sf.Success(4)
    assert await pipeline.run(3) == sf.Failure("3 is odd")


async def test_functions_of_all_kinds_are_stages() -> None:
    @final
    @frozen
    class Adder:
        by: int

        def __call__(self, number: int) -> int:
            return number + self.by

        async def later(self, number: int) -> sf.Outcome[int, str]:
            return sf.Success(number + self.by)

    def add(number: int, by: int = 1) -> int:
        return number + by

    @sf.tool
    def added(number: int) -> sf.Outcome[int, str]:
        """Add two."""
        return sf.Success(number + 2)

    async def unannotated(number):  # type: ignore[no-untyped-def]
        return sf.Success(number)

    assert await sf.stage(add).run(1) == sf.Success(2)
    assert await sf.stage(functools.partial(add, by=2)).run(1) == sf.Success(3)
    assert await sf.stage(Adder(1)).run(1) == sf.Success(2)
    assert await sf.stage(Adder(1).later).run(1) == sf.Success(2)
    assert await sf.stage(Adder).run(1) == sf.Success(Adder(1))
    assert await sf.stage(added).run(1) == sf.Success(3)
    assert await sf.stage(unannotated).run(1) == sf.Success(1)
    assert await sf.stage(str).run(1) == sf.Success("1")


async def test_an_annotated_value_that_is_an_outcome_stays_one() -> None:
    def keep(number: int) -> object:
        return sf.Success(number)

    assert await sf.stage(keep).run(1) == sf.Success(sf.Success(1))
    assert await sf.given(int).map(sf.Success).run(1) == sf.Success(sf.Success(1))


async def test_map_bind_and_tap() -> None:
    seen: list[int] = []

    async def note(number: int) -> None:
        seen.append(number)

    pipeline = half.map(lambda n: n + 1).tap(seen.append).tap(note).bind(lambda n: sf.Success(-n))

    assert await pipeline.run(4) == sf.Success(-3)
    assert seen == [3, 3]


async def test_guard_and_narrow_fail_with_what_they_are_told() -> None:
    positive = sf.given(int).guard(lambda n: n > 0, lambda n: f"{n} is too small")

    @sf.stage
    def shown(number: int) -> int | str:
        return number or "none"

    text = shown.narrow(str, lambda n: n)

    assert await positive.run(1) == sf.Success(1)
    assert await positive.run(0) == sf.Failure("0 is too small")
    assert await text.run(0) == sf.Success("none")
    assert await text.run(3) == sf.Failure(3)


# --- failures ---------------------------------------------------------------------------------


async def test_failures_are_mapped_recovered_and_handed_over() -> None:
    assert await half.map_failure(len).run(3) == sf.Failure(8)
    assert await half.recover(len).run(3) == sf.Success(8)
    assert await half.recover(len).run(4) == sf.Success(2)
    assert await half.recover_with(sf.pure(len) >> doubled).run(3) == sf.Success(16)
    assert await half.recover_with(sf.fallible(sf.Failure)).run(3) == sf.Failure("3 is odd")


async def test_what_catches_on_the_right_does_not_catch_failures_of_the_left() -> None:
    assert await (half >> half.recover(len)).run(3) == sf.Failure("3 is odd")
    assert await (half >> half.recover(len)).run(2) == sf.Success(8)
    assert await half.then(half).recover(len).run(3) == sf.Success(8)


async def test_fallback_begins_with_the_same_input() -> None:
    assert await (doubled >> half >> half).fallback(sf.pure(lambda n: -n)).run(3) == sf.Success(-3)
    assert await half.fallback(half.map_failure(len)).run(3) == sf.Failure(8)


async def test_retry_begins_again_until_it_succeeds_or_the_attempts_are_used_up() -> None:
    tries: list[int] = []

    async def third_time(number: int) -> sf.Outcome[int, str]:
        tries.append(number)
        return sf.Success(number) if len(tries) % 3 == 0 else sf.Failure(f"try {len(tries)}")

    flaky = sf.given(int).map(lambda n: n + 1) >> sf.stage(third_time)

    assert await flaky.retry(3).run(1) == sf.Success(2)
    assert await flaky.retry(2).run(1) == sf.Failure("try 5")
    assert tries == [2] * 5


async def test_retry_with_a_policy_pauses_longer_each_time() -> None:
    clock, times = VirtualClock(), list[int]()

    def never(number: int) -> sf.Outcome[int, str]:
        times.append(clock.now())
        return sf.Failure("no")

    policy = sf.RetryPolicy(max_retries=2, initial_delay=1, factor=3, jitter=0)

    assert await sf.fallible(never).retry(policy).run(1, clock=clock) == sf.Failure("no")
    first, second, third = times
    assert (second - first, third - second) == (1_000_000_000, 3_000_000_000)


# --- choices ----------------------------------------------------------------------------------


@final
@frozen
class Cat:
    lives: int


@final
@frozen
class Dog:
    name: str


async def test_branch_takes_the_case_that_a_value_is_of() -> None:
    lives = sf.stage(lambda cat: cat.lives)
    handle = sf.branch(
        sf.case(Cat).then(lives)
        | sf.case(Dog).then(sf.pure(lambda dog: dog.name))
        | sf.case(Literal["fish", 1]).then(sf.pure(repr))
        | sf.case(None).then(sf.pure(lambda _: "nothing"))
    )

    assert await handle.run(Cat(9)) == sf.Success(9)
    assert await handle.run(Dog("Rex")) == sf.Success("Rex")
    assert await handle.run("fish") == sf.Success("'fish'")
    assert await handle.run(None) == sf.Success("nothing")


async def test_a_value_that_no_case_is_for_is_a_defect() -> None:
    handle = sf.branch(sf.case(Literal[1]).then(doubled))

    with pytest.raises(sf.StageCrashed, match=r"expected a value of 1, got a bool"):
        await handle.run(True)  # type: ignore[arg-type]


async def test_when_takes_the_first_that_holds() -> None:
    def positive(number: int) -> bool:
        return number > 0

    sign = (
        sf.when(positive, sf.pure(lambda _: "+"))
        .when(lambda n: n < 0, sf.pure(lambda _: "-"))
        .otherwise(half)
    )

    assert [await sign.run(n) for n in (1, -1, 0)] == [
        sf.Success("+"),
        sf.Success("-"),
        sf.Success(0),
    ]


# --- again and again --------------------------------------------------------------------------


async def test_loops_end_when_told_to_or_at_their_bound() -> None:
    until = sf.given(int).loop_until(doubled, lambda n: n > 10, at_most=3)
    during = sf.given(int).loop_while(doubled, lambda n: n <= 10, at_most=3)

    for loop in (until, during):
        assert await loop.run(2) == sf.Success(16)
        assert await loop.run(20) == sf.Success(20)
        assert await loop.run(1) == sf.Failure(sf.BoundReached(3, 8))


async def test_a_failure_in_a_loop_is_that_of_the_whole() -> None:
    loop = sf.given(int).loop_until(half, lambda n: n == 0, at_most=9)

    assert await loop.map_failure(str).map(str).run(12) == sf.Failure("3 is odd")


async def test_a_draft_is_improved_until_it_is_accepted() -> None:
    @sf.stage
    def judge(draft: str) -> Verdict[int]:
        return sf.Accepted() if len(draft) >= 3 else sf.Improve(3 - len(draft))

    @sf.stage
    async def lengthen(revision: sf.Revision[str, int]) -> str:
        return f"{revision.draft}{revision.feedback}"

    def writing(at_most: int) -> sf.Stage[str, str, sf.BoundReached[str]]:
        return sf.given(str).improve_until_accepted(judge, lengthen, at_most=at_most)

    assert await writing(2).run("a") == sf.Success("a21")
    assert await writing(2).run("abc") == sf.Success("abc")
    assert await writing(1).run("a") == sf.Failure(sf.BoundReached(1, "a2"))


# --- side by side -----------------------------------------------------------------------------


async def test_parallel_gives_a_tuple_in_order() -> None:
    @sf.stage
    async def late(number: int) -> int:
        await anyio.sleep(0.01)
        return -number

    assert await sf.parallel(late & half & doubled).run(2) == sf.Success((-2, 1, 4))
    assert await sf.parallel_all([late, doubled]).run(1) == sf.Success((-1, 2))
    assert await sf.parallel_all(list[sf.Stage[int, int, str]]()).run(1) == sf.Success(())


async def test_map_each_keeps_order_and_its_bound() -> None:
    running, most = 0, 0

    @sf.stage
    async def watched(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.001 * (5 - number % 5))
        running -= 1
        return -number

    def numbers(count: int) -> Iterator[int]:
        yield from range(count)

    pipeline = sf.stage(numbers).map_each(watched, limit=3)

    assert await pipeline.run(10) == sf.Success(tuple(range(0, -10, -1)))
    assert most == 3
    assert await pipeline.run(0) == sf.Success(())


async def test_map_each_begins_no_more_after_a_failure() -> None:
    seen: list[int] = []
    pipeline = sf.given(list[int]).map_each(sf.given(int).tap(seen.append) >> half, limit=1)

    assert await pipeline.run([2, 3, 4]) == sf.Failure("3 is odd")
    assert seen == [2, 3]


async def test_settle_each_gives_every_outcome() -> None:
    pipeline = sf.given(list[int]).settle_each(half, limit=2)

    assert await pipeline.run([2, 3]) == sf.Success((sf.Success(1), sf.Failure("3 is odd")))


async def test_items_that_cannot_be_read_are_a_defect() -> None:
    def broken() -> Iterator[int]:
        yield 1
        msg = "no more"
        raise OSError(msg)

    with pytest.raises(sf.StageCrashed, match="items raised OSError: no more"):
        await sf.given(object).map(lambda _: broken()).map_each(half, limit=1).run(None)


async def test_the_first_success_wins_a_race() -> None:
    assert await half.race(doubled).race(sf.pure(lambda n: -n)).run(3) == sf.Success(-3)
    assert await half.race(half.map_failure(len)).run(3) == sf.Failure("3 is odd")


async def test_sleep_gives_what_was_given() -> None:
    clock = VirtualClock()
    before = clock.now()

    slept: sf.Stage[str, str, object] = sf.sleep(60)

    assert await slept.run("x", clock=clock) == sf.Success("x")
    assert clock.now() - before == 60_000_000_000


# --- stages are values ------------------------------------------------------------------------


def test_stages_that_are_wired_alike_are_equal() -> None:
    assert half.retry(2).timeout(1) == half.retry(2).timeout(1)
    assert half.retry(2) != half.retry(3)
    assert half.then(doubled) != doubled.then(half)
    assert len({half >> doubled, half.then(doubled)}) == 1
    assert half != 3


async def test_a_thousand_stages_neither_recurse_when_built_nor_after() -> None:
    chain = nested = sf.given(int)
    for _ in range(1_000):
        chain = chain.map(abs).then(sf.pure(abs)).recover(lambda never: never)
        nested = nested.timeout(9).recover(lambda _: 0).named("again")

    assert await chain.run(-1) == sf.Success(1)
    assert await nested.run(1) == sf.Success(1)
    assert hash(chain) != hash(nested)
    assert chain != nested
    assert repr(chain)


async def test_value_gives_what_cannot_fail() -> None:
    assert await doubled.value(2) == 4
