"""Streamed runs are held like all others: one worker at a time, and taken over when it is gone."""

import time

import anyio
import pytest

import stepfold as sf
from stepfold import durable
from stepfold.durable import HandedOver, HandOver, MemoryStore
from stepfold.ports import JournalConflict, JournalError, LeaseHeld
from stepfold.testing import ScriptedModel, reply
from stepfold.testing.laws import same_run
from stepfold.values import TextDelta, UsageError
from tests.durable._runs import agent_of

WORDS = ScriptedModel([reply("A few words.")], chunk_size=3, by_step=True)


async def test_a_streamed_run_is_the_run_and_is_kept() -> None:
    store = MemoryStore()

    async with durable.stream(sf.Agent(model=WORDS), store, "Go", run_id="run") as stream:
        text = "".join([part.delta async for part in stream if isinstance(part, TextDelta)])

    assert text == "A few words."
    kept = await durable.resume(sf.Agent(model=WORDS), store, "run")
    assert kept.text == text
    [told] = await store.list_runs()
    assert told.status == "completed"


async def test_nobody_else_works_on_it_while_it_is_streamed() -> None:
    store, agent = MemoryStore(), agent_of()

    async with durable.stream(agent, store, "Go", run_id="run", lease_seconds=0.3) as stream:
        await anyio.sleep(0.5)  # longer than a lease that is not renewed
        with pytest.raises(JournalError) as raised:
            await durable.run(agent, store, "Go", run_id="run")
        async for _ in stream:
            pass

    assert isinstance(raised.value.fault, LeaseHeld)
    same_run(
        (await durable.resume(agent, store, "run")).state,
        (await agent_of().generate("Go", run_id="run")).state,
    )


async def test_who_has_lost_the_run_changes_nothing_any_more() -> None:
    store, agent = MemoryStore(), agent_of()

    async def stolen() -> None:
        async with durable.stream(agent, store, "Go", run_id="run", lease_seconds=0.1) as stream:
            await stream.__anext__()
            now = time.time_ns()
            lease = await store.claim("run", "another", now=2 * now, until=3 * now)
            assert lease.unwrap().token == 2
            await anyio.sleep(0.2)
            async for _ in stream:
                pass

    with pytest.raises(JournalError) as raised:
        await stolen()

    assert isinstance(raised.value.fault, LeaseHeld)
    assert [run.status for run in await store.list_runs()] == ["running"]


async def test_an_error_in_the_block_comes_out_as_it_is_and_the_lease_is_given_back() -> None:
    store, agent = MemoryStore(), agent_of()

    with pytest.raises(ZeroDivisionError):
        async with durable.stream(agent, store, "Go", run_id="run"):
            raise ZeroDivisionError

    run = await durable.resume(agent, store, "run")
    assert isinstance(run.end, sf.Cancelled)


async def test_a_stream_that_is_handed_over_is_left_as_it_is() -> None:
    store, agent, hand_over = MemoryStore(), agent_of(), HandOver()

    async with durable.stream(agent, store, "Go", run_id="run", hand_over=hand_over) as stream:
        await stream.__anext__()
        hand_over()
        async for _ in stream:
            pass

    run = await durable.resume(agent, store, "run")
    assert isinstance(run.end, sf.Completed)
    with pytest.raises(HandedOver):
        async with durable.stream(agent, store, "Go", run_id="new", hand_over=hand_over):
            pass


async def test_a_name_is_used_once() -> None:
    store, agent = MemoryStore(), agent_of()
    await durable.run(agent, store, "Go", run_id="run")

    with pytest.raises(JournalError) as raised:
        async with durable.stream(agent, store, "Go", run_id="run"):
            pass

    assert isinstance(raised.value.fault, JournalConflict)
    with pytest.raises(UsageError, match="run_id: expected"):
        async with durable.stream(agent, store, "Go", run_id=""):
            pass
    with pytest.raises(UsageError, match="lease_seconds: expected"):
        async with durable.stream(agent, store, "Go", run_id="new", lease_seconds=0):
            pass
