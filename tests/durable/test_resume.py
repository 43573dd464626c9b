"""Runs are taken up where they were left, by one at a time, from the journal alone."""

from collections.abc import Callable

import anyio
import pytest

import stepfold as sf
from stepfold import durable
from stepfold.durable import MemoryStore, RunJournal, Seal
from stepfold.durable._leasing import Holding, leased
from stepfold.ports import JournalConflict, JournalError, JournalMissing, JournalStore, LeaseHeld
from stepfold.testing import ScriptedModel, call, laws, reply
from tests.durable._runs import agent_of, book, look


async def cut(store: JournalStore, run: str, new: str, at: int) -> None:
    """Leave of a run what a crash after so many records would leave."""
    assert (await store.fork(run, new, at=at)).unwrap() == at


async def test_a_run_ends_the_same_from_every_record_on(
    open_store: Callable[[], JournalStore],
) -> None:
    store = open_store()
    whole = await durable.run(agent_of(), store, "Go", run_id="whole")
    count = (await store.read("whole")).unwrap().run.version
    for at in range(1, count):
        await cut(store, "whole", f"cut-{at}", at)

        run = await durable.resume(agent_of(), open_store(), f"cut-{at}")

        recording = (await durable.recording_of(store, f"cut-{at}")).unwrap()
        assert run.unwrap() == "Done."
        assert durable.replayed(agent_of().program, recording).unwrap() == run.state
        interrupted = {
            error.tool_call_id
            for step in run.steps
            for error in step.tool_errors
            if error.kind == "interrupted"
        }
        laws.resumed_run_is_the_same(whole.state, run.state, frozenset(interrupted))
        assert len(interrupted) <= 1


async def test_what_has_ended_is_given_as_it_is() -> None:
    store = MemoryStore()
    first = await durable.run(agent_of(), store, "Go", run_id="r")
    again = await durable.run(agent_of(), store, "Something else", run_id="r")
    resumed = await durable.resume(agent_of(), store, "r")

    assert first.state == again.state == resumed.state


async def test_idempotent_tools_run_again_under_the_same_key_and_others_do_not() -> None:
    keys: list[str] = []

    @sf.tool(idempotent=True)
    async def again(context: sf.ToolContext[object]) -> str:
        """May run twice."""
        keys.append(context.idempotency_key)
        return "done"

    @sf.tool
    async def once(context: sf.ToolContext[object]) -> str:
        """May not."""
        keys.append(context.idempotency_key)
        return "done"

    def agent() -> sf.Agent:
        script = [reply(call(once, {}), call(again, {})), reply("Done.")]
        return sf.Agent(model=ScriptedModel(script, by_step=True), tools=[again, once])

    store = MemoryStore()
    await durable.run(agent(), store, "Go", run_id="r")
    recording = (await durable.recording_of(store, "r")).unwrap()
    kinds = [type(entry.event).__name__ for entry in recording.entries]
    assert kinds[:2] == ["ModelReplied", "ToolStarted"]
    keys.clear()
    await cut(store, "r", "not started", 2)
    await durable.resume(agent(), store, "not started")
    assert sorted(keys) == ["r/0/0", "r/0/1"]

    keys.clear()
    await cut(store, "r", "started", 3)
    run = await durable.resume(agent(), store, "started")
    assert keys == ["r/0/1"]
    assert [error.kind for error in run.steps[0].tool_errors] == ["interrupted"]


async def test_attempts_and_pauses_are_counted_on_across_a_crash() -> None:
    """Whenever the crash was, three attempts are made in all."""
    busy = sf.ModelErrorReason("overloaded", "busy")
    store = MemoryStore()

    def agent() -> sf.Agent:
        model = ScriptedModel([busy, busy, busy, reply("Too late.")])
        return sf.Agent(model=model, retry=sf.RetryPolicy(max_retries=2, initial_delay=0.01))

    with pytest.raises(sf.RunFailed):
        await durable.run(agent(), store, "Go", run_id="whole")
    whole = (await store.read("whole")).unwrap()
    for at in range(1, whole.run.version):
        await cut(store, "whole", f"cut-{at}", at)
        with pytest.raises(sf.RunFailed) as caught:
            await durable.resume(agent(), store, f"cut-{at}")

        assert caught.value.error == busy
        events = (await durable.recording_of(store, f"cut-{at}")).unwrap().entries
        assert sum(isinstance(entry.event, sf.events.ModelFailed) for entry in events) == 3


async def test_answers_go_on_with_a_blocked_run() -> None:
    @sf.tool(needs_approval=True)
    def pay(cents: int) -> str:
        """Pay."""
        return f"paid {cents}"

    def agent() -> sf.Agent:
        script = [reply(call(pay, {"cents": 5})), reply("Paid.")]
        return sf.Agent(model=ScriptedModel(script, by_step=True), tools=[pay])

    store = MemoryStore()
    await durable.run(agent(), store, "Pay", run_id="r")
    [told] = await store.list_runs(status="blocked")
    blocked = await durable.resume(agent(), store, told.run)
    answers = [sf.approve(request) for request in blocked.open_approvals]
    run = await durable.answer(agent(), store, "r", answers)

    assert run.unwrap() == "Paid."
    recording = (await durable.recording_of(store, "r")).unwrap()
    assert durable.replayed(agent().program, recording).unwrap() == run.state == recording.snapshot


