"""Law 7 by example: however a program is run, and however its replies are cut, the run is one."""

from collections.abc import AsyncIterator, Sequence
from typing import final

import anyio
import anyio.lowlevel
import pytest
from attrs import evolve, field, frozen

from stepfold.agent import Agent, Run, RunFailed
from stepfold.loop import Limits, LoopState, RetryPolicy, begin
from stepfold.shell import Runtime, drive_sync, tool
from stepfold.testing import Scripted, ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    Failure,
    JsonOutput,
    JsonText,
    ModelErrorReason,
    ModelReply,
    ModelWarning,
    Outcome,
    Performance,
    Reasoning,
    StreamError,
    StreamStart,
    Success,
    TextDelta,
    TextStart,
    ToolCall,
    ToolFault,
    ToolResult,
    UrlSource,
)

DONE = reply("done")
BUSY = ModelErrorReason("overloaded", "busy")


@final
@frozen
class Amount:
    value: int = field()

    @value.validator
    def _positive(self, attribute: object, value: int) -> None:
        if value < 0:
            msg = f"expected 0 or more, got {value}"
            raise ValueError(msg)


@tool
def sync(number: int) -> int:
    return number * 2


@tool
async def coroutine(number: int) -> str:
    return "x" * number


@tool
async def items(number: int) -> AsyncIterator[int]:
    for item in range(number):
        yield item


@tool
async def fails(number: int) -> int:
    if number % 2:
        raise KeyError(number)
    raise ToolFault("not today")


@tool
def chooses(number: int) -> Outcome[int, str]:
    return Success(number) if number % 2 else Failure("even")


@tool
async def binds(amount: Amount) -> int:
    return amount.value


@tool(needs_approval=True)
async def asks(number: int) -> int:
    return number


TOOLS = (sync, coroutine, items, fails, chooses, binds, asks)


def parallel(*numbers: int) -> ModelReply:
    """Calls of all tools with each number, and some that cannot be accepted."""
    return reply(
        "Let me see.",
        *(
            call(one, {"number": number})
            for number in numbers
            for one in (sync, coroutine, items, fails, chooses)
        ),
        *(call(binds, {"amount": {"value": number - 1}}) for number in numbers),
        call("nobody", "{}"),
        call(sync, '{"number":'),
        call(sync, '{"number":"1"}'),
        call(sync, '{"number":1}', id="same"),
        call(sync, '{"number":2}', id="same"),
    )


PROVIDED = reply(
    Reasoning("Hm."),
    ToolCall("p", "search", "{}", provider_executed=True),
    ToolResult("p", "search", JsonOutput(JsonText("[1]")), provider_executed=True),
    UrlSource("u", "https://example.org"),
    "",
    "Found.",
)

SCRIPTS: dict[str, Sequence[Scripted]] = {
    "text": [reply("Hello.", "", " World.")],
    "nothing": [reply()],
    "parallel": [parallel(1, 2), parallel(0), DONE],
    "one call": [reply(call(coroutine, {"number": 3})), DONE],
    "approval": [reply(call(asks, {"number": 1}), call(sync, {"number": 2})), DONE],
    "retried": [BUSY, parallel(1), BUSY, BUSY, DONE],
    "failed": [parallel(1), BUSY, BUSY, BUSY, BUSY],
    "refused": [ModelErrorReason("quota", "no money left", status=429)],
    "torn": [[StreamStart(), TextStart("0"), TextDelta("0", "Hel"), StreamError(BUSY)], DONE],
    "cut": [reply("Once upon a ti", call(sync, {"number": 1}), finish="length")],
    "filtered": [reply(finish="content-filter")],
    "provided": [PROVIDED, DONE],
    "warned": [evolve(DONE, warnings=(ModelWarning("unsupported", "top_k"),))],
    "endless": [parallel(1)] * 30,
}


def timeless(state: LoopState) -> object:
    """A state without anything that a clock has said."""
    nothing = Performance(response_time=0, step_time=0)
    steps = tuple(evolve(step, performance=nothing) for step in state.steps)
    identity = evolve(state.identity, started=0)
    transcript = evolve(state.transcript, steps=steps)
    return evolve(state, identity=identity, now=0, transcript=transcript)


def agent_of(name: str, chunk_size: int | None = None) -> Agent:
    return Agent(
        model=ScriptedModel(SCRIPTS[name], chunk_size=chunk_size),
        tools=TOOLS,
        instructions="Be brief.",
        limits=Limits(steps=4, tool_calls=60, wrap_up_tokens=50),
        retry=RetryPolicy(initial_delay=3600.0),
    )


async def generated(agent: Agent) -> LoopState:
    outcome = await agent.try_generate("Go.", run_id="r", seed=7, clock=VirtualClock())
    match outcome:
        case Success(run):
            return run.state
        case Failure(failed):
            return failed.run.state


async def streamed(agent: Agent) -> LoopState:
    async with agent.stream("Go.", run_id="r", seed=7, clock=VirtualClock()) as stream:
        async for _ in stream:
            await anyio.lowlevel.checkpoint()
    return (await stream.run()).state


def driven_here(agent: Agent, name: str) -> LoopState:
    clock = VirtualClock()
    first = begin(agent.program, "Go.", run="r", seed=7, at=clock.now())
    model = ScriptedModel(SCRIPTS[name])
    runtime = Runtime(models=[model], tools=TOOLS, clock=clock)
    return drive_sync(agent.program, first, runtime)


def in_a_loop_of_its_own(agent: Agent) -> Run[object]:
    try:
        return agent.generate_sync("Go.", run_id="r", seed=7, clock=VirtualClock())
    except RunFailed as failed:
        return failed.run


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_way_to_run_a_program_gives_one_run(name: str) -> None:
    """On asyncio, on trio, without a loop; whole, and in chunks of any size."""
    expected = timeless(driven_here(agent_of(name), name))
    others = {
        "generate_sync": in_a_loop_of_its_own(agent_of(name)).state,
        "asyncio": anyio.run(generated, agent_of(name), backend="asyncio"),
        "trio": anyio.run(generated, agent_of(name), backend="trio"),
    }
    for backend in ("asyncio", "trio"):
        for size in (None, 1, 2, 7):
            agent = agent_of(name, size)
            others[f"stream/{backend}/{size}"] = anyio.run(streamed, agent, backend=backend)

    for way, state in others.items():
        assert timeless(state) == expected, way


def test_the_scripts_lead_where_they_are_meant_to() -> None:
    """Nothing is compared in vain."""
    ends = {name: driven_here(agent_of(name), name).phase for name in SCRIPTS}
    kinds = {name: type(getattr(phase, "end", None)).__name__ for name, phase in ends.items()}

    assert kinds == {
        "text": "Completed",
        "nothing": "Completed",
        "parallel": "Completed",
        "one call": "Completed",
        "approval": "NoneType",
        "retried": "Completed",
        "failed": "Failed",
        "refused": "Failed",
        "torn": "Completed",
        "cut": "Stopped",
        "filtered": "Stopped",
        "provided": "Completed",
        "warned": "Completed",
        "endless": "Stopped",
    }
