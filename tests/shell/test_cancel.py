"""Cancellation: prompt, keeps what was finished, and leaves nothing running."""

import asyncio
from collections.abc import AsyncGenerator
from typing import final

import anyio
import anyio.lowlevel
import pytest
from attrs import field, frozen

from stepfold.agent import Agent, Run
from stepfold.loop import RetryPolicy, parts_of, replay
from stepfold.loop.events import Cancelled as CancelledEvent
from stepfold.ports import LanguageModel, streamed
from stepfold.shell import CancelHandle, MemoryJournal, tool
from stepfold.testing import ScriptedModel
from stepfold.values import (
    Cancelled,
    Completed,
    Finish,
    FinishReason,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamPart,
    StreamStart,
    Success,
    TextDelta,
    TextEnd,
    TextStart,
    ToolError,
    ToolResult,
)
from tests.shell._runs import DONE, agent_of, settled


@tool
async def quick() -> str:
    return "quick"


@tool
async def forever() -> str:
    await anyio.sleep_forever()
    return "never"


@final
@frozen
class Hanging:
    """A model that says a word and then nothing more."""

    provider: str = "acme"
    model_id: str = "hanging"
    closed: list[str] = field(factory=list[str], eq=False)

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        try:
            await anyio.sleep_forever()
        finally:
            self.closed.append("generate")
        return DONE

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        try:
            yield StreamStart()
            yield TextStart("0")
            yield TextDelta("0", "Well, ")
            await anyio.sleep_forever()
        finally:
            self.closed.append("stream")


async def run_to_end(
    agent: Agent, cancel: CancelHandle, *, streams: bool, journal: MemoryJournal
) -> Run[str]:
    if not streams:
        return await agent.generate("Go.", cancel=cancel, journal=journal)
    async with agent.stream("Go.", cancel=cancel, journal=journal) as stream:
        async for _ in stream:
            pass
        await anyio.lowlevel.checkpoint()  # the reader itself is not cancelled
        return await stream.run()


async def cancelled(
    agent: Agent, *, streams: bool, after: float | None = 0.01, cancel: CancelHandle | None = None
) -> Run[str]:
    """Run, cancel by the handle, and check what holds of every cancelled run."""
    before = len(anyio.get_running_tasks())
    handle = CancelHandle() if cancel is None else cancel
    journal = MemoryJournal()
    runs: list[Run[str]] = []

    async def go() -> None:
        runs.append(await run_to_end(agent, handle, streams=streams, journal=journal))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(go)
            if after is not None:
                await anyio.sleep(after)
                await anyio.wait_all_tasks_blocked()  # on a busy machine that takes longer
                handle("enough")
                handle("a second reason changes nothing")

    assert len(anyio.get_running_tasks()) == before
    [run] = runs
    assert replay(agent.program, journal.header, journal.entries) == Success(run.state)
    return run


@pytest.mark.parametrize("streams", [False, True])
async def test_before_the_run(streams: bool) -> None:
    """Nothing is asked of the model."""
    model = ScriptedModel([DONE])
    handle = CancelHandle()
    handle("changed my mind")
    run = await cancelled(Agent(model=model), streams=streams, after=None, cancel=handle)

    assert run.end == Cancelled("changed my mind")
    assert model.requests == ()


@pytest.mark.parametrize("streams", [False, True])
async def test_during_a_model_call(streams: bool) -> None:
    """The model is stopped; what it had said is kept where it was streamed."""
    model = Hanging()
    run = await cancelled(Agent(model=model), streams=streams)

    assert run.end == Cancelled("enough")
    assert model.closed == ["stream" if streams else "generate"]
    assert run.text == ("Well, " if streams else "")


@pytest.mark.parametrize("streams", [False, True])
async def test_while_tools_run(streams: bool) -> None:
    """What was finished is kept, what was running is closed as interrupted."""
    run = await cancelled(agent_of(quick, forever), streams=streams)

    assert run.end == Cancelled("enough")
    done, open_call = settled(run)
    assert isinstance(done, ToolResult)
    assert isinstance(open_call, ToolError)
    assert open_call.kind == "interrupted"


@pytest.mark.parametrize("streams", [False, True])
async def test_while_one_tool_runs(streams: bool) -> None:
    """A command that comes alone is stopped as well."""
    run = await cancelled(agent_of(forever), streams=streams)

    assert run.end == Cancelled("enough")
    assert [part.tool_name for part in settled(run)] == ["forever"]


@pytest.mark.parametrize("streams", [False, True])
async def test_while_waiting_for_a_retry(streams: bool) -> None:
    """A pause is not slept out."""
    agent = Agent(
        model=ScriptedModel([ModelErrorReason("overloaded", "busy"), DONE]),
        retry=RetryPolicy(initial_delay=60.0),
    )
    run = await cancelled(agent, streams=streams)

    assert run.end == Cancelled("enough")


