"""`drive_sync`: the whole loop without any event loop."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import NoReturn, final

import anyio
import anyio.lowlevel
import pytest
import trio
from attrs import frozen

from stepfold.agent import Agent
from stepfold.loop import JournalHeader, LoopState, Program, RetryPolicy, begin, replay
from stepfold.ports import BLOCKING, Clock, Journal, LanguageModel, ModelStream
from stepfold.shell import AnyTool, MemoryJournal, Runtime, SystemClock, drive_sync, tool
from stepfold.testing import ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    Failed,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    Success,
    ToolError,
    ToolResult,
    UsageError,
)
from tests.shell._runs import DONE


def driven_here(
    *tools: AnyTool[object, object],
    model: LanguageModel | None = None,
    clock: Clock | None = None,
    journal: Journal | None = None,
) -> LoopState:
    """Run a program in this thread; by default its model calls each tool once."""
    asked = ScriptedModel([reply(*map(call, tools)), DONE]) if model is None else model
    program = program_of(*tools, model=asked)
    first = begin(program, "Go.", run="r", seed=1, at=0)
    runtime = Runtime(
        models=[asked],
        deps=None,
        tools=tools,
        clock=VirtualClock() if clock is None else clock,
        journal=journal,
    )
    return drive_sync(program, first, runtime)


def program_of(*tools: AnyTool[object, object], model: LanguageModel) -> Program:
    return Program(
        models=(f"{model.provider}/{model.model_id}",),
        tools={one.name: one.spec for one in tools},
        retry=RetryPolicy(initial_delay=60.0, max_retries=1),
    )


def settled(state: LoopState) -> list[ToolResult | ToolError]:
    return [part for part in state.steps[0].content if isinstance(part, ToolResult | ToolError)]


@tool
def sync() -> str:
    return threading.current_thread().name


@tool
async def coroutine() -> str:
    return threading.current_thread().name


@tool
async def items() -> AsyncIterator[int]:
    yield 1
    yield 2


def test_no_event_loop_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sync tools, coroutines and async generators all run in this very thread."""

    def refuse() -> NoReturn:
        raise AssertionError

    monkeypatch.setattr(asyncio, "new_event_loop", refuse)
    monkeypatch.setattr(anyio, "run", refuse)
    monkeypatch.setattr(trio, "run", refuse)
    state = driven_here(sync, coroutine, items)

    here = threading.current_thread().name
    assert [part.json.text for part in settled(state) if isinstance(part, ToolResult)] == [
        f'"{here}"',
        f'"{here}"',
        "2",
    ]
    assert state.steps[-1].text == "done"


def test_tools_run_in_call_order() -> None:
    """One after another: the first is done before the second begins."""
    order: list[str] = []

    def make(name: str) -> AnyTool[object, object]:
        async def run() -> str:
            order.append(name)
            return name

        return tool(name=name)(run)

    driven_here(*map(make, "cab"))

    assert order == ["c", "a", "b"]


def test_what_needs_an_event_loop_is_refused_before_the_first_command() -> None:
    """The tool is marked, so nothing is asked of the model."""

    @tool(async_only=True)
    async def fetch() -> str:
        return "page"

    model = ScriptedModel([DONE])
    with pytest.raises(UsageError, match="the tool fetch is marked async_only=True"):
        driven_here(fetch, model=model)

    assert model.requests == ()


def test_a_model_can_be_marked_too() -> None:
    """It is refused before it is asked."""

    @final
    class Marked:
        provider = "acme"
        model_id = "marked"
        async_only = True

        async def generate(self, request: ModelRequest, /) -> ModelReply:
            raise NotImplementedError

        def stream(self, request: ModelRequest, /) -> ModelStream:
            raise NotImplementedError

    with pytest.raises(UsageError, match="the model acme/marked is marked async_only=True"):
        driven_here(model=Marked())


@final
class Suspends:
    """What a bare event loop of one's own would be given."""

    def __await__(self) -> object:
        yield "wanted"


async def _bare() -> None:
    work: Awaitable[None] = Suspends()  # type: ignore[assignment]
    await work


@pytest.mark.parametrize(
    "wait",
    [
        _bare,
        lambda: asyncio.sleep(0),
        lambda: asyncio.sleep(0.01),
        lambda: anyio.sleep(0.01),
        partial(trio.sleep, 0.01),
        lambda: anyio.to_thread.run_sync(str),
    ],
    ids=["bare", "asyncio-checkpoint", "asyncio", "anyio", "trio", "thread"],
)
@pytest.mark.parametrize("kind", ["coroutine", "items", "sync"])
def test_a_tool_that_waits_is_named(wait: Callable[[], Awaitable[object]], kind: str) -> None:
    """It is the host's mistake: never an error that the model is told."""

    @tool(name="fetch")
    async def fetch() -> str:
        await wait()
        return "page"

    @tool(name="fetch")
    async def fetch_items() -> AsyncIterator[str]:
        await wait()
        yield "page"

    @tool(name="fetch")
    def fetch_sync() -> object:
        return wait()

    tools: dict[str, AnyTool[object, object]] = {
        "coroutine": fetch,
        "items": fetch_items,
        "sync": fetch_sync,
    }
    with pytest.raises(UsageError, match=r"drive_sync: the tool fetch .*waits for an event loop"):
        driven_here(tools[kind])


