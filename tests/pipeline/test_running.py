"""How pipelines are driven: in time, side by side, and to nothing left behind."""

from typing import Any

import anyio
import anyio.lowlevel
import pytest

import stepfold as sf
from stepfold.pipeline import notes
from tests.pipeline._watched import Watched


async def test_siblings_of_a_failure_are_cancelled_and_awaited() -> None:
    watched = Watched()

    @sf.stage
    async def fails(number: int) -> sf.Outcome[int, str]:
        await watched.all_begun(2)
        return sf.Failure("no")

    fan = sf.parallel(watched.stage & watched.stage & fails)

    assert await fan.run(1) == sf.Failure("no")
    assert watched.ends == ["cancelled", "cancelled"]


async def test_the_loser_of_a_race_is_cancelled_and_awaited() -> None:
    watched = Watched()

    @sf.stage
    async def wins(number: int) -> int:
        await watched.all_begun(1)
        return number

    assert await watched.stage.race(wins).run(1) == sf.Success(1)
    assert watched.ends == ["cancelled"]


async def test_a_branch_that_has_nothing_to_do_ends_at_once() -> None:
    watched = Watched()
    each = sf.given(list[int]).map_each(sf.identity(), limit=1)

    assert await watched.stage.race(sf.identity()).run(1) == sf.Success(1)
    assert watched.ends == []
    assert await each.run([1, 2]) == sf.Success((1, 2))


async def test_what_takes_too_long_is_cancelled_and_awaited() -> None:
    watched = Watched()

    assert await watched.stage.timeout(0.02).run(1) == sf.Failure(sf.TimedOut(0.02))
    both = sf.parallel(watched.stage & watched.stage).timeout(0.02)
    assert await both.run(1) == sf.Failure(sf.TimedOut(0.02))
    assert watched.ends == ["cancelled"] * 3


async def test_the_outermost_time_that_is_up_counts() -> None:
    watched = Watched()
    inner = watched.stage.timeout(30).recover(lambda _: 0)

    assert await inner.timeout(0.02).run(1) == sf.Failure(sf.TimedOut(0.02))
    assert await watched.stage.timeout(0.02).timeout(30).run(1) == sf.Failure(sf.TimedOut(0.02))


async def test_what_comes_too_late_is_dropped() -> None:
    @sf.stage
    async def shrugs(number: int) -> int:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.03)
        return number

    assert await shrugs.timeout(0.01).run(1) == sf.Failure(sf.TimedOut(0.01))


async def test_a_pause_is_cut_short_by_a_deadline() -> None:
    slow = sf.given(int).then(sf.sleep(60)).timeout(0.02)

    with anyio.fail_after(5):
        assert await slow.run(1) == sf.Failure(sf.TimedOut(0.02))


async def test_what_a_stage_raises_is_a_defect_and_no_failure() -> None:
    watched = Watched()

    @sf.stage
    async def breaks(number: int) -> sf.Outcome[int, str]:
        await watched.all_begun(1)
        raise LookupError("no such number")

    pipeline = sf.parallel(watched.stage & breaks.named("lookup")).recover(lambda _: (0, 0))

    with pytest.raises(sf.StageCrashed, match="the stage lookup/breaks raised LookupError") as got:
        await pipeline.run(1)
    assert isinstance(got.value.__cause__, LookupError)
    assert got.value.run.end == sf.Crashed("lookup/breaks", "LookupError", "no such number")
    assert watched.ends == ["cancelled"]


async def test_a_defect_while_others_are_cancelled_is_not_lost() -> None:
    @sf.stage
    async def breaks_when_cancelled(number: int) -> int:
        try:
            await anyio.sleep(60)
        except anyio.get_cancelled_exc_class():
            raise LookupError("in a hurry") from None
        return number

    @sf.stage
    async def fails(number: int) -> sf.Outcome[int, str]:
        await anyio.sleep(0.01)
        return sf.Failure("no")

    with pytest.raises(sf.StageCrashed, match="in a hurry"):
        await sf.parallel(breaks_when_cancelled & fails).run(1)


async def test_cancellation_from_outside_goes_through() -> None:
    watched = Watched()

    with anyio.move_on_after(0.02) as scope:
        await sf.parallel(watched.stage & watched.stage).run(1)

    assert scope.cancelled_caught
    assert watched.ends == ["cancelled", "cancelled"]


async def test_a_cancellation_that_nobody_asked_for_is_a_defect() -> None:
    @sf.stage
    async def odd(number: int) -> int:
        raise anyio.get_cancelled_exc_class()

    if anyio.get_cancelled_exc_class().__name__ == "Cancelled":
        return  # trio lets nobody make one
    with pytest.raises(sf.StageCrashed, match="nobody had asked for"):
        await odd.run(1)


async def test_an_exit_goes_through_as_it_is() -> None:
    @sf.stage
    async def leaves(number: int) -> int:
        await anyio.lowlevel.checkpoint()
        raise KeyboardInterrupt

    watched = Watched()
    with pytest.raises(KeyboardInterrupt):
        await sf.parallel(watched.stage & leaves).run(1)


async def test_a_coroutine_where_a_value_belongs_is_a_defect() -> None:
    async def later(number: int) -> int:
        return number

    with pytest.raises(sf.StageCrashed, match="gave a coroutine where a value was expected"):
        await sf.given(int).map(lambda n: later(n)).run(1)  # noqa: PLW0108


async def test_an_outcome_that_is_none_is_a_defect() -> None:
    with pytest.raises(sf.StageCrashed, match="expected a Success or a Failure, got int"):
        await sf.given(int).bind(lambda n: n).run(1)  # type: ignore[arg-type, return-value]


async def test_a_verdict_that_is_none_is_a_defect() -> None:
    judge: Any = sf.stage(str)
    writing = sf.given(str).improve_until_accepted(judge, judge, at_most=1)

    with pytest.raises(sf.StageCrashed, match="expected Accepted or Improve, got str"):
        await writing.run("a")


def absolute(number: int) -> int:
    return abs(number)


async def test_observers_are_told_all_in_order() -> None:
    seen: list[object] = []
    pipeline = sf.given(int).parallel(sf.stage(absolute) & sf.stage(str).named("text"))

    await pipeline.run(1, observers=[seen.append, lambda _: None])

    told = [(type(note).__name__, getattr(note, "stage", "")) for note in seen]
    assert told == [
        ("FanStarted", "parallel"),
        ("StageStarted", "absolute"),
        ("StageStarted", "text/str"),
        ("StageFinished", "absolute"),
        ("BranchFinished", ""),
        ("StageFinished", "text/str"),
        ("BranchFinished", ""),
        ("FanFinished", "parallel"),
        ("PipelineEnded", ""),
    ]
    assert isinstance(seen[-1], notes.PipelineEnded)
    assert seen[-1].end == sf.Finished(sf.Success((1, "1")))


async def test_an_option_that_is_not_known_is_refused() -> None:
    with pytest.raises(sf.UsageError, match="got the option 'retries'"):
        await sf.given(int).run(1, retries=3)  # type: ignore[call-arg]