@pytest.mark.parametrize("streams", [False, True])
async def test_after_the_end(streams: bool) -> None:
    """It comes too late, and changes nothing."""
    run = await cancelled(Agent(model=ScriptedModel([DONE])), streams=streams, after=0.02)

    assert run.end == Completed("done")


@pytest.mark.parametrize("streams", [False, True])
async def test_from_within_a_tool(streams: bool) -> None:
    """Calls that have not begun do not begin; not even code without a wait goes on."""
    handle = CancelHandle()
    begun: list[str] = []

    @tool
    async def cancels() -> str:
        handle("from within")
        return "said"

    @tool
    async def later() -> str:
        begun.append("later")
        return "ran"

    agent = agent_of(cancels, later)
    run = await cancelled(agent, streams=streams, after=None, cancel=handle)

    assert run.end == Cancelled("from within")
    assert begun == []
    first, second = settled(run)
    assert isinstance(first, ToolResult)
    assert isinstance(second, ToolError)


async def test_between_two_parts() -> None:
    """The reader itself cancels: no further part of the model is pulled."""
    handle = CancelHandle()
    model = Hanging()
    kinds: list[str] = []
    async with Agent(model=model).stream("Go.", cancel=handle) as stream:
        async for part in stream:
            kinds.append(type(part).__name__)
            if isinstance(part, TextStart):
                handle("read enough")
        await anyio.lowlevel.checkpoint()
        run = await stream.run()

    assert run.end == Cancelled("read enough")
    assert kinds == ["StepStarted", "StreamStart", "TextStart", "RunEnded"]
    assert model.closed == ["stream"]


@final
@frozen
class Scoped:
    """A model that holds a scope of its own from one part to the next, and may hang."""

    hangs: bool
    provider: str = "acme"
    model_id: str = "scoped"

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        raise NotImplementedError

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        with anyio.fail_after(60):
            for part in parts_of(DONE):
                await anyio.lowlevel.checkpoint()
                yield part
                if self.hangs and isinstance(part, TextDelta):
                    await anyio.sleep_forever()


@pytest.mark.parametrize("hangs", [False, True])
async def test_a_model_may_hold_a_scope_while_it_streams(hangs: bool) -> None:
    """It is opened, read and closed by one task, so its scopes and ours nest."""
    run = await cancelled(Agent(model=Scoped(hangs)), streams=True)

    assert run.end == (Cancelled("enough") if hangs else Completed("done"))
    assert run.text == "done"


@pytest.mark.parametrize("hangs", [False, True])
async def test_such_a_stream_can_be_left_at_every_part(hangs: bool) -> None:
    """Leaving early unwinds all scopes in order."""
    for after in range(5):
        stream = Agent(model=Scoped(hangs)).stream("Go.", cancel=CancelHandle())
        async with stream:
            for _ in range(after):
                await anext(stream)
        assert (await stream.run()).end == Cancelled("the stream was left")


async def test_a_reader_that_gives_up_a_wait_loses_nothing() -> None:
    """Its scope is not over what the model does; the next pull gets what came meanwhile."""
    words = ["a", "b", "c", "d", "e"]

    @final
    class Slow:
        provider = "acme"
        model_id = "slow"

        async def generate(self, request: ModelRequest, /) -> ModelReply:
            raise NotImplementedError

        @streamed
        async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
            yield TextStart("0")
            for word in words:
                await anyio.sleep(0.02)
                yield TextDelta("0", word)
            yield TextEnd("0")
            yield Finish(FinishReason("stop"))

    said: list[str] = []
    given_up = 0
    async with Agent(model=Slow()).stream("Go.", cancel=CancelHandle()) as stream:
        text = stream.text()
        while len(said) < len(words):
            with anyio.move_on_after(0.005) as scope:
                said.append(await anext(text))
            given_up += scope.cancelled_caught
        run = await stream.run()

    assert given_up
    assert said == words
    assert run.end == Completed("abcde")


async def test_a_run_at_rest_can_be_cancelled_while_it_is_read() -> None:
    """Nobody needs to answer any more."""

    @tool(needs_approval=True)
    async def pay() -> str:
        return "paid"

    handle = CancelHandle()
    async with agent_of(pay).stream("Go.", cancel=handle) as stream:
        async for _ in stream:
            pass
        handle("never mind")
        async for _ in stream:
            pass
        run = await stream.run()

    assert run.end == Cancelled("never mind")


