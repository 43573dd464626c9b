"""Agents, models and routes as stages of pipelines."""

from collections.abc import Sequence
from typing import final

import anyio
import pytest
from attrs import frozen

import stepfold as sf
from stepfold.pipeline import notes
from stepfold.testing import ScriptedModel, VirtualClock, call, reply


@final
@frozen
class Report:
    words: int


@sf.tool
def count(context: sf.ToolContext[str], text: str) -> int:
    """Count."""
    return len(context.deps + text)


def tokens(number: int) -> sf.Usage:
    return sf.Usage(0, number)


async def test_an_agent_is_a_stage() -> None:
    model = ScriptedModel([reply("Ahoy.")])
    agent = sf.Agent(model=model)
    pipeline = sf.given(str).then(agent.stage(lambda name: f"Greet {name}.")).map(str.upper)

    assert await pipeline.run("Ann", run_id="p") == sf.Success("AHOY.")
    assert model.requests[0].messages[-1] == sf.UserMessage("Greet Ann.")
    assert model.requests[0].key.startswith("p/0/")


async def test_an_agent_with_an_output_and_deps_is_a_stage() -> None:
    model = ScriptedModel([reply(call(count, {"text": "ab"})), reply('{"words": 3}')])
    agent = sf.Agent(model=model, deps_type=str, tools=[count], output=sf.object_of(Report))

    pipeline = sf.given(str).then(agent.stage(lambda text: f"Count {text}.", deps="c"))

    assert await pipeline.run("ab") == sf.Success(Report(3))


async def test_a_run_that_fails_is_a_failure() -> None:
    model = ScriptedModel([sf.ModelErrorReason("authentication", "no key")])
    stage = sf.Agent(model=model).stage(str)

    match await stage.run("x"):
        case sf.Failure(failed):
            assert failed.error == sf.ModelErrorReason("authentication", "no key")
        case sf.Success(value):
            pytest.fail(value)
    assert await stage.map_failure(type).run("x") == sf.Failure(sf.RunFailed)


async def test_a_run_without_an_output_is_a_failure() -> None:
    @sf.tool(needs_approval=True)
    def send() -> str:
        """Send it."""
        return "sent"

    agent = sf.Agent(model=ScriptedModel([reply(call(send, {}))]), tools=[send])

    outcome = await agent.stage(str).map_failure(str).run("x")

    assert isinstance(outcome, sf.Failure)
    assert "blocked on 1 open requests" in outcome.failure()


async def test_a_prompt_function_that_raises_is_a_defect() -> None:
    def breaks(text: str) -> str:
        raise LookupError(text)

    stage = sf.Agent(model=ScriptedModel([])).stage(breaks)

    with pytest.raises(sf.StageCrashed, match="the stage breaks raised LookupError"):
        await stage.run("x")
    with pytest.raises(sf.UsageError, match="expected a function that makes the prompt, got 'x'"):
        sf.Agent(model=ScriptedModel([])).stage("x")  # type: ignore[call-overload]


def test_stages_of_one_agent_and_prompt_are_equal() -> None:
    agent = sf.Agent(model=ScriptedModel([]))

    assert agent.stage(str) == agent.stage(str)
    assert agent.stage(str) != agent.stage(repr)
    assert len({agent.stage(str), agent.stage(str)}) == 1


async def test_a_model_is_asked_once() -> None:
    model = ScriptedModel([reply('{"words": 1}')])
    stage = sf.model_stage(str, model=model, output=sf.object_of(Report), instructions="Count.")

    assert await stage.run("x") == sf.Success(Report(1))
    assert model.requests[0].instructions == "Count."


# --- routes -----------------------------------------------------------------------------------


def length(text: str) -> int:
    return len(text)


def upper(text: str) -> str:
    return text.upper()


ROUTES = sf.to("refund", "they want money back", sf.stage(length)) | sf.to(
    "other", "anything else", sf.stage(upper)
)


async def test_a_model_chooses_the_stage() -> None:
    model = ScriptedModel([reply('{"result": "other"}')])
    routed = sf.route(ROUTES, model=model, prompt=lambda text: f"They said: {text}")

    assert await routed.run("hi") == sf.Success("HI")
    assert "- refund: they want money back" in str(model.requests[0].instructions)
    assert model.requests[0].messages[-1] == sf.UserMessage("They said: hi")


@pytest.mark.parametrize(
    "answer", [reply("somewhere"), sf.ModelErrorReason("quota", "no money")], ids=["said", "failed"]
)
async def test_a_model_that_does_not_choose_is_a_failure(
    answer: sf.ModelReply | sf.ModelErrorReason,
) -> None:
    routed = sf.route(ROUTES, model=ScriptedModel([answer]), prompt=str)

    outcome = await routed.map_failure(lambda error: error).run("hi")

    assert isinstance(outcome, sf.Failure)
    error = outcome.failure()
    assert isinstance(error, sf.NotRouted)
    assert error.message
    assert error.answer == ("somewhere" if isinstance(answer, sf.ModelReply) else "")


