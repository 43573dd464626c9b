"""Runs are handed over on purpose: nothing is lost or runs twice, and no lease is waited for."""

import pickle
import threading

import anyio
import pytest

import stepfold as sf
from stepfold import durable
from stepfold.durable import HandedOver, HandOver, MemoryStore
from stepfold.loop import Timeouts
from stepfold.loop.events import Cancelled
from stepfold.testing import ScriptedModel, call, reply
from stepfold.testing.laws import same_run
from stepfold.values import ModelError, ModelErrorReason


def agent_of(started: list[str], hand_over: HandOver | None = None, **options: object) -> sf.Agent:
    """An agent that is handed over while both tools of its first step are at work."""

    @sf.tool
    async def book() -> str:
        """Book something; not twice."""
        started.append("book")
        if hand_over is not None:
            hand_over()
        await anyio.sleep(0.01)
        return "booked"

    @sf.tool(idempotent=True)
    async def look() -> str:
        """Look somewhere."""
        started.append("look")
        await anyio.sleep(0.01)
        return "seen"

    script = [
        reply(call(book, {}), call(look, {})),
        reply(call(book, {})),
        reply("Done."),
    ]
    model = ScriptedModel(script, by_step=True)
    return sf.Agent(model=model, tools=[book, look], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("timeout", [None, Timeouts(chunk=5)])
async def test_what_is_in_flight_is_recorded_and_another_goes_on_at_once(
    timeout: Timeouts | None,
) -> None:
    """With a limit of chunks the run is read as a stream, and handed over just so."""
    store, hand_over, started = MemoryStore(), HandOver(), list[str]()

    agent = agent_of(started, hand_over, timeout=timeout)
    with pytest.raises(HandedOver) as raised:
        await durable.run(agent, store, "Go", run_id="run", hand_over=hand_over)

    assert raised.value.run == "run"
    first = list(started)
    run = await durable.resume(
        agent_of(started, timeout=timeout), store, "run"
    )  # no lease is waited for
    undisturbed = await agent_of([], timeout=timeout).generate("Go", run_id="run")
    same_run(run.state, undisturbed.state)
    assert "book" in first
    assert sorted(started) == ["book", "book", "look"]
    events = (await durable.recording_of(store, "run")).unwrap().entries
    assert not any(isinstance(entry.event, Cancelled) for entry in events)


async def test_a_pause_is_left_and_ends_when_it_would_have() -> None:
    store, hand_over = MemoryStore(), HandOver()
    busy = ModelError(ModelErrorReason("overloaded", "busy"))
    model = ScriptedModel([busy, reply("Done.")], by_step=True)
    agent = sf.Agent(model=model, retry=sf.RetryPolicy(initial_delay=0.3, jitter=0))

    async with anyio.create_task_group() as group:
        group.start_soon(_after, 0.05, hand_over)
        with anyio.fail_after(0.25), pytest.raises(HandedOver):
            await durable.run(agent, store, "Go", run_id="run", hand_over=hand_over)

    run = await durable.resume(agent, store, "run")
    assert run.text == "Done."
    recording = (await durable.recording_of(store, "run")).unwrap()
    failed, waited = recording.entries[0].event.at, recording.entries[-2].event.at
    assert waited - failed >= 0.3 * 1e9


async def _after(seconds: float, hand_over: HandOver) -> None:
    await anyio.sleep(seconds)
    hand_over()


async def test_nothing_is_begun_once_it_was_asked_for() -> None:
    store, hand_over, started = MemoryStore(), HandOver(), list[str]()
    hand_over()

    with pytest.raises(HandedOver, match="was handed over: resume it"):
        await durable.run(agent_of(started), store, "Go", run_id="run", hand_over=hand_over)
    taken = await durable.take_over(agent_of(started), store, hand_over=hand_over)

    assert taken == ()
    assert await store.list_runs() == ()


async def test_who_takes_runs_over_hands_them_over_as_well() -> None:
    store, hand_over, started = MemoryStore(), HandOver(), list[str]()
    for name in ("run-1", "run-2"):
        again = HandOver()
        agent = agent_of(started, again)
        with pytest.raises(HandedOver):
            await durable.run(agent, store, "Go", run_id=name, hand_over=again)

    agent = agent_of(started, hand_over)
    assert await durable.take_over(agent, store, hand_over=hand_over) == ()
    assert len(await durable.take_over(agent_of(started), store)) == 2


async def test_an_answered_run_is_handed_over_as_well() -> None:
    store, hand_over = MemoryStore(), HandOver()

    @sf.tool(needs_approval=True)
    async def pay() -> str:
        """Pay."""
        hand_over()
        return "paid"

    model = ScriptedModel([reply(call(pay, {})), reply("Done.")], by_step=True)
    agent = sf.Agent(model=model, tools=[pay])
    run = await durable.run(agent, store, "Go", run_id="run")
    answers = [sf.approve(request) for request in run.open_approvals]

    with pytest.raises(HandedOver):
        await durable.answer(agent, store, "run", answers, hand_over=hand_over)

    assert (await durable.resume(agent, store, "run")).results_of(pay) == ("paid",)


# --- runs of tool calls -----------------------------------------------------------------------


def delegating(
    store: MemoryStore,
    hand_over: HandOver,
    seen: list[str],
    *,
    idempotent: bool = True,
    timeout: Timeouts | None = None,
) -> sf.Agent:
    """An agent whose tool lets a child work; all is handed over in the first step of the child."""

    @sf.tool
    async def book() -> str:
        """Book something; not twice."""
        seen.append("book")
        hand_over()
        await anyio.sleep(0.01)
        return "booked"

    script = [reply(call(book), usage=(10, 5)), reply("Booked.", usage=(20, 5))]
    model = ScriptedModel(script, by_step=True)
    child = sf.Agent(model=model, tools=[book], timeout=timeout)

    @sf.tool(idempotent=idempotent, grant=sf.Limits(tokens=500))
    async def plan(context: sf.ToolContext[object]) -> str:
        """Let somebody else book."""
        seen.append("plan")
        try:
            return (await durable.run(child, store, "Book.", parent=context)).unwrap()
        finally:
            seen.append(f"asked {len(model.requests)}")

    calls = reply(call(plan), usage=(10, 5))
    return sf.Agent(
        model=ScriptedModel([calls, reply("Done.", usage=(10, 5))], by_step=True),
        tools=[plan],
        limits=sf.Limits(tokens=1_000),
        timeout=timeout,
    )


@pytest.mark.parametrize("timeout", [None, Timeouts(chunk=5)])
async def test_a_child_is_handed_over_with_the_run_that_called(timeout: Timeouts | None) -> None:
    """Its call is no failure that the model would be told of: it is made again, and goes on."""
    store, hand_over, seen = MemoryStore(), HandOver(), list[str]()
    agent = delegating(store, hand_over, seen, timeout=timeout)

    with pytest.raises(HandedOver) as raised:
        await durable.run(agent, store, "Go", run_id="run", hand_over=hand_over)

    assert raised.value.run == "run"
    assert seen == ["plan", "book", "asked 1"]
    run = await durable.resume(agent, store, "run")  # no lease is waited for
    assert seen[3:] == ["plan", "asked 2"]
    undisturbed = await delegating(MemoryStore(), HandOver(), []).generate("Go", run_id="run")
    same_run(run.state, undisturbed.state)
    assert run.state.ledger.spent == undisturbed.state.ledger.spent


async def test_a_child_of_a_call_that_must_not_run_twice_comes_to_its_end() -> None:
    """Nobody could make that call again; so it is in flight, with all that it began."""
    store, hand_over, seen = MemoryStore(), HandOver(), list[str]()
    agent = delegating(store, hand_over, seen, idempotent=False)

    with pytest.raises(HandedOver):
        await durable.run(agent, store, "Go", run_id="run", hand_over=hand_over)

    assert seen == ["plan", "book", "asked 2"]
    assert (await durable.resume(agent, store, "run")).steps[0].tool_errors == ()


async def test_no_child_is_begun_once_its_parent_is_handed_over() -> None:
    store, hand_over = MemoryStore(), HandOver()
    child = sf.Agent(model=ScriptedModel([reply("Booked.")], by_step=True))

    @sf.tool(idempotent=True, grant=sf.Limits())
    async def plan(context: sf.ToolContext[object]) -> str:
        """Let somebody else book."""
        hand_over()
        return (await durable.run(child, store, "Book.", parent=context)).unwrap()

    model = ScriptedModel([reply(call(plan)), reply("Done.")], by_step=True)
    agent = sf.Agent(model=model, tools=[plan])
    with pytest.raises(HandedOver):
        await durable.run(agent, store, "Go", run_id="run", hand_over=hand_over)

    assert [stored.run for stored in await store.list_runs()] == ["run"]


async def test_a_child_that_has_a_loop_of_its_own_is_not_reached() -> None:
    """Its tool is a function in a thread: what is in flight there comes to its end."""
    store, hand_over = MemoryStore(), HandOver()
    at_work, asked = threading.Event(), threading.Event()

    @sf.tool
    async def book() -> str:
        """Book something, when the other loop was told to hand over."""
        at_work.set()
        await anyio.to_thread.run_sync(asked.wait)
        return "booked"

    child = sf.Agent(
        model=ScriptedModel([reply(call(book)), reply("Booked.")], by_step=True), tools=[book]
    )

    @sf.tool(idempotent=True, grant=sf.Limits())
    def plan(context: sf.ToolContext[object]) -> str:
        """Let somebody else book."""

        async def main() -> str:
            return (await durable.run(child, store, "Book.", parent=context)).unwrap()

        return anyio.run(main)

    model = ScriptedModel([reply(call(plan)), reply("Done.")], by_step=True)
    agent = sf.Agent(model=model, tools=[plan])

    async def ask() -> None:
        await anyio.to_thread.run_sync(at_work.wait)
        hand_over()
        asked.set()

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        with pytest.raises(HandedOver):
            await durable.run(agent, store, "Go", run_id="run", hand_over=hand_over)

    recording = (await durable.recording_of(store, "run/0/0")).unwrap()
    assert recording.run.status == "completed"


async def test_a_child_is_given_no_hand_over_of_its_own() -> None:
    """It would be a failure of its call, of which the model is told."""
    store, hand_over = MemoryStore(), HandOver()
    raised: list[sf.UsageError] = []

    @sf.tool(idempotent=True, grant=sf.Limits())
    async def plan(context: sf.ToolContext[object]) -> str:
        """Let somebody else book."""
        child = sf.Agent(model=ScriptedModel([reply("Booked.")]))
        with pytest.raises(sf.UsageError, match="it is handed over with the run") as caught:
            await durable.run(child, store, "Book.", parent=context, hand_over=hand_over)
        raised.append(caught.value)
        return "not booked"

    model = ScriptedModel([reply(call(plan)), reply("Done.")], by_step=True)
    await durable.run(sf.Agent(model=model, tools=[plan]), store, "Go", run_id="run")

    assert len(raised) == 1


def test_it_can_be_sent_to_another_process() -> None:
    error = pickle.loads(pickle.dumps(HandedOver("run")))

    assert error.run == "run"
