"""Ending a run after its step, under every driver: what is in flight is never interrupted."""

import anyio
import pytest

from stepfold.agent import Agent, Run
from stepfold.loop import RetryPolicy, begin, replay
from stepfold.loop.events import CancelRequested, ToolReturned
from stepfold.shell import (
    AnyTool,
    CancelHandle,
    MemoryJournal,
    StepContext,
    drive_sync,
    tool,
)
from stepfold.testing import ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    Cancelled,
    Completed,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    Success,
    TextDelta,
    ToolError,
    ToolResult,
)
from tests.shell._runs import DONE, agent_of, settled


def asking(handle: CancelHandle) -> AnyTool[object, object]:
    """A tool that asks for the end, and then takes a while."""

    @tool(name="asking")
    async def ask() -> str:
        handle("enough", after_step=True)
        return "said"

    return ask


@tool
async def other() -> str:
    return "done"


async def ran(
    agent: Agent, handle: CancelHandle, way: str, *, journal: MemoryJournal | None = None
) -> Run[str]:
    """Run in one way or another, and check that the journal gives the same."""
    kept = MemoryJournal() if journal is None else journal
    match way:
        case "generate":
            run = await agent.generate("Go.", cancel=handle, journal=kept)
        case "sync":
            clock = VirtualClock()
            first = begin(agent.program, "Go.", run="r", seed=7, at=clock.now())
            runtime = agent.runtime(clock=clock)
            return agent.run_of(drive_sync(agent.program, first, runtime, cancel=handle))
        case _:
            async with agent.stream("Go.", cancel=handle, journal=kept) as stream:
                async for _ in stream:
                    pass
                await anyio.lowlevel.checkpoint()
                run = await stream.run()
    assert replay(agent.program, kept.header, kept.entries) == Success(run.state)
    return run


@pytest.mark.parametrize("way", ["generate", "stream", "sync"])
async def test_all_calls_of_the_step_are_carried_out(way: str) -> None:
    """Those beside it and after it too; then no model is asked."""
    handle = CancelHandle()
    agent = agent_of(asking(handle), other)
    run = await ran(agent, handle, way)

    assert run.end == Cancelled("enough")
    assert [type(part) for part in settled(run)] == [ToolResult, ToolResult]
    assert len(run.steps) == 1


@pytest.mark.parametrize("streams", [False, True])
async def test_a_request_is_journaled_with_the_next_thing_that_happens(streams: bool) -> None:
    """It becomes an event of the run, so a replay and a new process have it."""
    handle, journal = CancelHandle(), MemoryJournal()
    agent = agent_of(asking(handle), other)
    await ran(agent, handle, "stream" if streams else "generate", journal=journal)
    events = [entry.event for entry in journal.entries]
    asked = [event for event in events if isinstance(event, CancelRequested)]

    assert [event.reason for event in asked] == ["enough"]
    assert events.index(asked[0]) < len(events) - 1
    assert isinstance(events[-1], ToolReturned)


@pytest.mark.parametrize("way", ["generate", "stream", "sync"])
async def test_before_the_run(way: str) -> None:
    """No step is in flight, and none begins."""
    model, handle = ScriptedModel([DONE]), CancelHandle()
    handle("changed my mind", after_step=True)
    run = await ran(Agent(model=model), handle, way)

    assert run.end == Cancelled("changed my mind")
    assert model.requests == ()


@pytest.mark.parametrize("way", ["generate", "stream"])
async def test_an_answer_that_is_on_its_way_comes_to_its_end(way: str) -> None:
    """What the model says is not cut, and completes the run."""
    handle = CancelHandle()

    async def answer(_: ModelRequest) -> ModelReply:
        handle("enough", after_step=True)
        await anyio.sleep(0.01)
        return DONE

    run = await ran(Agent(model=ScriptedModel([answer])), handle, way)

    assert run.end == Completed("done")
    assert run.state.cancel_requested == "enough"


async def test_a_reader_does_not_cut_the_answer_that_it_reads() -> None:
    """It asks for the end in the midst of it."""
    agent = Agent(model=ScriptedModel([reply("Well, it is warm.")], chunk_size=4))
    async with agent.stream("Go.") as stream:
        async for part in stream:
            if isinstance(part, TextDelta):
                stream.cancel("enough", after_step=True)
        run = await stream.run()

    assert run.end == Completed("Well, it is warm.")


