"""Runs as workflows of a real engine, on each of its databases."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from dbos import DBOS

import stepfold as sf
from stepfold import durable
from stepfold.durable.dbos import DbosAgent
from stepfold.loop import CALL_LOST, Resting, Working, inspect_history, open_requests
from stepfold.loop.events import ModelFailed
from stepfold.ports import JournalError, JournalMissing
from stepfold.shell import EventHappened, Observation, RunTakenUp
from stepfold.testing import ScriptedModel, call, reply
from stepfold.testing.laws import same_run
from stepfold.values import (
    Blocked,
    Cancelled,
    Completed,
    ModelError,
    ModelErrorReason,
    OpenApproval,
    Stopped,
    TextDelta,
    UsageError,
)
from tests.durable._runs import agent_of
from tests.durable.dbos.conftest import Serve

ROOT = Path(__file__).parents[3]


async def until(holds: Callable[[], object]) -> None:
    """Wait until something holds, for a while."""
    with anyio.fail_after(20):
        while not holds():  # noqa: ASYNC110 - what holds tells nobody
            await anyio.sleep(0.01)


async def test_a_run_of_the_engine_is_the_run_of_a_driver(serve: Serve) -> None:
    runs = serve(agent_of())

    handle = await runs.start("Go", run_id="run", seed=0)
    run = await handle.result()

    driven = await agent_of().generate("Go", run_id="run", seed=0)
    same_run(run.state, driven.state)
    assert run.unwrap() == "Done."
    assert await handle.state() == run.state
    again = await (await runs.start("Another", run_id="run")).result()
    assert again.state == run.state


async def test_what_was_written_down_replays_and_is_a_file_like_any_other(
    serve: Serve, tmp_path: Path
) -> None:
    agent = agent_of()
    handle = await serve(agent).start("Go")
    state = (await handle.result()).state

    recording = await handle.recording()

    assert durable.replayed(agent.program, recording).unwrap() == state
    durable.write_recording(recording, tmp_path / "run.jsonl")
    read = durable.read_recording(tmp_path / "run.jsonl").unwrap()
    assert read.records == recording.records


async def test_a_recovery_at_any_step_ends_in_the_same_run(serve: Serve) -> None:
    """The engine forks a workflow with the answers of its first steps alone: as after a crash."""
    runs = serve(agent_of(steps=1))
    handle = await runs.start("Go", run_id="run", seed=0)
    whole = (await handle.result()).state
    steps = await DBOS.list_workflow_steps_async("run")

    forks = [await DBOS.fork_workflow_async("run", it["function_id"]) for it in steps[1:]]
    ended = [await runs.handle_of(fork.get_workflow_id()).result() for fork in forks]

    lost = [run for run in ended if run.steps[0].tool_errors]
    assert len(lost) < len(ended) / 2  # where a call had started, and its answer was not kept
    for run in ended:
        if run not in lost:
            same_run(run.state, whole)


@sf.tool(needs_approval=True)
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def asked_of(run: sf.Run[str]) -> list[OpenApproval]:
    """The approvals that a run waits for."""
    return [it for it in open_requests(run.state) if isinstance(it, OpenApproval)]


def paying() -> sf.Agent:
    return sf.Agent(
        model=ScriptedModel([reply(call(pay, {"amount": 3})), reply("Done.")], by_step=True),
        tools=[pay],
    )


async def test_a_blocked_run_goes_on_when_it_is_answered(serve: Serve) -> None:
    handle = await serve(paying()).start("Go")
    blocked = await handle.at_rest()
    assert isinstance(blocked.end, Blocked)
    assert isinstance((await handle.state()).phase, Resting)

    await handle.answer([sf.approve(request) for request in asked_of(blocked)])

    run = await handle.result()
    assert run.results_of(pay) == ("paid 3",)


async def test_a_blocked_run_waits_for_its_answer_in_another_worker(serve: Serve) -> None:
    handle = await serve(paying()).start("Go", run_id="run")
    asked = asked_of(await handle.at_rest())

    elsewhere = serve(paying()).handle_of("run")
    await elsewhere.answer([sf.deny(request, reason="too much") for request in asked])

    run = await elsewhere.result()
    assert [error.kind for error in run.steps[0].tool_errors] == []
    assert isinstance(run.end, Completed)
    assert not run.results_of(pay)


def waiting_agent(started: list[str], **options: object) -> sf.Agent:
    """An agent whose tool never ends by itself."""

    @sf.tool
    async def wait() -> str:
        """Wait for ever."""
        started.append("wait")
        await anyio.sleep_forever()
        return "never"

    script = [reply("Let me wait.", call(wait, {}, id="w")), reply("Done.")]
    return sf.Agent(model=ScriptedModel(script), tools=[wait], **options)  # type: ignore[arg-type]


async def test_a_cancelled_run_ends_at_once_and_can_be_sent_again(serve: Serve) -> None:
    started: list[str] = []
    handle = await serve(waiting_agent(started)).start("Go")
    await until(lambda: started)

    await handle.cancel("enough")

    run = await handle.result()
    assert run.end == Cancelled("enough")
    assert not inspect_history(run.messages)
    assert run.messages[0] == sf.UserMessage("Go")
    assert await handle.state() == run.state


async def test_a_run_that_takes_too_long_is_stopped(serve: Serve) -> None:
    handle = await serve(waiting_agent([], timeout=0.5)).start("Go")

    run = await handle.result()

    assert isinstance(run.end, Stopped)
    assert run.end.stop.name == "timeout-total"


async def test_a_run_hears_what_is_said_to_it(serve: Serve) -> None:
    is_free = anyio.Event()
    started: list[str] = []

    @sf.tool
    async def hold() -> str:
        """Wait until the test lets it go."""
        started.append("hold")
        await is_free.wait()
        return "held"

    model = ScriptedModel([reply(call(hold, {})), reply("First."), reply("Second.")])
    handle = await serve(sf.Agent(model=model, tools=[hold])).start("Go")
    await until(lambda: started)

    await handle.steer("And now?")
    await handle.queue("And then?")
    with anyio.fail_after(20):
        while len((await handle.state()).inbox.waiting) < 2:  # noqa: ASYNC110 - as above
            await anyio.sleep(0.1)
    is_free.set()

    run = await handle.result()
    said = [message.content for message in run.messages if isinstance(message, sf.UserMessage)]
    assert [str(it) for it in said][1:] == [
        str(sf.UserMessage("And now?").content),
        str(sf.UserMessage("And then?").content),
    ]
    assert run.text == "Second."


async def test_a_request_to_end_after_the_step_lets_its_tools_run(serve: Serve) -> None:
    is_free = anyio.Event()
    started: list[str] = []

    @sf.tool
    async def hold() -> str:
        """Wait until the test lets it go."""
        started.append("hold")
        await is_free.wait()
        return "held"

    model = ScriptedModel([reply(call(hold, {})), reply("Never asked.")])
    handle = await serve(sf.Agent(model=model, tools=[hold])).start("Go")
    await until(lambda: started)

    await handle.cancel("closing time", after_step=True)
    await anyio.sleep(0.3)
    is_free.set()

    run = await handle.result()
    assert run.end == Cancelled("closing time")
    assert run.results_of(hold) == ("held",)


async def test_the_reducer_retries_and_the_engine_does_not(serve: Serve) -> None:
    busy = ModelError(ModelErrorReason("overloaded", "busy"))
    model = ScriptedModel([busy, reply("Done.")], by_step=True)
    retry = sf.RetryPolicy(initial_delay=0.01)
    handle = await serve(sf.Agent(model=model, retry=retry)).start("Go")

    run = await handle.result()

    assert run.text == "Done."
    events = [type(entry.event) for entry in (await handle.recording()).entries]
    assert events.count(ModelFailed) == 1
    assert len(model.requests) == 2


async def test_parts_are_shown_as_they_come(serve: Serve) -> None:
    model = ScriptedModel([reply("A few words.")], chunk_size=3)
    handle = await serve(sf.Agent(model=model), stream=True).start("Go")

    async with handle.stream() as parts:
        shown = [part async for part in parts]

    text = "".join(it.part.delta for it in shown if isinstance(it.part, TextDelta))
    assert text == "A few words."
    assert {it.command for it in shown} == {"CallModel/0/0"}
    assert [it.index for it in shown] == list(range(len(shown)))


async def test_observers_are_told_once(serve: Serve) -> None:
    seen: list[Observation] = []
    runs = serve(agent_of(observers=[seen.append]))
    handle = await runs.start("Go")
    await handle.result()

    happened = [it for it in seen if isinstance(it, EventHappened)]

    assert sum(isinstance(it, RunTakenUp) for it in seen) == 1
    assert len(happened) == len((await handle.recording()).entries)


async def test_a_run_of_another_program_is_refused(serve: Serve) -> None:
    handle = await serve(paying()).start("Go", run_id="run")
    await handle.at_rest()
    other = sf.Agent(model=ScriptedModel([reply("Done.")]), tools=[pay], limits=sf.Limits(steps=3))

    elsewhere = serve(other).handle_of("run")

    with pytest.raises(UsageError, match="was not begun with this program"):
        await elsewhere.result()


async def test_a_run_that_is_not_there_is_told(serve: Serve) -> None:
    handle = serve(agent_of()).handle_of("nobody")

    for asked in (handle.result, handle.state, handle.at_rest, handle.recording, handle.cancel):
        with pytest.raises(JournalError) as raised:
            await asked()
        assert isinstance(raised.value.fault, JournalMissing)


async def test_what_is_no_event_in_the_mail_is_left(serve: Serve) -> None:
    handle = await serve(paying()).start("Go")
    asked = asked_of(await handle.at_rest())

    await DBOS.send_async(handle.id, "hello", "stepfold")
    await handle.answer([sf.approve(request) for request in asked])

    assert isinstance((await handle.result()).end, Completed)


async def test_a_call_that_had_started_in_a_lost_worker_is_closed(serve: Serve) -> None:
    """And does not start again; an idempotent one beside it does."""
    started: list[str] = []
    is_free = anyio.Event()

    def agent() -> sf.Agent:
        @sf.tool
        async def book() -> str:
            """Book something; not twice."""
            started.append("book")
            await is_free.wait()
            return "booked"

        @sf.tool(idempotent=True)
        async def look() -> str:
            """Look somewhere."""
            started.append("look")
            await is_free.wait()
            return "seen"

        script = [reply(call(book, {}, id="b"), call(look, {}, id="l")), reply("Done.")]
        return sf.Agent(model=ScriptedModel(script, by_step=True), tools=[book, look])

    first = await serve(agent()).start("Go", run_id="run")
    await until(lambda: len(started) == 2)
    assert isinstance((await first.state()).phase, Working)

    is_free.set()
    run = await serve(agent()).handle_of("run").result()

    [error] = run.steps[0].tool_errors
    assert (error.tool_call_id, error.kind) == ("b", "interrupted")
    assert error.error == CALL_LOST
    assert sorted(started) == ["book", "look", "look"]


def test_workers_of_one_queue_share_runs_and_one_may_be_lost(url: str, tmp_path: Path) -> None:
    """Three processes, of which one is killed; what it had is taken over by the others."""
    command = [sys.executable, "-m", "tests.kill.dbos_workers", url, str(tmp_path / "world")]
    ran = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )

    assert ran.returncode == 0, ran.stderr
    assert "12 runs ended once" in ran.stdout


async def test_what_a_run_begins_with_is_looked_at_first(serve: Serve) -> None:
    runs = serve(agent_of())

    with pytest.raises(UsageError, match="runtime_context: expected what has a JSON form"):
        await runs.start("Go", runtime_context={"a": object()})
    with pytest.raises(UsageError, match="run_id: expected a name"):
        await runs.start("Go", run_id="")
    handle = await runs.start("Go", runtime_context={"a": 1})
    assert (await handle.result()).state.transcript.runtime_context.text == '{"a":1}'
    for said in (handle.steer, handle.queue):
        with pytest.raises(UsageError, match="expected text or a UserMessage"):
            await said("")


async def test_names_and_pauses_have_to_be_some() -> None:
    with pytest.raises(UsageError, match="name: expected"):
        DbosAgent(agent_of(), name="")
    with pytest.raises(UsageError, match="polling_seconds: expected"):
        DbosAgent(agent_of(), name="x", polling_seconds=0)
