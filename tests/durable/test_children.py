"""Runs of tool calls are kept as well: they go on where they were, within what was granted."""

import time

import anyio
import pytest

import stepfold as sf
from stepfold import durable
from stepfold.durable import HandedOver, HandOver, MemoryStore
from stepfold.loop import Limits
from stepfold.loop.events import ModelReplied
from stepfold.ports import JournalConflict, JournalRecord, JournalStore
from stepfold.testing import ScriptedModel, call, reply
from stepfold.testing.laws import resumed_run_is_the_same, same_run
from stepfold.values import Outcome, Success, UsageError

GRANT = Limits(tokens=1_000, tool_calls=10)


class CrashError(Exception):
    """Stands for the end of the process."""


class CrashingStore:
    """A store that fails once so many records were appended, in whatever run."""

    def __init__(self, inner: JournalStore, records: int) -> None:
        self._inner = inner
        self._left = records

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Outcome[int, JournalConflict]:
        if self._left <= 0:
            raise CrashError
        self._left -= 1
        return await self._inner.append(run, record, expected=expected)


def parent_of(store: JournalStore, seen: list[str]) -> tuple[sf.Agent, ScriptedModel]:
    """An agent that delegates, and the model of whom it delegates to."""

    @sf.tool(idempotent=True)
    async def look(place: str) -> str:
        """Look somewhere."""
        seen.append(f"look {place}")
        return f"saw {place}"

    @sf.tool
    async def book(place: str) -> str:
        """Book something; not twice."""
        seen.append(f"book {place}")
        return f"booked {place}"

    model = ScriptedModel(
        [
            reply(call(look, {"place": "a"}), call(book, {"place": "b"}), usage=(10, 5)),
            reply(call(look, {"place": "c"}), usage=(10, 5)),
            reply("Trip planned.", usage=(10, 5)),
        ],
        by_step=True,
        model_id="child",
    )
    child = sf.Agent(model=model, tools=[look, book])

    @sf.tool(idempotent=True, grant=GRANT)
    async def plan(context: sf.ToolContext[object], trip: str) -> str:
        """Let somebody else plan a trip."""
        run = await durable.run(child, store, trip, parent=context, lease_seconds=0.2)
        return run.unwrap()

    script = [reply(call(plan, {"trip": "Oslo"}), usage=(10, 5)), reply("Done.", usage=(10, 5))]
    limits = Limits(tokens=5_000, tool_calls=50)
    agent = sf.Agent(model=ScriptedModel(script, by_step=True), tools=[plan], limits=limits)
    return agent, model


async def test_a_child_is_named_after_its_call_and_spends_what_the_call_was_granted() -> None:
    store = MemoryStore()
    agent, _ = parent_of(store, [])

    run = await durable.run(agent, store, "Go", run_id="run")

    child = (await durable.recording_of(store, "run/0/0")).unwrap().snapshot
    assert child is not None
    assert child.ledger.spent == 45
    assert run.state.ledger.spent == 45 + 30
    assert run.state.ledger.reserved == 0


@pytest.mark.parametrize("records", range(1, 12))
async def test_wherever_it_crashes_the_child_goes_on_where_it_was(records: int) -> None:
    undisturbed_store, store, seen = MemoryStore(), MemoryStore(), list[str]()
    whole = await durable.run(
        parent_of(undisturbed_store, [])[0], undisturbed_store, "Go", run_id="run"
    )
    crashing: JournalStore = CrashingStore(store, records)  # type: ignore[assignment]
    agent, _ = parent_of(crashing, seen)
    with pytest.raises(CrashError):
        await durable.run(agent, crashing, "Go", run_id="run", lease_seconds=0.2)

    known = await durable.recording_of(store, "run/0/0")
    again, model = parent_of(store, seen)
    run = await durable.run(again, store, "Go", run_id="run", lease_seconds=0.2)

    resumed_run_is_the_same(whole.state, run.state, frozenset())
    entries = known.unwrap().entries if isinstance(known, Success) else ()
    replied = sum(isinstance(entry.event, ModelReplied) for entry in entries)
    assert len(model.requests) == 3 - replied  # what had been answered is not asked again
    child = (await durable.recording_of(store, "run/0/0")).unwrap().snapshot
    assert child is not None
    lost = [it for step in child.steps for it in step.tool_errors]
    assert len(lost) + seen.count("book b") >= 1
    assert seen.count("book b") <= 1
    assert run.state.ledger.reserved == 0


