"""Models that answer where another cannot."""

from typing import final

import pytest

from stepfold.agent import Agent, Run, RunFailed, generate_text
from stepfold.loop import Limits, RetryPolicy
from stepfold.loop.events import StepPlan
from stepfold.loop.notes import ModelRetried, StepStarted
from stepfold.ports import KEEPER
from stepfold.shell import StepContext, tool
from stepfold.testing import Scripted, ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    Failed,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    Price,
    StreamError,
    StreamPart,
    StreamStart,
    TextDelta,
    TextStart,
    UsageError,
)

BUSY = ModelErrorReason("overloaded", "busy")
GONE = ModelErrorReason("not-found", "no such model")
DONE = reply("done")
TORN: list[StreamPart] = [StreamStart(), TextStart("0"), TextDelta("0", "Hel"), StreamError(GONE)]


def model(name: str, *script: Scripted) -> ScriptedModel:
    return ScriptedModel(script, provider="acme", model_id=name)


async def ran(agent: Agent, *, streams: bool) -> Run[str]:
    clock = VirtualClock()
    if not streams:
        return await agent.generate("Go.", clock=clock)
    async with agent.stream("Go.", clock=clock) as stream:
        return await stream.run()


in_both_ways = pytest.mark.parametrize("streams", [False, True])


@in_both_ways
async def test_the_step_names_the_model_that_answered(streams: bool) -> None:
    """The first is asked again in the next step; its tools are run once."""
    runs: list[str] = []

    @tool
    async def look() -> str:
        runs.append("look")
        return "seen"

    first = model("one", GONE, DONE)
    second = model("two", BUSY, reply(call(look)))
    agent = Agent(model=first, fallback_models=[second], tools=[look])
    run = await ran(agent, streams=streams)

    assert agent.program.models == ("acme/one", "acme/two")
    assert [step.model for step in run.steps] == ["acme/two", "acme/one"]
    assert runs == ["look"]
    assert run.unwrap() == "done"


@in_both_ways
async def test_a_reply_that_breaks_off_falls_over_too(streams: bool) -> None:
    """A reader of the stream is told that what was said does not count."""
    agent = Agent(model=model("one", TORN), fallback_models=[model("two", DONE)])
    run = await ran(agent, streams=streams)

    assert run.text == "done"
    assert run.steps[0].model == "acme/two"


async def test_the_last_failure_is_that_of_the_run() -> None:
    """Nobody is left to ask."""
    with pytest.raises(RunFailed) as caught:
        await generate_text(
            "Go.",
            model=model("one", GONE),
            fallback_models=[model("two", BUSY)],
            retry=RetryPolicy(max_retries=0),
        )

    assert caught.value.run.end == Failed(BUSY)


async def test_what_falls_over_is_up_to_the_policy() -> None:
    """A refused request may be a mistake of the program's, which another model would hide."""
    second = model("two", DONE)
    agent = Agent(
        model=model("one", GONE),
        fallback_models=[second],
        retry=RetryPolicy(fallback_on=["overloaded"]),
    )
    outcome = await agent.try_generate("Go.")

    assert outcome.failure().error == GONE
    assert second.requests == ()


@in_both_ways
async def test_a_plan_may_choose_among_all_of_them(streams: bool) -> None:
    """The chosen model falls over to the others."""

    def prepare(context: StepContext[object]) -> StepPlan:
        return StepPlan(model="acme/two")

    first, second = model("one", DONE), model("two", GONE)
    agent = Agent(model=first, fallback_models=[second], prepare_step=prepare)
    run = await ran(agent, streams=streams)

    assert run.steps[0].model == "acme/one"
    assert (len(first.requests), len(second.requests)) == (1, 1)


@final
class Keeping:
    """A model that keeps a thing for the run, and fails if it is told to."""

    provider = "acme"

    def __init__(self, model_id: str, *, fails: bool) -> None:
        self.model_id = model_id
        self.fails = fails
        self.closed = 0

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        keeper = KEEPER.get()
        assert keeper is not None
        assert keeper.keep(self, lambda: self) is self
        return await model("inner", GONE if self.fails else DONE).generate(request)

    stream = ScriptedModel([]).stream

    async def aclose(self) -> None:
        self.closed += 1


async def test_what_every_model_keeps_is_closed() -> None:
    """Also of those that could not answer."""
    first, second = Keeping("one", fails=True), Keeping("two", fails=False)
    run = await Agent(model=first, fallback_models=[second]).generate("Go.")

    assert run.text == "done"
    assert (first.closed, second.closed) == (1, 1)


async def test_the_stream_tells_who_is_asked_next() -> None:
    """Before anything of its reply is shown."""
    agent = Agent(model=model("one", TORN), fallback_models=[model("two", DONE)])
    async with agent.stream("Go.") as stream:
        parts = [part async for part in stream]

    [started] = [part for part in parts if isinstance(part, StepStarted)]
    [retried] = [part for part in parts if isinstance(part, ModelRetried)]
    assert (started.model, retried.model, retried.reason) == ("acme/one", "acme/two", GONE)
    said = [part.delta for part in parts[parts.index(retried) :] if isinstance(part, TextDelta)]
    assert said == ["done"]


async def ended(agent: Agent, *, streams: bool) -> Run[object]:
    """A run, also one that failed."""
    try:
        return await ran(agent, streams=streams)
    except RunFailed as failed:
        return failed.run


# --- models of a plan -------------------------------------------------------------------------


@in_both_ways
async def test_a_plan_may_name_a_model_that_is_asked_for_nothing_else(streams: bool) -> None:
    """It is no fallback; if it cannot answer, the agent's own models follow."""

    def prepare(context: StepContext[object]) -> StepPlan | None:
        return StepPlan(model="acme/large") if context.step == 1 else None

    @tool
    async def look() -> str:
        return "seen"

    small = model("small", reply(call(look)), reply(call(look)), GONE)
    large = model("large", GONE)
    agent = Agent(model=small, step_models=[large], tools=[look], prepare_step=prepare)
    run = await ended(agent, streams=streams)

    assert len(large.requests) == 1
    assert [step.model for step in run.steps] == ["acme/small", "acme/small"]
    assert run.end == Failed(GONE)


def test_a_model_of_steps_is_given_once() -> None:
    for arguments in ({"step_models": [model("one")]}, {"step_models": "acme/two"}):
        with pytest.raises(UsageError, match="step_models"):
            Agent(model=model("one"), **arguments)
    limits = Limits(cost=5)
    prices = {"acme/one": Price(input=0, output=0)}
    with pytest.raises(UsageError, match="got none of 'acme/two'"):
        Agent(model=model("one"), step_models=[model("two")], limits=limits, prices=prices)