async def test_a_reader_ends_its_stream_after_the_step() -> None:
    """The parts of the step are all there, and the run's end."""
    agent = agent_of(other, other)
    kinds: list[str] = []
    async with agent.stream("Go.") as stream:
        async for part in stream:
            kinds.append(type(part).__name__)
            if kinds[-1] == "CallRequested":
                stream.cancel(after_step=True)
        run = await stream.run()

    assert run.end == Cancelled("cancelled")
    assert kinds.count("ToolFinished") == 2
    assert kinds[-2:] == ["StepFinished", "RunEnded"]


async def test_a_reader_ends_its_stream_at_once() -> None:
    """Without leaving it: what has come of the reply is kept, and the model is closed."""
    agent = Agent(model=ScriptedModel([reply("Well, it is warm.")], chunk_size=4))
    said: list[str] = []
    async with agent.stream("Go.") as stream:
        async for part in stream:
            if isinstance(part, TextDelta):
                said.append(part.delta)
                stream.cancel("heard enough")
        run = await stream.run()

    assert said == ["Well"]
    assert run.end == Cancelled("heard enough")
    assert run.text == "Well"


@pytest.mark.parametrize("streams", [False, True])
async def test_a_pause_before_a_retry_is_not_slept_out(streams: bool) -> None:
    """Nothing is in flight in it."""
    handle = CancelHandle()
    agent = Agent(
        model=ScriptedModel([ModelErrorReason("overloaded", "busy"), DONE]),
        retry=RetryPolicy(initial_delay=60.0),
    )
    runs: list[Run[str]] = []

    async def go() -> None:
        runs.append(await ran(agent, handle, "stream" if streams else "generate"))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(go)
            await anyio.sleep(0.01)
            await anyio.wait_all_tasks_blocked()
            handle("enough", after_step=True)

    assert runs[0].end == Cancelled("enough")


@pytest.mark.parametrize("streams", [False, True])
async def test_a_pause_that_a_time_limit_cuts_short_is_not_slept_out(streams: bool) -> None:
    """Whichever comes first: here it is the request."""
    handle = CancelHandle()
    agent = Agent(
        model=ScriptedModel([ModelErrorReason("overloaded", "busy"), DONE]),
        retry=RetryPolicy(initial_delay=60.0),
        timeout=30.0,
    )
    runs: list[Run[str]] = []

    async def go() -> None:
        runs.append(await ran(agent, handle, "stream" if streams else "generate"))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(go)
            await anyio.sleep(0.01)
            await anyio.wait_all_tasks_blocked()
            handle("enough", after_step=True)

    assert runs[0].end == Cancelled("enough")


@pytest.mark.parametrize("streams", [False, True])
async def test_a_plan_that_nobody_needs_is_not_waited_for(streams: bool) -> None:
    """The prepare function is left; what is recorded stays."""
    handle = CancelHandle()

    async def prepare(context: StepContext[object]) -> None:
        if context.step == 1:
            handle("enough", after_step=True)
            await anyio.sleep_forever()

    agent = Agent(
        model=ScriptedModel([reply(call(other)), DONE]), tools=[other], prepare_step=prepare
    )
    with anyio.fail_after(5):
        run = await ran(agent, handle, "stream" if streams else "generate")

    assert run.end == Cancelled("enough")
    assert [type(part) for part in settled(run)] == [ToolResult]


@pytest.mark.parametrize("streams", [False, True])
async def test_conditions_that_are_about_to_be_asked_are_not(streams: bool) -> None:
    """The step is over, and the run ends with it."""
    asked: list[int] = []
    handle = CancelHandle()
    agent = Agent(
        model=ScriptedModel([reply(call("asking")), DONE]),
        tools=[asking(handle)],
        stop_check=lambda context: asked.append(context.progress.steps[-1].step),
    )
    run = await ran(agent, handle, "stream" if streams else "generate")

    assert run.end == Cancelled("enough")
    assert asked == []


@pytest.mark.parametrize("streams", [False, True])
async def test_who_loses_patience_cancels_at_once(streams: bool) -> None:
    """The later, harder request wins."""
    handle = CancelHandle()

    @tool
    async def slow() -> str:
        handle("soon", after_step=True)
        handle("again", after_step=True)
        handle("now")
        handle("never mind", after_step=True)
        await anyio.sleep_forever()
        return "never"

    with anyio.fail_after(5):
        run = await ran(agent_of(slow), handle, "stream" if streams else "generate")

    assert run.end == Cancelled("now")
    assert isinstance(settled(run)[0], ToolError)


async def test_one_that_comes_after_the_end_changes_nothing() -> None:
    handle = CancelHandle()
    run = await ran(Agent(model=ScriptedModel([DONE])), handle, "generate")
    handle(after_step=True)

    assert run.end == Completed("done")