class HandingStore:
    """A store that lets all be handed over once so many records were appended."""

    def __init__(self, inner: JournalStore, records: int, hand_over: HandOver) -> None:
        self._inner = inner
        self._left = records
        self._hand_over = hand_over

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Outcome[int, JournalConflict]:
        outcome = await self._inner.append(run, record, expected=expected)
        self._left -= 1
        if not self._left:
            self._hand_over()
        return outcome


@pytest.mark.parametrize("records", range(1, 12))
async def test_wherever_it_is_handed_over_nothing_is_lost_and_nothing_runs_twice(
    records: int,
) -> None:
    """Unlike after a crash, no call is interrupted, and no lease is waited for."""
    undisturbed, store, seen = MemoryStore(), MemoryStore(), list[str]()
    whole = await durable.run(parent_of(undisturbed, [])[0], undisturbed, "Go", run_id="run")
    hand_over = HandOver()
    handing: JournalStore = HandingStore(store, records, hand_over)  # type: ignore[assignment]
    agent, model = parent_of(handing, seen)
    with pytest.raises(HandedOver):
        await durable.run(agent, handing, "Go", run_id="run", hand_over=hand_over)

    again, more = parent_of(store, seen)
    with anyio.fail_after(10):  # which is less than a lease
        run = await durable.run(again, store, "Go", run_id="run")

    same_run(whole.state, run.state)
    assert len(model.requests) + len(more.requests) == 3
    assert sorted(seen) == ["book b", "look a", "look c"]
    child = (await durable.recording_of(store, "run/0/0")).unwrap().snapshot
    assert child is not None
    assert run.state.ledger.spent == whole.state.ledger.spent


async def test_a_child_is_left_to_the_run_that_called() -> None:
    """It is a run of another agent, and its call takes it up; whoever takes over knows neither."""
    store = MemoryStore()
    crashing: JournalStore = CrashingStore(store, 4)  # type: ignore[assignment]
    agent, _ = parent_of(crashing, [])
    with pytest.raises(CrashError):
        await durable.run(agent, crashing, "Go", run_id="run", lease_seconds=0.01)
    await anyio.sleep(0.3)  # until nobody holds the child
    now = time.time_ns()
    await store.claim("run", "a worker that is alive", now=now, until=now + 10**12)

    taken = await durable.take_over(parent_of(store, [])[0], store)

    assert taken == ()
    assert {stored.run: stored.status for stored in await store.list_runs()} == {
        "run": "running",
        "run/0/0": "running",
    }


async def test_a_child_waits_for_what_a_lost_worker_had_claimed() -> None:
    store = MemoryStore()
    agent, _ = parent_of(store, [])
    now = anyio.current_time()
    held = time.time_ns() + 300_000_000
    await store.claim("run/0/0", "a worker that is gone", now=time.time_ns(), until=held)

    run = await durable.run(agent, store, "Go", run_id="run")

    assert run.text == "Done."
    assert anyio.current_time() - now >= 0.2


async def test_a_run_has_a_name_or_a_parent() -> None:
    store = MemoryStore()
    agent, _ = parent_of(store, [])

    with pytest.raises(UsageError, match="expected run_id=…, or parent=…"):
        await durable.run(agent, store, "Go")  # type: ignore[call-overload]


# --- by themselves ----------------------------------------------------------------------------

LEFT = Limits(tokens=1_000, tool_calls=2)


@sf.tool
def look(place: str) -> str:
    """Look somewhere."""
    return f"saw {place}"


@sf.tool(needs_approval=True)
def pay(cents: int) -> str:
    """Pay."""
    return f"paid {cents}"


def payer() -> sf.Agent:
    """An agent that asks before it pays, and would look on for ever."""
    script = [
        reply(call(pay, {"cents": 5}), usage=(10, 5)),
        *(reply(call(look, {"place": place}), usage=(10, 5)) for place in "abc"),
    ]
    limits = Limits(calls_of={look: 9, pay: 9})
    return sf.Agent(model=ScriptedModel(script, by_step=True), tools=[look, pay], limits=limits)