async def test_one_handle_may_serve_many_runs() -> None:
    """All of them end."""
    handle = CancelHandle()
    runs: list[Run[str]] = []

    async def go() -> None:
        runs.append(await agent_of(forever).generate("Go.", cancel=handle))

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(go)
        await anyio.sleep(0.01)
        handle()

    assert [run.end for run in runs] == [Cancelled("cancelled")] * 3


# --- from outside -----------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["model", "tools", "one tool", "retry"])
@pytest.mark.parametrize("streams", [False, True])
async def test_an_outer_scope_is_obeyed_and_journaled(where: str, streams: bool) -> None:
    """`Cancelled` is written down, the cancellation goes on, and nothing is left running."""
    before = len(anyio.get_running_tasks())
    agents: dict[str, Agent] = {
        "model": Agent(model=Hanging()),
        "tools": agent_of(quick, forever),
        "one tool": agent_of(forever),
        "retry": Agent(
            model=ScriptedModel([ModelErrorReason("overloaded", "busy"), DONE]),
            retry=RetryPolicy(initial_delay=60.0),
        ),
    }
    agent = agents[where]
    journal = MemoryJournal()
    reached = False
    with anyio.move_on_after(0.02) as scope:
        if streams:
            async with agent.stream("Go.", journal=journal) as stream:
                async for _ in stream:
                    pass
        else:
            await agent.generate("Go.", journal=journal)
        reached = True

    assert scope.cancelled_caught
    assert not reached
    assert len(anyio.get_running_tasks()) == before
    event = journal.entries[-1].event
    assert isinstance(event, CancelledEvent)
    assert event.reason == "cancelled by the caller"
    outcome = replay(agent.program, journal.header, journal.entries)
    assert isinstance(outcome, Success)


@pytest.mark.parametrize("streams", [False, True])
async def test_a_handle_does_not_hide_an_outer_scope(streams: bool) -> None:
    """A run with a handle is cancelled by its surroundings as any other."""
    agent = agent_of(forever)
    with anyio.move_on_after(0.01) as scope:
        await run_to_end(agent, CancelHandle(), streams=streams, journal=MemoryJournal())

    assert scope.cancelled_caught


@pytest.mark.parametrize("streams", [False, True])
def test_a_cancelled_task_of_asyncio_ends_its_run(streams: bool) -> None:
    """`asyncio.timeout` and `task.cancel()` know nothing of scopes."""
    journal = MemoryJournal()
    agent = agent_of(quick, forever)

    async def main() -> None:
        task = asyncio.create_task(
            run_to_end(agent, CancelHandle(), streams=streams, journal=journal)
        )
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await run_to_end(agent, CancelHandle(), streams=streams, journal=MemoryJournal())
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())

    assert isinstance(journal.entries[-1].event, CancelledEvent)


async def test_a_journal_that_hangs_does_not_keep_a_cancelled_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last entry is given a short while."""

    @final
    class Stuck:
        async def begin(self, header: object, /) -> None:
            pass

        async def append(self, entry: object, /) -> None:
            await anyio.sleep_forever()

    monkeypatch.setattr("stepfold.shell._driver._SHIELD_SECONDS", 0.02)
    with anyio.move_on_after(0.02) as scope:
        await Agent(model=Hanging()).generate("Go.", journal=Stuck())

    assert scope.cancelled_caught


# --- models that do not go quietly ------------------------------------------------------------


@final
@frozen
class Sulking:
    """A model that raises when it is stopped."""

    provider: str = "acme"
    model_id: str = "sulking"

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        try:
            await anyio.sleep_forever()
        finally:
            msg = "I was not done"
            raise OSError(msg)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        try:
            yield StreamStart()
            await anyio.sleep_forever()
            yield Finish(FinishReason("stop"))
        finally:
            msg = "I was not done"
            raise OSError(msg)


@pytest.mark.parametrize("streams", [False, True])
async def test_a_model_that_raises_when_it_is_stopped_does_not_matter(streams: bool) -> None:
    """The run ends as it was asked to, or by the model's failure: it ends at once."""
    model: LanguageModel = Sulking()
    agent = Agent(model=model, retry=RetryPolicy(max_retries=0))
    handle = CancelHandle()
    journal = MemoryJournal()
    with anyio.fail_after(5):
        async with agent.stream("Go.", cancel=handle, journal=journal) as stream:
            async for part in stream:
                if isinstance(part, StreamStart):
                    if streams:
                        handle("enough")
                    else:
                        break

    assert isinstance((await stream.run()).end, Cancelled)


async def test_a_handle_lets_go_of_scopes_that_were_left() -> None:
    """It may live longer than its runs."""
    handle = CancelHandle()
    await agent_of(quick).generate("Go.", cancel=handle)
    handle()

    with anyio.CancelScope() as scope:
        handle.attach(scope)
        await anyio.lowlevel.checkpoint()
    assert scope.cancelled_caught
