"""Law 15: a run can be cancelled at every moment, and is whole afterwards."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Literal

import anyio
import anyio.lowlevel
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from stepfold.agent import Agent, Run, RunFailed
from stepfold.loop import Calling, Program, RetryPolicy, Working, replay
from stepfold.loop.events import ToolReturned
from stepfold.shell import AnyTool, CancelHandle, MemoryJournal, tool
from stepfold.testing import (
    Intervention,
    Schedule,
    Scripted,
    ScriptedModel,
    call,
    laws,
    reply,
    simulate,
)
from stepfold.testing.strategies import programs, worlds
from stepfold.values import (
    Cancelled,
    Completed,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    Success,
    UserMessage,
)

Way = Literal["handle", "outer scope", "leaving"]
DONE = reply("done")


@tool
async def at_once(number: int) -> int:
    return number


@tool(idempotent=True)
async def later(number: int) -> int:
    for _ in range(number):
        await anyio.lowlevel.checkpoint()
    return number


@tool
async def items(number: int) -> AsyncIterator[int]:
    for item in range(number):
        await anyio.lowlevel.checkpoint()
        yield item


@tool
async def stubborn(number: int) -> int:
    """Finish what was begun, whoever cancels it."""
    with anyio.CancelScope(shield=True):
        for _ in range(number):
            await anyio.lowlevel.checkpoint()
    return number


TOOLS: tuple[AnyTool[object, object], ...] = (at_once, later, items, stubborn)


@st.composite
def scripts(draw: st.DrawFn) -> list[ModelReply | ModelErrorReason]:
    """Draw steps with calls of several tools, and a failure now and then."""
    busy = ModelErrorReason("overloaded", "busy")
    script: list[ModelReply | ModelErrorReason] = []
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            script.append(busy)
        calls = draw(
            st.lists(st.tuples(st.sampled_from(TOOLS), st.integers(0, 4)), min_size=1, max_size=4)
        )
        script.append(reply("Hm.", *(call(one, {"number": number}) for one, number in calls)))
    return [*script, DONE]


def suspending(script: list[ModelReply | ModelErrorReason]) -> list[Scripted]:
    """The same script, from a model that takes its time."""

    def later_on(answer: ModelReply | ModelErrorReason) -> Scripted:
        async def given(_: ModelRequest) -> ModelReply | ModelErrorReason:
            await anyio.lowlevel.checkpoint()
            return answer

        return given

    return [later_on(answer) for answer in script]


async def cancelled_after(
    agent: Agent, journal: MemoryJournal, way: Way, moment: int, *, streams: bool
) -> Run[str] | None:
    """Run, and cancel after so many turns of the event loop, or so many parts."""
    handle = CancelHandle() if way == "handle" else None
    runs: list[Run[str]] = []

    async def go() -> None:
        if not streams:
            runs.append(await agent.generate("Go.", journal=journal, cancel=handle))
            return
        async with agent.stream("Go.", journal=journal, cancel=handle) as stream:
            seen = 0
            async for _ in stream:
                seen += 1
                if way == "leaving" and seen > moment:
                    break
        runs.append(await stream.run())

    with anyio.fail_after(30):
        async with anyio.create_task_group() as group:
            group.start_soon(go)
            if way != "leaving":
                for _ in range(moment):
                    await anyio.lowlevel.checkpoint()
                if handle is None:
                    group.cancel_scope.cancel()
                else:
                    handle("enough")
    return runs[0] if runs else None


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(
    ("way", "streams"),
    [
        ("handle", False),
        ("handle", True),
        ("outer scope", False),
        ("outer scope", True),
        ("leaving", True),
    ],
)
@given(script=scripts(), moment=st.integers(0, 60))
def test_a_run_is_whole_whenever_it_is_cancelled(
    backend: str,
    way: Way,
    streams: bool,
    script: list[ModelReply | ModelErrorReason],
    moment: int,
) -> None:
    """No task is left; the journal gives the state; what was finished is kept; all is closed."""
    journal = MemoryJournal()
    agent = Agent(
        model=ScriptedModel(suspending(script)),
        tools=TOOLS,
        retry=RetryPolicy(initial_delay=0.0, max_retries=3),
    )

    async def check() -> Run[str] | None:
        before = len(anyio.get_running_tasks())
        with suppress(RunFailed):
            run = await cancelled_after(agent, journal, way, moment, streams=streams)
            assert len(anyio.get_running_tasks()) == before
            return run
        raise AssertionError

    run = anyio.run(check, backend=backend)

    try:
        header = journal.header
    except ValueError:  # cancelled before it had begun
        assert run is None
        return
    outcome = replay(agent.program, header, journal.entries)
    assert isinstance(outcome, Success), outcome
    state = outcome.unwrap()
    if run is not None:
        assert run.state == state
        assert isinstance(run.end, Completed | Cancelled)
    if journal.entries:
        laws.end_can_be_sent(state)
    written = str(state.messages)
    for entry in journal.entries:
        if isinstance(entry.event, ToolReturned):
            key = entry.event.key
            assert f"{header.run}/{key.step}/{key.index}" in written


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@given(script=scripts(), moment=st.integers(0, 60), streams=st.booleans())
def test_a_conversation_goes_on_after_a_cancelled_run(
    backend: str, script: list[ModelReply | ModelErrorReason], moment: int, streams: bool
) -> None:
    """Its messages are a prompt, with one answer to each call."""
    agent = Agent(
        model=ScriptedModel(suspending(script)),
        tools=TOOLS,
        retry=RetryPolicy(initial_delay=0.0, max_retries=3),
    )

    async def check() -> None:
        run = await cancelled_after(agent, MemoryJournal(), "handle", moment, streams=streams)
        assert run is not None
        model = ScriptedModel([DONE])
        again = await Agent(model=model, tools=TOOLS).generate(
            [*run.messages, UserMessage("Go on.")]
        )
        assert again.end == Completed("done")
        assert again.messages[: len(run.messages)] == run.messages

    anyio.run(check, backend=backend)


@given(st.data(), programs(min_tools=2, hooks=15), st.integers(0, 12))
def test_a_run_that_shall_end_after_its_step_has_all_of_it(
    data: st.DataObject, drawn: Program, tick: int
) -> None:
    """It is the beginning of the undisturbed run, down to the times, with the step in flight.

    Nobody outside is asked here: who waits for somebody is not waited for.
    """
    here = {name: evolve(one, executes=True, approval="never") for name, one in drawn.tools.items()}
    program = evolve(drawn, tools=here, retry=RetryPolicy(max_retries=0))
    world = data.draw(worlds(program=program, min_calls=1, hostile=10, cut=3, failing=5))
    order = data.draw(st.lists(st.integers(0, 7), min_size=1, max_size=8).map(tuple))

    undisturbed = simulate(program, "Hello", world, Schedule(order))
    asked = (Intervention(tick, "cancel-after-step"),)
    trace = simulate(program, "Hello", world, Schedule(order, asked))

    laws.every_law_holds(trace)
    kept = trace.end.steps
    assert undisturbed.end.steps[: len(kept)] == kept
    met = [one.before for one in trace.moments if type(one.event).__name__ == "CancelRequested"]
    for state in met:
        is_in_flight = isinstance(state.phase, Working) and state.phase.replied is not None
        assert len(kept) == len(state.steps) + is_in_flight or isinstance(state.phase, Calling)
