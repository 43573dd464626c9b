"""The journal of one run, under every driver; and what it refuses."""

from pathlib import Path

import anyio
import pytest

import stepfold as sf
from stepfold import durable
from stepfold.durable import FileStore, MemoryStore, RunJournal
from stepfold.durable._journal import status_of
from stepfold.loop import command_ids
from stepfold.loop.events import Cancelled
from stepfold.ports import JournalConflict, JournalError, JournalRecord
from stepfold.testing import ScriptedModel, reply
from stepfold.values import Success
from tests.durable._runs import agent_of


def test_a_run_without_an_event_loop_is_kept_as_well(tmp_path: Path) -> None:
    """No thread is used where there is no event loop to be held up."""
    store = FileStore(tmp_path)
    journal = RunJournal(store)
    agent = agent_of()
    first = sf.begin(agent.program, "Go", run="r", seed=1, at=0)
    header = sf.JournalHeader(
        "r",
        1,
        0,
        (sf.UserMessage("Go"),),
        agent.program.fingerprint,
        commands=command_ids(first),
    )
    anyio.run(journal.begin, header)
    state = sf.drive_sync(agent.program, first, agent.runtime(journal=journal))

    recording = anyio.run(durable.recording_of, store, "r").unwrap()
    assert durable.replayed(agent.program, recording).unwrap() == state


async def test_a_journal_is_of_one_run() -> None:
    store = MemoryStore()
    journal = RunJournal(store)
    with pytest.raises(sf.UsageError, match="a run to have begun"):
        await journal.append(sf.JournalEntry(Cancelled("enough", 1)))
    await agent_of().generate("Go", journal=journal, run_id="r")
    with pytest.raises(sf.UsageError, match="got one that holds the run 'r'"):
        await agent_of().generate("Go", journal=journal, run_id="other")

    assert journal.version == (await store.read("r")).unwrap().run.version


async def test_two_who_advance_one_run_do_not_both() -> None:
    """The second one is refused before its event counts, and writes nothing after that."""
    store = MemoryStore()
    await durable.run(agent_of(), store, "Go", run_id="whole")
    await store.fork("whole", "r", at=2)
    one, two = (RunJournal.continued(store, "r", 2, None) for _ in range(2))
    entry = sf.JournalEntry(Cancelled("enough", 1))
    await one.append(entry)
    for _ in range(2):
        with pytest.raises(JournalError) as caught:
            await two.append(entry)
        assert caught.value.fault == JournalConflict("r", 2, 3)
    await one.append(entry)

    assert (await store.read("r")).unwrap().run.version == 4


async def test_a_run_stops_when_another_has_advanced_it() -> None:
    store = MemoryStore()
    stolen = JournalRecord(b"{}", 1, "running")

    async def slow(request: sf.ModelRequest) -> sf.ModelReply:
        assert await store.append("r", stolen, expected=1) == Success(2)
        return reply("Too late.")

    with pytest.raises(JournalError, match="has moved on"):
        await durable.run(sf.Agent(model=ScriptedModel([slow])), store, "Go", run_id="r")

    assert (await store.read("r")).unwrap().records[1:] == (b"{}",)


@pytest.mark.parametrize(
    ("script", "options", "status"),
    [
        ([reply("Done.")], {}, "completed"),
        ([reply("Cut", finish="length")], {}, "stopped"),
        ([sf.ModelErrorReason("quota", "none")], {}, "failed"),
    ],
)
async def test_a_store_knows_where_a_run_stands(
    script: list[object], options: dict[str, object], status: str
) -> None:
    store = MemoryStore()
    agent = sf.Agent(model=ScriptedModel(script), **options)  # type: ignore[arg-type]
    try:
        run = await durable.run(agent, store, "Go", run_id="r")
    except sf.RunFailed as failed:
        run = failed.run  # type: ignore[assignment]

    [told] = await store.list_runs()
    assert told.status == status == status_of(run.state)


async def test_a_cancelled_run_is_kept_as_cancelled() -> None:
    store = MemoryStore()
    with anyio.move_on_after(0.05):

        async def hang(request: sf.ModelRequest) -> sf.ModelReply:
            await anyio.sleep_forever()
            return reply("Never.")

        await durable.run(sf.Agent(model=ScriptedModel([hang])), store, "Go", run_id="r")

    [told] = await store.list_runs()
    assert (told.status, told.leased_until) == ("cancelled", 0)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
async def test_leases_are_long(seconds: float) -> None:
    with pytest.raises(sf.UsageError, match="lease_seconds"):
        await durable.run(agent_of(), MemoryStore(), "Go", run_id="r", lease_seconds=seconds)
    with pytest.raises(sf.UsageError, match="run_id"):
        await durable.run(agent_of(), MemoryStore(), "Go", run_id="")
