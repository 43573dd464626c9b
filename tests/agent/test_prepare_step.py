"""What a prepare function is told, and what goes with a run beside its messages."""

from collections.abc import Callable
from typing import cast

import pytest

import stepfold as sf
from stepfold.testing import ScriptedModel, call, reply


@sf.tool
def look(context: sf.ToolContext[object], n: int) -> str:
    """Look."""
    return f"{context.runtime_context.get('tenant')} sees {n}"


def looking(*numbers: int) -> list[sf.ModelReply]:
    return [*(reply(call(look, {"n": n}, id=f"c{n}")) for n in numbers), reply("Done.")]


async def test_the_context_of_a_run_reaches_tools_policies_and_the_prepare_function() -> None:
    """A plan may replace it; it is a part of the state, so a replay has it too."""
    told: list[tuple[str, object]] = []

    def prepare(context: sf.StepContext[object]) -> sf.events.StepPlan | None:
        told.append(("prepare", context.runtime_context["tenant"]))
        return sf.events.StepPlan(runtime_context={"tenant": "b"}) if context.step == 1 else None

    def policy(context: sf.ApprovalContext[object]) -> sf.Verdict:
        told.append(("policy", context.runtime_context["tenant"]))
        return sf.Verdict("not-applicable")

    agent = sf.Agent(
        model=ScriptedModel(looking(1, 2)),
        tools=[look],
        prepare_step=prepare,
        tool_approval=policy,
    )
    journal = sf.MemoryJournal()
    run = await agent.generate("Look.", runtime_context={"tenant": "a"}, journal=journal)

    assert run.results_of(look) == ("a sees 1", "b sees 2")
    assert told == [
        *(("prepare", "a"), ("policy", "a"), ("prepare", "a"), ("policy", "b"), ("prepare", "b"))
    ]
    assert sf.replay(agent.program, journal.header, journal.entries) == sf.Success(run.state)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([("a", 1)], "runtime_context: expected a Mapping"),
        ({"a": object()}, "runtime_context: expected what has a JSON form"),
        ({"__proto__": 1}, "runtime_context: expected a JSON object"),
    ],
)
async def test_a_context_that_is_no_data_is_refused_at_once(given: object, told: str) -> None:
    """What is no JSON cannot be stored; deps are for live things."""
    generate = cast("Callable[..., object]", sf.Agent(model=ScriptedModel([])).stream)

    with pytest.raises(sf.UsageError, match=told):
        generate("Look.", runtime_context=given)


async def test_a_run_that_is_taken_up_again_keeps_its_context() -> None:
    """Nobody can give it another one then."""

    @sf.tool(needs_approval=True)
    def pay(context: sf.ToolContext[object]) -> str:
        return str(context.runtime_context["tenant"])

    agent = sf.Agent(model=ScriptedModel([reply(call(pay)), reply("Done.")]), tools=[pay])
    run = await agent.generate("Pay.", runtime_context={"tenant": "a"})
    answers = [sf.approve(run.open_approvals[0])]

    with pytest.raises(sf.UsageError, match="answer: expected no runtime_context"):
        await agent.answer(run, answers, runtime_context={"tenant": "b"})
    assert (await agent.answer(run, answers)).results_of(pay) == ("a",)