async def delegated(store: JournalStore) -> sf.Run[str]:
    """A run whose call has let a child begin, which waits for a person."""

    @sf.tool(idempotent=True, grant=LEFT)
    async def settle(context: sf.ToolContext[object]) -> str:
        """Let somebody else pay."""
        await durable.run(payer(), store, "Pay.", parent=context)
        return "begun"

    model = ScriptedModel([reply(call(settle)), reply("Begun.")], by_step=True)
    return await durable.run(sf.Agent(model=model, tools=[settle]), store, "Go", run_id="run")


async def test_a_child_is_answered_by_itself_within_what_its_call_was_granted() -> None:
    """Its journal tells what that was: the agent that it is a run of is all that is needed."""
    store = MemoryStore()
    await delegated(store)
    blocked = await durable.resume(payer(), store, "run/0/0")
    answers = [sf.approve(request) for request in blocked.open_approvals]

    run = await durable.answer(payer(), store, "run/0/0", answers)

    recording = (await durable.recording_of(store, "run/0/0")).unwrap()
    assert isinstance(run.end, sf.Stopped)
    assert run.end.stop.name == "limit-tool-calls"
    assert run.state.ledger.total_issued == 2
    assert durable.replayed(payer().program, recording) == Success(run.state)


async def test_a_fork_of_a_child_keeps_to_what_the_child_was_granted() -> None:
    store = MemoryStore()
    await delegated(store)
    version = (await durable.recording_of(store, "run/0/0")).unwrap().run.version
    await durable.fork(payer(), store, "run/0/0", "other", at=version)
    blocked = await durable.resume(payer(), store, "other")

    answers = [sf.approve(request) for request in blocked.open_approvals]
    run = await durable.answer(payer(), store, "other", answers)

    assert isinstance(run.end, sf.Stopped)
    assert run.end.stop.name == "limit-tool-calls"


async def test_a_fork_of_a_child_is_taken_over_as_any_run() -> None:
    """It has a header that tells of a grant, and no run that would take it up."""
    store = MemoryStore()
    agent, _ = parent_of(store, [])
    await durable.run(agent, store, "Go", run_id="run")
    looks = [reply(call(look, {"place": "a"})), reply("Seen.")]
    child = sf.Agent(model=ScriptedModel(looks, by_step=True), tools=[look])
    await durable.fork(child, store, "run/0/0", "other", at=1)
    await store.claim("other", "a worker that is gone", now=0, until=1)

    taken = await durable.take_over(child, store)

    assert [run.id for run in taken] == ["other"]


async def test_a_child_that_is_taken_up_by_a_smaller_grant_says_so_in_its_journal() -> None:
    """A call may come again with less: what its run may spend from then on is in the event."""
    store = MemoryStore()
    script = [reply(call(look, {"place": place}), usage=(10, 5)) for place in "abcd"]
    child = sf.Agent(model=ScriptedModel(script, by_step=True), tools=[look])

    async def called(grant: Limits, records: int) -> None:
        @sf.tool(idempotent=True, grant=grant)
        async def search(context: sf.ToolContext[object]) -> str:
            """Let somebody else look."""
            crashing: JournalStore = CrashingStore(store, records)  # type: ignore[assignment]
            try:
                await durable.run(child, crashing, "Look.", parent=context, lease_seconds=0.2)
            except CrashError:
                return "lost"
            return "found"

        model = ScriptedModel([reply(call(search)), reply("Done.")], by_step=True)
        await sf.Agent(model=model, tools=[search]).generate("Go", run_id="run")

    await called(Limits(tool_calls=4), 5)
    await called(Limits(tool_calls=2), 99)

    recording = (await durable.recording_of(store, "run/0/0")).unwrap()
    assert recording.snapshot is not None
    assert recording.snapshot.ledger.total_issued == 2
    assert durable.replayed(child.program, recording) == Success(recording.snapshot)


async def test_a_child_can_be_exported_without_what_was_said() -> None:
    """The names of tools and models in what it was granted are names, and stay."""
    store = MemoryStore()
    await delegated(store)
    recording = (await durable.recording_of(store, "run/0/0")).unwrap()

    cut = durable.redacted(recording)

    assert cut.header.granted == recording.header.granted
    assert cut.header.granted is not None
    assert dict(cut.header.granted.limits.calls_of) == {"look": 9, "pay": 9}
