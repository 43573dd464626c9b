"""A carrier answers single commands as the drivers would, for whoever owns the state."""

from collections.abc import AsyncGenerator, Callable

import anyio
import pytest

from stepfold.agent import Agent
from stepfold.loop import CALL_LOST, Done, LoopState, Timeouts, begin, step
from stepfold.loop.commands import CallKey, Command
from stepfold.loop.events import ModelFailed, ModelReplied, ToolFailed, ToolReturned
from stepfold.ports import streamed
from stepfold.shell import (
    Carrier,
    EventHappened,
    Observation,
    RunPart,
    ToolProgressed,
    lost_call,
    tool,
)
from stepfold.testing import VirtualClock
from stepfold.testing.laws import same_run
from stepfold.values import ModelReply, ModelRequest, StreamPart, Text, TextDelta, TextStart
from tests.shell._runs import model_calling


@tool
async def count(up_to: int) -> AsyncGenerator[int]:
    """Count, and show how far it is."""
    for number in range(up_to):
        yield number


def agent_of(**options: object) -> Agent:
    return Agent(model=model_calling(count, input={"up_to": 3}), tools=[count], **options)  # type: ignore[arg-type]


async def owned(agent: Agent, show: Callable[[RunPart], None] | None = None) -> LoopState:
    """Drive a run as an engine does: a command, its event, a step; nothing side by side."""
    program = agent.program
    first = begin(program, "Go.", run="run", seed=0, at=0)
    carrier = Carrier(program, agent.runtime(clock=VirtualClock()), first)
    state, owed = first.state, list[Command](first.commands)
    while owed:
        event = await carrier.carry_out(state, owed.pop(0), show=show)
        assert event is not None
        transition = step(program, state, event)
        await carrier.happened(state, event, transition)
        state = transition.state
        owed += transition.commands
    await carrier.aclose()
    return state


async def test_a_run_carried_out_command_by_command_is_the_run_of_a_driver() -> None:
    run = await agent_of().generate("Go.", run_id="run", seed=0, clock=VirtualClock())

    same_run(await owned(agent_of()), run.state)


async def test_shown_or_not_the_events_are_the_same() -> None:
    shown: list[RunPart] = []

    same_run(await owned(agent_of(), shown.append), await owned(agent_of()))

    assert [part.value.text for part in shown if isinstance(part, ToolProgressed)] == [
        "0",
        "1",
        "2",
    ]
    assert "".join(part.delta for part in shown if isinstance(part, TextDelta)) == "done"


async def test_observers_are_told_by_whoever_steps() -> None:
    seen: list[Observation] = []
    state = await owned(agent_of(observers=[seen.append]))
    kinds = [type(one).__name__ for one in seen]

    assert isinstance(state.phase, Done)
    assert kinds[:3] == ["RunTakenUp", "ModelCallStarted", "ModelCallEnded"]
    assert kinds.count("ToolExecutionStarted") == kinds.count("ToolExecutionEnded") == 1
    assert isinstance(seen[-1], EventHappened)


async def test_a_command_that_the_state_does_not_owe_is_answered_by_nothing() -> None:
    agent = agent_of()
    state = await owned(agent)
    first = begin(agent.program, "Go.", run="run", seed=0, at=0)
    carrier = Carrier(agent.program, agent.runtime(), first)
    [command] = first.commands
    event = await carrier.carry_out(first.state, command)
    assert isinstance(event, ModelReplied)
    [run_tool] = step(agent.program, first.state, event).commands

    assert await carrier.carry_out(state, run_tool) is None


class Halting:
    """A model that says a word and then nothing more."""

    provider = "scripted"
    model_id = "halting"

    async def generate(self, request: ModelRequest) -> ModelReply:
        raise NotImplementedError

    @streamed
    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart]:
        yield TextStart("0")
        yield TextDelta("0", "Well")
        await anyio.sleep_forever()


async def test_what_came_of_a_reply_that_was_cut_is_told_once() -> None:
    agent = Agent(model=Halting())
    first = begin(agent.program, "Go.", run="run", seed=0, at=0)
    carrier = Carrier(agent.program, agent.runtime(), first)
    with anyio.move_on_after(0.05):
        await carrier.carry_out(first.state, first.commands[0], show=lambda part: None)

    partial = carrier.partial()

    assert partial is not None
    assert partial.content == (Text("Well"),)
    assert carrier.partial() is None


async def test_a_silence_is_cut_without_anybody_watching() -> None:
    """Limits of chunks are those of one command; those of steps and runs are the owner's."""
    agent = Agent(model=Halting(), timeout=Timeouts(chunk=0.01, step=0.0001, total=0.0001))
    first = begin(agent.program, "Go.", run="run", seed=0, at=0)
    carrier = Carrier(agent.program, agent.runtime(), first)

    event = await carrier.carry_out(first.state, first.commands[0])

    assert isinstance(event, ModelFailed)
    assert event.partial is not None


@pytest.mark.parametrize("at", [0, 5])
def test_a_call_that_was_lost_is_told_as_a_crash_is(at: int) -> None:
    event = lost_call(CallKey(0, 0, 1), at)

    assert event == ToolReturned(
        CallKey(0, 0, 1), ToolFailed(CALL_LOST, "interrupted"), at, started=at
    )