async def test_a_prepare_function_sees_the_prompt_and_what_it_is_made_of() -> None:
    """The prompt that an earlier plan has put in place carries on; the history is there as well."""
    contexts: list[sf.StepContext[object]] = []
    short = sf.UserMessage("In short: look.")

    def prepare(context: sf.StepContext[object]) -> sf.events.StepPlan | None:
        contexts.append(context)
        if context.step == 1:
            return sf.events.StepPlan(messages=[short], instructions="Be quick.")
        return None

    model = ScriptedModel(looking(1, 2))
    agent = sf.Agent(model=model, tools=[look], instructions="Be kind.", prepare_step=prepare)
    hi, hello = sf.UserMessage("Hi"), sf.AssistantMessage("Hello")
    history: list[sf.Message] = [hi, hello, sf.UserMessage("Look twice.")]
    run = await agent.generate(history, run_id="r")

    first, second, third = contexts
    assert {one.model for one in contexts} == {f"{model.provider}/{model.model_id}"}
    assert [one.initial_messages for one in contexts] == [tuple(history)] * 3
    assert [len(one.response_messages) for one in contexts] == [0, 2, 4]
    assert third.response_messages == run.messages[3:7]
    assert first.messages == tuple(history)
    assert second.messages == second.history == run.messages[:5]
    assert third.messages == (short, *run.messages[5:7])
    assert third.history == run.messages[:7]
    assert [one.instructions for one in contexts] == ["Be kind.", "Be kind.", "Be quick."]
    assert {one.initial_instructions for one in contexts} == {"Be kind."}
    assert [len(one.steps) for one in contexts] == [0, 1, 2]
    assert model.requests[2].messages == third.messages


async def test_a_prepare_function_sees_who_spoke_just_now() -> None:
    """What was steered is the end of the prompt."""
    said = sf.UserMessage("And hurry.")
    contexts: list[sf.StepContext[object]] = []

    def prepare(context: sf.StepContext[object]) -> None:
        contexts.append(context)

    agent = sf.Agent(model=ScriptedModel(looking(1)), tools=[look], prepare_step=prepare)
    first = sf.begin(agent.program, "Look.", run="r", seed=0, at=0)
    spoken = sf.step(agent.program, first.state, sf.events.MessageSteered("m", said, "steer", 0))
    state = spoken.state
    state = await sf.drive(agent.program, sf.Transition(state, sf.pending(state)), agent.runtime())

    assert [one.steering_messages for one in contexts] == [(), (said,)]
    assert contexts[1].messages[-1] == said
    assert said not in contexts[1].response_messages


async def test_settings_of_a_plan_reach_the_model() -> None:
    """For the step that they were given for."""

    def prepare(context: sf.StepContext[object]) -> sf.events.StepPlan | None:
        if context.step == 1:
            return None
        settings = sf.CallSettings(temperature=0.0)
        return sf.events.StepPlan(settings=settings, provider_options={"acme": {"fast": True}})

    model = ScriptedModel(looking(1))
    agent = sf.Agent(
        model=model,
        tools=[look],
        prepare_step=prepare,
        settings=sf.CallSettings(temperature=0.7, top_k=3),
        provider_options={"acme": {"cache": True}},
    )
    await agent.generate("Look.")

    assert [request.settings for request in model.requests] == [
        sf.CallSettings(temperature=0.0, top_k=3),
        sf.CallSettings(temperature=0.7, top_k=3),
    ]
    assert [request.provider_options for request in model.requests] == [
        sf.JsonText('{"acme":{"cache":true,"fast":true}}'),
        sf.JsonText('{"acme":{"cache":true}}'),
    ]


async def test_instructions_may_have_provider_options_of_their_own() -> None:
    """They go before the prompt then, also where a plan says others, and never into the history."""
    cached = sf.JsonText.of({"anthropic": {"cache_control": {"type": "ephemeral"}}})

    def prepare(context: sf.StepContext[object]) -> sf.events.StepPlan | None:
        return sf.events.StepPlan(instructions="Be quick.") if context.step == 1 else None

    model = ScriptedModel(looking(1))
    instructions = sf.SystemMessage("Be kind.", provider_options=cached)
    agent = sf.Agent(model=model, tools=[look], instructions=instructions, prepare_step=prepare)
    run = await agent.generate("Look.")
    told = [request.messages[0] for request in model.requests]

    assert told == [
        sf.SystemMessage("Be kind.", provider_options=cached),
        sf.SystemMessage("Be quick.", provider_options=cached),
    ]
    assert [request.instructions for request in model.requests] == ["", ""]
    assert run.messages[0] == sf.UserMessage("Look.")

    plain = ScriptedModel([reply("Hi.")])
    await sf.Agent(model=plain, instructions=sf.SystemMessage("Be kind.")).generate("Hi")
    assert plain.requests[0].instructions == "Be kind."