async def test_another_program_is_refused_unless_it_is_meant() -> None:
    store = MemoryStore()
    await durable.run(agent_of(), store, "Go", run_id="whole")
    await cut(store, "whole", "r", 6)
    other = agent_of(limits=sf.Limits(steps=50))
    with pytest.raises(sf.UsageError, match="not begun with this program"):
        await durable.resume(other, store, "r")
    run = await durable.resume(other, store, "r", allow_other_program=True)

    assert run.unwrap() == "Done."


async def test_a_run_that_is_not_there_or_is_there_already_is_told() -> None:
    store = MemoryStore()
    with pytest.raises(JournalError) as caught:
        await durable.resume(agent_of(), store, "r")
    assert caught.value.fault == JournalMissing("r")

    await durable.run(agent_of(), store, "Go", run_id="r")
    with pytest.raises(JournalError) as caught:
        await agent_of().generate("Go", run_id="r", journal=RunJournal(store))
    assert isinstance(caught.value.fault, JournalConflict)


async def test_one_at_a_time_works_on_a_run() -> None:
    store = MemoryStore()
    begun = anyio.Event()

    @sf.tool
    async def slow() -> str:
        """Take one's time."""
        begun.set()
        await anyio.sleep(0.2)
        return "done"

    def agent() -> sf.Agent:
        return sf.Agent(
            model=ScriptedModel([reply(call(slow, {})), reply("Done.")], by_step=True), tools=[slow]
        )

    refused: list[object] = []
    async with anyio.create_task_group() as group:

        async def second() -> None:
            await begun.wait()
            with pytest.raises(JournalError) as caught:
                await durable.resume(agent(), store, "r", owner="Bob")
            refused.append(caught.value.fault)
            refused.extend(await durable.take_over(agent(), store))

        group.start_soon(second)
        run = await durable.run(agent(), store, "Go", run_id="r", owner="Ann", lease_seconds=0.05)

    assert run.unwrap() == "Done."  # three times as long as the lease: it was kept alive
    [fault] = refused
    assert isinstance(fault, LeaseHeld)
    assert fault.owner == "Ann"


async def test_who_has_lost_a_run_writes_nothing_more() -> None:
    store = MemoryStore()
    stopped = anyio.Event()

    async def work(holding: Holding) -> None:
        journal = holding.guard(RunJournal(store))
        lease = store._leases["r"]
        await store.release(lease)
        assert isinstance(await store.claim("r", "Bob", now=1, until=10**30), sf.Success)
        try:
            await anyio.sleep(5)
        finally:
            stopped.set()
        await agent_of().generate("Go", run_id="r", journal=journal)

    with pytest.raises(JournalError, match="worked on by 'Bob'"):
        await leased(store, "r", work, owner="Ann", seconds=0.03)

    assert stopped.is_set()
    assert await store.list_runs() == ()


@pytest.mark.parametrize("raised", [SystemExit, KeyboardInterrupt, ValueError])
async def test_what_ends_the_work_comes_out_as_it_is_and_frees_the_run(
    raised: type[BaseException],
) -> None:
    store = MemoryStore()

    async def work(holding: Holding) -> None:
        raise raised("enough")

    with pytest.raises(raised, match="enough"):
        await leased(store, "r", work)

    assert store._leases["r"].until == 0


async def test_runs_of_the_dead_are_taken_over_once() -> None:
    store = MemoryStore()
    await durable.run(agent_of(), store, "Go", run_id="whole")
    for number in range(10):
        await cut(store, "whole", f"dead-{number}", 4)
        await store.claim(f"dead-{number}", "the dead", now=1, until=2)
    await cut(store, "whole", "never leased", 4)
    taken: list[str] = []

    async def worker() -> None:
        taken.extend(run.id for run in await durable.take_over(agent_of(), store))

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(worker)

    done = [run.run for run in await store.list_runs(status="completed")]
    assert len(taken) == 10
    assert sorted(done) == [*(f"dead-{number}" for number in range(10)), "whole"]


async def test_a_sealed_journal_tells_nothing_without_its_seal() -> None:
    seal = Seal(lambda data: data[::-1], lambda data: data[::-1])
    store = MemoryStore()
    secret = "the secret " * 500
    run = await durable.run(agent_of(), store, secret, run_id="r", seal=seal)
    stored = (await store.read("r")).unwrap()
    kept = b"".join((*stored.records, *stored.payloads.values()))

    assert b"secret" not in kept
    assert b"look" not in kept
    assert (await durable.recording_of(store, "r", seal=seal)).unwrap().snapshot == run.state
    assert "sealed" in (await durable.recording_of(store, "r")).failure().message
    wrong = Seal(lambda data: data, lambda data: bytes(1 // len(data[:0])))
    assert "another key" in (await durable.recording_of(store, "r", seal=wrong)).failure().message
    with pytest.raises(JournalError, match="sealed"):
        await durable.resume(agent_of(), store, "r")
    await cut(store, "r", "cut", 5)
    cut_run = await durable.resume(agent_of(), store, "cut", seal=seal)
    assert cut_run.unwrap() == "Done."


def test_the_tools_are_what_the_tests_take_them_for() -> None:
    assert (look.options.idempotent, book.options.idempotent) == (True, False)