def test_routes_are_checked() -> None:
    with pytest.raises(sf.UsageError, match="expected names that differ, got 'refund' twice"):
        _ = ROUTES | sf.to("refund", "again", sf.pure(len))
    with pytest.raises(sf.UsageError, match="expected a name for the model to answer with"):
        sf.to(" ", "nothing", sf.pure(len))
    with pytest.raises(sf.UsageError, match="to: expected a Stage"):
        sf.to("x", "nothing", len)  # type: ignore[arg-type]


# --- orchestration ----------------------------------------------------------------------------


@sf.stage
def plan(text: str) -> Sequence[str]:
    return text.split()


@sf.stage
def total(lengths: tuple[int, ...]) -> int:
    return sum(lengths)


async def test_tasks_are_planned_done_and_combined() -> None:
    report = sf.orchestrate(plan, sf.stage(length), total, at_most=3)

    assert await report.run("a bc def") == sf.Success(6)
    assert await report.run("") == sf.Success(0)
    assert await report.run("a b c d") == sf.Failure(sf.BoundReached(3, 4))


# --- budgets ----------------------------------------------------------------------------------


def spending(number: int) -> ScriptedModel:
    return ScriptedModel([reply("Done.", usage=tokens(number))])


async def test_agents_share_the_limits_of_the_pipeline() -> None:
    def agent() -> sf.Stage[str, str, sf.RunFailed]:
        return sf.Agent(model=spending(30)).stage(str)

    three = agent() >> agent() >> agent()
    shared = sf.Limits(tokens=50)

    assert await three.run("x", limits=sf.Limits(tokens=100)) == sf.Success("Done.")
    outcome = await three.map_failure(str).run("x", limits=shared)
    assert isinstance(outcome, sf.Failure)
    assert "limit-tokens" in outcome.failure()


async def test_what_a_cancelled_agent_did_not_spend_is_there_for_the_next() -> None:
    async def hang(request: sf.ModelRequest) -> sf.ModelReply:
        await anyio.sleep(60)
        return reply("Late.")

    slow = sf.Agent(model=ScriptedModel([hang])).stage(str).timeout(0.02)
    both = slow.fallback(sf.Agent(model=spending(10)).stage(str))

    assert await both.run("x", limits=sf.Limits(tokens=50)) == sf.Success("Done.")


async def test_limits_that_cannot_be_shared_are_refused() -> None:
    with pytest.raises(sf.UsageError, match="give steps, calls_of and wrap_up_tokens to the agent"):
        await sf.given(str).run("x", limits=sf.Limits(steps=3))


# --- observation ------------------------------------------------------------------------------


async def test_one_stream_tells_of_stages_and_of_agents_within() -> None:
    seen: list[notes.Note] = []
    pipeline = sf.Agent(model=ScriptedModel([reply("Ahoy.")])).stage(str).named("greet")

    await pipeline.run("x", observers=[seen.append], clock=VirtualClock())

    told = [type(one).__name__ for one in seen]
    assert told[0] == "StageStarted"
    assert told[-2:] == ["StageFinished", "PipelineEnded"]
    nested = [one for one in seen if isinstance(one, notes.AgentTold)]
    assert {one.stage for one in nested} == {"greet/str"}
    assert {type(one.seen).__name__ for one in nested} >= {"RunTakenUp", "ModelCallEnded"}


# --- inputs -----------------------------------------------------------------------------------


async def test_a_pipeline_that_waits_for_inputs_needs_a_journal() -> None:
    asks = sf.given(str).then(sf.await_input(bool, name="approval", ask=lambda text: f"{text}?"))

    with pytest.raises(sf.UsageError, match="waits for the input 'approval'"):
        await asks.run("x")
    twice = asks.map(str).then(sf.await_input(bool, name="approval", ask=str))
    with pytest.raises(sf.UsageError, match="expected names that differ, got two of 'approval'"):
        await twice.run("x")
    with pytest.raises(sf.UsageError, match="await_input who: "):
        sf.await_input(complex, name="who", ask=str)


async def test_parts_of_agents_are_told_where_they_are_asked_for() -> None:
    def pipeline() -> sf.Stage[str, str, sf.RunFailed]:
        return sf.Agent(model=ScriptedModel([reply("Ahoy.")])).stage(str).named("greet")

    async def said(*, parts: bool) -> list[str]:
        seen: list[notes.Note] = []
        outcome = await pipeline().run("x", observers=[seen.append], parts=parts)
        assert outcome == sf.Success("Ahoy.")
        told = [one for one in seen if isinstance(one, notes.AgentSaid)]
        assert {one.stage for one in told} <= {"greet/str"}
        return [one.part.delta for one in told if isinstance(one.part, sf.TextDelta)]

    assert "".join(await said(parts=True)) == "Ahoy."
    assert await said(parts=False) == []


async def test_a_streamed_run_that_fails_is_a_failure_too() -> None:
    model = ScriptedModel([sf.ModelErrorReason("authentication", "no key")])
    stage = sf.Agent(model=model).stage(str)
    seen: list[notes.Note] = []

    outcome = await stage.map_failure(str).run("x", observers=[seen.append], parts=True)

    assert "no key" in outcome.failure()
