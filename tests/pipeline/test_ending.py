"""Pipelines that are ended from beside them, or whose time is up."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

import stepfold as sf
from stepfold.durable import MemoryStore
from stepfold.testing import VirtualClock


class Watched:
    """Stages that tell what became of them."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.hanging = anyio.Event()

    def hangs(self, name: str) -> sf.Stage[str, str, object]:
        """A stage that never ends by itself, and takes its time to end when it is cancelled."""

        async def hang(text: str) -> str:
            self.told.append(f"{name} began")
            self.hanging.set()
            try:
                await anyio.sleep_forever()
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.lowlevel.checkpoint()
                    self.told.append(f"{name} ended")
            return text

        return sf.stage(hang)

    def waits(self, name: str, until: anyio.Event) -> sf.Stage[str, str, object]:
        """A stage that ends when an event is set."""

        async def wait(text: str) -> str:
            self.told.append(f"{name} began")
            self.hanging.set()
            await until.wait()
            self.told.append(f"{name} ended")
            return text

        return sf.stage(wait)

    def notes(self, name: str) -> sf.Stage[str, str, object]:
        """A stage that is quick."""

        async def note(text: str) -> str:
            self.told.append(name)
            return text

        return sf.stage(note)


@asynccontextmanager
async def called_when_hanging(
    watched: Watched, cancel: sf.CancelHandle, *, after_step: bool = False
) -> AsyncIterator[None]:
    async def call() -> None:
        await watched.hanging.wait()
        await anyio.lowlevel.checkpoint()
        cancel("enough", after_step=after_step)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            yield


@pytest.mark.parametrize("size", [1, 3])
async def test_a_run_ends_when_it_is_asked_to(size: int) -> None:
    """What is in flight has ended before the run has, and what would follow does not begin."""
    watched, cancel = Watched(), sf.CancelHandle()
    hanging = sf.parallel_all([watched.hangs(str(number)) for number in range(size)])
    pipeline = watched.notes("first") >> hanging.map(str) >> watched.notes("never")

    async with called_when_hanging(watched, cancel):
        with pytest.raises(sf.PipelineCancelled, match="cancelled: enough") as got:
            await pipeline.run("x", cancel=cancel)

    assert got.value.run.end == sf.Cancelled("enough")
    assert watched.told[0] == "first"
    assert sorted(watched.told[1 : 1 + size]) == [f"{number} began" for number in range(size)]
    assert sorted(watched.told[1 + size :]) == [f"{number} ended" for number in range(size)]


async def test_a_run_that_was_cancelled_before_begins_nothing() -> None:
    watched, cancel = Watched(), sf.CancelHandle()
    cancel("never mind")

    with pytest.raises(sf.PipelineCancelled, match="never mind"):
        await watched.notes("first").run("x", cancel=cancel)

    assert watched.told == []


async def test_a_stage_may_end_its_own_run() -> None:
    watched, cancel = Watched(), sf.CancelHandle()

    @sf.stage
    def ends(text: str) -> str:
        cancel("I am done")
        return text

    with pytest.raises(sf.PipelineCancelled, match="I am done"):
        await (ends >> watched.notes("never")).run("x", cancel=cancel)

    assert watched.told == []


async def test_after_a_stage_those_in_flight_come_to_their_end() -> None:
    watched, cancel, until = Watched(), sf.CancelHandle(), anyio.Event()
    waiting = watched.waits("slow", until) >> watched.notes("never")
    pipeline = sf.given(str).parallel(
        waiting & sf.given(str).then(sf.sleep(60)).then(watched.notes("never"))
    )

    async def release() -> None:
        await watched.hanging.wait()
        cancel("enough", after_step=True)
        await anyio.sleep(0.01)
        watched.told.append("still there")
        until.set()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(release)
            with pytest.raises(sf.PipelineCancelled, match="enough"):
                await pipeline.run("x", cancel=cancel)

    assert watched.told == ["slow began", "still there", "slow ended"]


async def test_after_a_stage_a_pause_is_no_stage() -> None:
    watched, cancel = Watched(), sf.CancelHandle()

    @sf.stage
    async def soon(text: str) -> str:
        watched.hanging.set()
        return text

    async with called_when_hanging(watched, cancel, after_step=True):
        with pytest.raises(sf.PipelineCancelled, match="enough"):
            await soon.then(sf.sleep(60)).run("x", cancel=cancel)