def test_the_coroutine_that_waits_is_named_too() -> None:
    """The innermost one is what has to be changed."""

    async def innermost() -> None:
        await asyncio.sleep(0)

    @tool
    async def fetch() -> str:
        await innermost()
        return "page"

    with pytest.raises(UsageError, match=r"the tool fetch \(in .*sleep"):
        driven_here(fetch)


@final
@frozen
class Waiting:
    """A model that needs an event loop."""

    provider: str = "acme"
    model_id: str = "waiting"
    wait: Callable[[], Awaitable[object]] = lambda: anyio.sleep(0.01)

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        await self.wait()
        return DONE

    def stream(self, request: ModelRequest, /) -> ModelStream:
        raise NotImplementedError


@pytest.mark.parametrize(
    "wait", [lambda: anyio.sleep(0.01), lambda: asyncio.sleep(0)], ids=["needs", "suspends"]
)
def test_a_model_that_waits_is_named(wait: Callable[[], Awaitable[object]]) -> None:
    """As a tool is; it is no failure of the model's."""
    with pytest.raises(UsageError, match="drive_sync: the model acme/waiting"):
        driven_here(model=Waiting(wait=wait))


def test_other_errors_are_told_as_ever() -> None:
    """Also cancellations: nobody can cancel anything here."""

    @tool
    async def wrong() -> str:
        raise KeyError("x")

    @tool
    async def cancelled() -> str:
        raise asyncio.CancelledError

    @tool
    def cancelled_sync() -> str:
        raise asyncio.CancelledError

    state = driven_here(wrong, cancelled, cancelled_sync)

    kinds = [part.kind for part in settled(state) if isinstance(part, ToolError)]
    assert kinds == ["failed", "interrupted", "interrupted"]


def test_a_foreign_exception_of_the_model_is_its_failure() -> None:
    """Only what says that there is no event loop is the host's mistake."""

    async def wrong() -> None:
        raise KeyError

    state = driven_here(model=Waiting(wait=wrong))

    assert getattr(state.phase, "end", None) == Failed(
        ModelErrorReason("unknown", "the model raised KeyError")
    )


def test_an_exit_leaves_at_once() -> None:
    """Ctrl-C and exit are nobody's tool error."""

    @tool
    async def leave() -> str:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        driven_here(leave)

    assert not BLOCKING.get()


def test_retries_block() -> None:
    """The clock of the run does the waiting."""
    clock = VirtualClock()
    busy = ModelErrorReason("overloaded", "busy")
    state = driven_here(model=ScriptedModel([busy, DONE]), clock=clock)

    assert state.steps[-1].text == "done"
    assert len(clock.slept) == 1


def test_the_machines_clock_blocks_where_there_is_no_loop() -> None:
    """It sleeps, without an event loop."""
    clock = SystemClock()
    token = BLOCKING.set(True)
    try:
        until = clock.now() + 10_000_000
        with pytest.raises(StopIteration):
            clock.sleep_until(until).send(None)
    finally:
        BLOCKING.reset(token)

    assert clock.now() >= until


async def test_the_machines_clock_suspends_where_there_is_one() -> None:
    """It never runs back, and returns when it is time."""
    clock = SystemClock()
    until = clock.now() + 5_000_000
    await clock.sleep_until(until)
    await clock.sleep_until(0)

    assert clock.now() >= until
    assert abs(clock.now() - time.time_ns()) < 60_000_000_000


def test_blocking_is_over_afterwards() -> None:
    """Whatever came of it."""
    seen: list[bool] = []

    @tool
    def look() -> str:
        seen.append(BLOCKING.get())
        return "seen"

    driven_here(look)

    assert seen == [True]
    assert not BLOCKING.get()


def test_a_time_out_shows_when_the_tool_has_ended() -> None:
    """It cannot be interrupted; what it returned does not count."""
    clock = VirtualClock()

    @tool(timeout=1)
    def slow() -> str:
        clock.advance(2.0)
        return "late"

    @tool(timeout=1)
    def quick() -> str:
        return "in time"

    late, early = settled(driven_here(slow, quick, clock=clock))

    assert isinstance(late, ToolError)
    assert late.kind == "timeout"
    assert late.error == "the tool did not end within 1 seconds"
    assert isinstance(early, ToolError)  # its time began with the step


def test_it_journals() -> None:
    """Replaying what was written gives the state that was reached."""
    journal = MemoryJournal()
    model = ScriptedModel([reply(call(sync), call(coroutine)), DONE])
    program = program_of(sync, coroutine, model=model)
    first = begin(program, "Go.", run="r", seed=1, at=0)
    runtime = Runtime(
        models=[model], deps=None, tools=[sync, coroutine], clock=VirtualClock(), journal=journal
    )
    state = drive_sync(program, first, runtime)
    header = JournalHeader("r", 1, 0, first.state.messages, program.fingerprint)

    assert replay(program, header, journal.entries) == Success(state)


async def test_it_runs_within_an_event_loop_too() -> None:
    """It blocks it, and makes no use of it."""
    assert driven_here(sync).steps[-1].text == "done"


def test_a_tool_may_run_an_event_loop_of_its_own() -> None:
    """A sync tool does what it likes; agents in it suspend again."""
    seen: list[bool] = []

    @tool
    async def look() -> str:
        seen.append(BLOCKING.get())
        await anyio.lowlevel.checkpoint()
        return "seen"

    inner = Agent(model=ScriptedModel([reply(call("look")), DONE]), tools=[look])

    @tool
    def ask() -> str:
        return inner.generate_sync("Go.").text

    state = driven_here(ask)

    assert isinstance(settled(state)[0], ToolResult)
    assert seen == [False]