async def test_time_is_up() -> None:
    watched = Watched()
    pipeline = watched.notes("first") >> watched.hangs("slow") >> watched.notes("never")

    with anyio.fail_after(5), pytest.raises(sf.PipelineCancelled, match=r"limit of 0\.05 s") as got:
        await pipeline.run("x", timeout=0.05)

    assert isinstance(got.value.run.end, sf.Cancelled)
    assert watched.told == ["first", "slow began", "slow ended"]


async def test_time_is_that_of_the_clock_of_the_run() -> None:
    watched = Watched()
    slow = sf.given(str).then(sf.sleep(30)).then(watched.notes("half"))
    pipeline = slow.then(sf.sleep(40)).then(watched.notes("never"))

    with pytest.raises(sf.PipelineCancelled, match="limit of 60 s"):
        await pipeline.run("x", timeout=60, clock=VirtualClock())

    assert watched.told == ["half"]
    assert await pipeline.run("x", timeout=80, clock=VirtualClock()) == sf.Success("x")


async def test_what_ends_in_time_is_not_touched() -> None:
    pipeline = sf.stage(anyio.sleep).parallel(sf.given(object) & sf.given(object))

    outcome = await pipeline.run(0.001, timeout=60, cancel=sf.CancelHandle())

    assert outcome == sf.Success((None, None))


async def test_all_that_was_finished_is_kept() -> None:
    """In a journal the end is written down, and the run is not taken up again."""
    store, watched, cancel = MemoryStore(), Watched(), sf.CancelHandle()
    pipeline = sf.given(str).then(watched.notes("first")).then(watched.hangs("slow"))

    async with called_when_hanging(watched, cancel):
        run = await pipeline.start("x", journal=store, run_id="r", cancel=cancel)

    assert run.end == sf.Cancelled("enough")
    assert (await pipeline.resume("r", journal=store)).end == run.end
    assert watched.told == ["first", "slow began", "slow ended"]
    (stored,) = await store.list_runs()
    assert stored.status == "cancelled"
    assert b'"succeeded"' in (await store.read("r")).unwrap().records[2]


async def test_a_run_that_was_suspended_has_a_time_limit_too() -> None:
    store, watched = MemoryStore(), Watched()
    asking = sf.await_input(str, name="text", ask=str)
    pipeline = sf.given(str).then(asking).then(watched.hangs("slow"))
    await pipeline.start("x", journal=store, run_id="r", timeout=60)

    with anyio.fail_after(5):
        run = await pipeline.resume("r", {"text": "y"}, journal=store, timeout=0.05)

    assert isinstance(run.end, sf.Cancelled)
    assert watched.told == ["slow began", "slow ended"]


async def test_a_run_that_is_cancelled_from_outside_is_written_down_as_such() -> None:
    store, watched = MemoryStore(), Watched()
    pipeline = sf.given(str).parallel(watched.hangs("a") & watched.hangs("b"))

    with anyio.move_on_after(0.05):
        await pipeline.start("x", journal=store, run_id="r")

    run = await pipeline.resume("r", journal=store)
    assert run.end == sf.Cancelled("cancelled by the caller")
    assert sorted(watched.told[2:]) == ["a ended", "b ended"]


async def test_what_was_issued_and_has_not_begun_does_not_begin() -> None:
    """A fan that has failed runs none of its other stages."""
    watched = Watched()

    @sf.stage
    def fails(text: str) -> sf.Outcome[str, str]:
        return sf.Failure(text)

    @sf.stage
    def noted(text: str) -> str:
        watched.told.append(text)
        return text

    outcome = await sf.parallel_all([fails, noted, noted]).run("x")

    assert outcome == sf.Failure("x")
    assert watched.told == []


async def test_ends_are_checked() -> None:
    with pytest.raises(sf.UsageError, match="cancel: expected a CancelHandle, got 'now'"):
        await sf.given(str).run("x", cancel="now")  # type: ignore[arg-type]
    with pytest.raises(sf.UsageError, match="timeout: expected a finite number of seconds, got -1"):
        await sf.given(str).run("x", timeout=-1)
