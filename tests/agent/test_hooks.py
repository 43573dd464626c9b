"""Hooks: asked by commands, answered by events, so that a replay asks nobody."""

from collections.abc import Callable, Mapping
from typing import cast

import anyio
import anyio.lowlevel
import pytest
from attrs import evolve, field, frozen

import stepfold as sf
from stepfold.shell import ApprovalRule, Hooks, StopCheck
from stepfold.testing import ScriptedModel, call, reply


@sf.tool
def wipe(path: str) -> str:
    """Wipe a path."""
    return f"wiped {path}"


def script() -> ScriptedModel:
    return ScriptedModel([reply(call(wipe, {"path": "/"}), call(wipe, {"path": "a"})), reply("ok")])


async def replayed(agent: sf.Agent[object, str], how: str) -> sf.Run[str]:
    """Run, generated or streamed, and hold that the journal gives the same state."""
    journal = sf.MemoryJournal()
    if how == "generate":
        run = await agent.generate("go", journal=journal, run_id="r", seed=0)
    else:
        async with agent.stream("go", journal=journal, run_id="r", seed=0) as stream:
            run = await stream.run()

    assert sf.replay(agent.program, journal.header, journal.entries) == sf.Success(run.state)
    return run


async def policy(context: sf.ApprovalContext[object]) -> sf.Verdict:
    outside = sf.JsonObject({"path": "/"}) == context.input
    return sf.Verdict("denied" if outside else "approved", reason="by rule" if outside else None)


@pytest.mark.parametrize("how", ["generate", "stream"])
async def test_a_policy_decides_on_each_call_and_the_model_is_told_why(how: str) -> None:
    """A denied call is answered with the reason, and the run goes on."""
    run = await replayed(sf.Agent(model=script(), tools=[wipe], tool_approval=policy), how)

    assert isinstance(run.end, sf.Completed)
    assert run.results_of(wipe) == ("wiped a",)
    denied = [part.output for part in run.steps[0].tool_results]
    assert denied[0] == sf.DeniedOutput("by rule")


@pytest.mark.parametrize(
    ("rules", "results"),
    [
        ({"wipe": "approved"}, ("wiped /", "wiped a")),
        ({"wipe": "not-applicable"}, ("wiped /", "wiped a")),
        ({"wipe": "denied"}, ()),
        ({"wipe": sf.Verdict("denied", reason="never")}, ()),
        ({"wipe": policy}, ("wiped a",)),
        ({}, ("wiped /", "wiped a")),
    ],
)
async def test_rules_by_name_decide_on_the_calls_of_their_tools(
    rules: Mapping[str, ApprovalRule[object]], results: tuple[str, ...]
) -> None:
    """A tool without a rule keeps its own."""
    agent = sf.Agent(model=script(), tools=[wipe], tool_approval=rules)

    assert (await replayed(agent, "generate")).results_of(wipe) == results


async def test_a_policy_may_ask_a_person() -> None:
    """The run rests, and the person sees why."""
    rules = {"wipe": sf.Verdict("user-approval", reason="it cannot be undone")}
    agent = sf.Agent(model=script(), tools=[wipe], tool_approval=rules)

    run = await replayed(agent, "generate")

    assert [request.reason for request in run.open_approvals] == ["it cannot be undone"] * 2
    answers = [sf.approve(request) for request in run.open_approvals]
    assert (await agent.answer(run, answers)).results_of(wipe) == ("wiped /", "wiped a")


@pytest.mark.parametrize("answer", ["perhaps", None, 3])
async def test_a_policy_that_fails_denies(answer: object) -> None:
    """Neither an exception nor an unknown word lets a call run."""

    def broken(context: sf.ApprovalContext[object]) -> object:
        if answer == 3:
            raise ValueError(context.call.tool_name)
        return answer

    agent = sf.Agent(model=script(), tools=[wipe], tool_approval=broken)  # type: ignore[arg-type]

    assert (await replayed(agent, "generate")).results_of(wipe) == ()


@pytest.mark.parametrize("how", ["generate", "stream"])
async def test_a_repaired_call_runs_with_its_new_arguments(how: str) -> None:
    """The history holds what ran, under the call's own id."""
    asked: list[tuple[str, str]] = []

    async def repair(context: sf.RepairContext[object]) -> str:
        asked.append((context.call.input, context.error[:30]))
        return '{"path": "b"}'

    model = ScriptedModel([reply(call(wipe, '{"pa', id="c1")), reply("ok")])
    run = await replayed(sf.Agent(model=model, tools=[wipe], repair_tool_call=repair), how)

    assert run.results_of(wipe) == ("wiped b",)
    assert asked == [('{"pa', "the arguments are not acceptab")]
    assert [one.input for one in run.steps[0].tool_calls] == ['{"path": "b"}']


async def test_a_repair_that_knows_no_better_or_fails_leaves_the_error_to_the_model() -> None:
    """The error is that of the call, not of the repair."""

    def repair(context: sf.RepairContext[object]) -> str | None:
        if context.call.tool_call_id == "c1":
            return None
        raise ValueError

    calls = (call(wipe, "{", id="c1"), call("wipr", "{}", id="c2"))
    model = ScriptedModel([reply(*calls), reply("ok")])
    run = await replayed(sf.Agent(model=model, tools=[wipe], repair_tool_call=repair), "generate")

    errors = [error.error for error in run.steps[0].tool_errors]
    assert ["not acceptable JSON" in errors[0], "no tool is named 'wipr'" in errors[1]] == [
        True
    ] * 2


@pytest.mark.parametrize("how", ["generate", "stream"])
async def test_a_prepare_function_shapes_each_step(how: str) -> None:
    """Instructions carry forward; a tool choice holds for its step only."""

    async def prepare(context: sf.StepContext[object]) -> sf.events.StepPlan | None:
        if context.step == 0:
            return sf.events.StepPlan(instructions="Be quick.", tool_choice="required")
        return None

    model = script()
    agent = sf.Agent(model=model, tools=[wipe], instructions="Be kind.", prepare_step=prepare)
    await replayed(agent, how)

    shaped = [(request.instructions, request.tool_choice) for request in model.requests]
    assert shaped == [("Be quick.", "required"), ("Be quick.", "auto")]


@pytest.mark.parametrize("given", [ValueError("no"), "a plan"])
async def test_a_prepare_function_that_fails_ends_the_run(given: object) -> None:
    """The end names the hook, and not the text of its exception."""

    def prepare(_: sf.StepContext[object]) -> object:
        if isinstance(given, Exception):
            raise given
        return given

    agent = sf.Agent(model=script(), prepare_step=prepare)  # type: ignore[arg-type]
    with pytest.raises(sf.RunFailed) as caught:
        await agent.generate("go")

    assert isinstance(caught.value.error, sf.HookFailed)
    assert caught.value.error.hook == "prepare_step"


async def test_a_plan_of_wrong_types_says_in_the_end_what_is_wrong_with_it() -> None:
    """The text is ours, so it may be kept; code that is not type-checked needs it."""
    untyped: Callable[..., sf.events.StepPlan] = sf.events.StepPlan

    def prepare(_: sf.StepContext[object]) -> sf.events.StepPlan:
        return untyped(active_tools=5)

    with pytest.raises(sf.RunFailed) as caught:
        await sf.Agent(model=script(), prepare_step=prepare).generate("go")

    assert caught.value.error == sf.HookFailed(
        "prepare_step", "UsageError: StepPlan.active_tools: expected names of tools, got 5"
    )


async def test_hooks_see_the_deps() -> None:
    """As tools do."""
    seen: list[int] = []

    def prepare(context: sf.StepContext[int]) -> None:
        seen.append(context.deps)

    agent = sf.Agent(model=ScriptedModel([reply("ok")]), deps_type=int, prepare_step=prepare)
    await agent.generate("go", deps=7)

    assert seen == [7]


@pytest.mark.parametrize(
    ("argument", "given", "told"),
    [
        ("prepare_step", "plan", "prepare_step: expected a function, got str"),
        ("repair_tool_call", 3, "repair_tool_call: expected a function, got int"),
        ("tool_approval", 3, "tool_approval: expected a policy, or a mapping"),
        ("tool_approval", {"wip": "denied"}, "expected names of tools (wipe), got 'wip'"),
        ("tool_approval", {"wipe": "no"}, "expected a policy or one of 'not-applicable'"),
    ],
)
def test_what_is_no_hook_is_refused_at_once(argument: str, given: object, told: str) -> None:
    """The text names the argument, what was expected and what came."""
    with pytest.raises(sf.UsageError) as caught:
        sf.Agent(model=script(), tools=[wipe], **{argument: given})  # type: ignore[arg-type]

    assert told in str(caught.value)


# --- stop checks ------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["generate", "stream"])
@pytest.mark.parametrize("is_async", [True, False])
async def test_a_stop_check_is_asked_between_steps(how: str, *, is_async: bool) -> None:
    """After `stop_when` has let the run go on; its answer is in the journal."""
    seen: list[int] = []

    def check(context: sf.StopContext[object]) -> sf.Stop | None:
        seen.append(len(context.progress.steps))
        return sf.Stop("enough") if len(seen) == 2 else None

    async def asks(context: sf.StopContext[object]) -> sf.Stop | None:
        return check(context)

    model = ScriptedModel([reply(call(wipe, {"path": path})) for path in "abcd"])
    agent = sf.Agent(model=model, tools=[wipe], stop_check=asks if is_async else check)
    run = await replayed(agent, how)

    assert sf.Stopped(sf.Stop("enough")) == run.end
    assert seen == [1, 2]


async def test_a_pure_condition_stops_before_anybody_is_asked() -> None:
    """It costs nothing to ask."""

    async def check(context: sf.StopContext[object]) -> sf.Stop | None:
        raise AssertionError(context)

    agent = sf.Agent(model=script(), tools=[wipe], stop_when=sf.is_step_count(1), stop_check=check)
    run = await replayed(agent, "generate")

    assert isinstance(run.end, sf.Stopped)


@pytest.mark.parametrize(
    ("given", "told"), [(True, "expected Stop or None, got bool"), (OSError("no"), "OSError")]
)
async def test_a_stop_check_that_fails_ends_the_run(given: object, told: str) -> None:
    """Nobody knows whether it may go on."""

    async def check(context: sf.StopContext[object]) -> object:
        if isinstance(given, Exception):
            raise given
        return given

    agent = sf.Agent(model=script(), tools=[wipe], stop_check=check)  # type: ignore[arg-type]
    failed = (await agent.try_generate("go")).failure()

    assert sf.HookFailed("stop_check", told) == failed.error


def driven_sync(check: StopCheck[object]) -> sf.Run[str]:
    agent = sf.Agent(model=script(), tools=[wipe], stop_check=check)
    first = sf.begin(agent.program, "go", run="r", seed=0, at=0)
    return agent.run_of(sf.drive_sync(agent.program, first, agent.runtime()))


def test_a_stop_check_that_never_suspends_needs_no_event_loop() -> None:
    """As tools and models."""

    async def check(context: sf.StopContext[object]) -> sf.Stop | None:
        return sf.Stop("enough")

    assert sf.Stopped(sf.Stop("enough")) == driven_sync(check).end


def test_a_hook_that_needs_an_event_loop_is_named() -> None:
    """It has not failed: it was driven by the wrong function."""

    async def check(context: sf.StopContext[object]) -> sf.Stop | None:
        await anyio.lowlevel.checkpoint()
        return None

    with pytest.raises(sf.UsageError, match="drive_sync: the hook check waits for an event loop"):
        driven_sync(check)


def test_a_program_that_asks_and_a_runtime_without_the_hook_do_not_fit() -> None:
    """Nobody would answer."""
    agent = sf.Agent(model=script(), tools=[wipe], stop_check=lambda context: None)
    first = sf.begin(agent.program, "go", run="r", seed=0, at=0)
    runtime = sf.Runtime(models=[script()], tools=[wipe])

    with pytest.raises(sf.UsageError, match="the program issues CheckStop, which stop_check"):
        sf.drive_sync(agent.program, first, runtime)


async def test_a_repair_is_told_of_the_tools_of_its_step_alone() -> None:
    """A call of a tool that the step hides is as wrong as one of no tool."""
    asked: list[tuple[str, list[str]]] = []

    def repair(context: sf.RepairContext[object]) -> None:
        asked.append((context.error, [tool.name for tool in context.tools]))

    def prepare(_: sf.StepContext[object]) -> sf.events.StepPlan:
        return sf.events.StepPlan(active_tools=())

    agent = sf.Agent(model=script(), tools=[wipe], prepare_step=prepare, repair_tool_call=repair)
    run = await replayed(agent, "generate")

    error = "no tool is named 'wipe'; the tools are: none"
    assert asked == [(error, []), (error, [])]
    assert [part.error for part in run.steps[0].tool_errors] == [error, error]


# --- refined arguments ------------------------------------------------------------------------


def below_tmp(arguments: sf.JsonObject) -> dict[str, object]:
    return {**arguments, "path": f"/tmp/{arguments['path']}"}


async def below_tmp_later(arguments: sf.JsonObject) -> dict[str, object]:
    return below_tmp(arguments)


@pytest.mark.parametrize("refine", [below_tmp, below_tmp_later])
@pytest.mark.parametrize("how", ["generate", "stream"])
async def test_a_call_runs_with_refined_arguments(how: str, refine: sf.RefineToolInput) -> None:
    """They are what a policy sees, and what the history holds; a replay asks nobody."""
    seen: list[object] = []

    def policy(context: sf.ApprovalContext[object]) -> sf.Verdict:
        seen.append(context.input)
        return sf.Verdict("approved")

    model = ScriptedModel([reply(call(wipe, {"path": "a"})), reply("ok")])
    agent = sf.Agent(
        model=model, tools=[wipe], tool_approval=policy, refine_tool_input={"wipe": refine}
    )
    run = await replayed(agent, how)

    assert run.results_of(wipe) == ("wiped /tmp/a",)
    assert seen == [sf.JsonObject({"path": "/tmp/a"})]
    assert [one.input for one in run.steps[0].tool_calls] == ['{"path":"/tmp/a"}']


async def test_the_models_text_is_kept_where_nothing_was_refined() -> None:
    """Prompt caches hit on it."""
    model = ScriptedModel([reply(call(wipe, '{"path":"a"}')), reply("ok")])
    agent = sf.Agent(model=model, tools=[wipe], refine_tool_input={"wipe": dict})
    run = await replayed(agent, "generate")

    assert [one.input for one in run.steps[0].tool_calls] == ['{"path":"a"}']


def fails(_: sf.JsonObject) -> dict[str, object]:
    raise ValueError("not this one")


@pytest.mark.parametrize(
    ("refine", "error"),
    [
        (fails, "the arguments could not be refined: ValueError: not this one"),
        (lambda _: 7, "the arguments could not be refined: expected an object, got int"),
        (lambda _: {"path": {1}}, "the refined arguments have no JSON form: TypeError: "),
        (lambda _: {"path": 1}, "as refined, the arguments are refused by wipe: /path: "),
    ],
)
async def test_a_refine_function_that_fails_makes_the_call_invalid(
    refine: Callable[[sf.JsonObject], dict[str, object]], error: str
) -> None:
    """The model is told why, and may call again."""
    model = ScriptedModel([reply(call(wipe, {"path": "a"})), reply("ok")])
    agent = sf.Agent(model=model, tools=[wipe], refine_tool_input={"wipe": refine})
    run = await replayed(agent, "generate")

    [part] = run.steps[0].tool_errors
    assert part.error.startswith(error)
    assert (part.kind, run.unwrap()) == ("invalid", "ok")


@frozen
class Span:
    """From one number to another."""

    low: int
    high: int = field()

    @high.validator
    def _(self, _: object, value: int) -> None:
        if value < self.low:
            raise ValueError("high is below low")


@sf.tool
def measure(span: Span) -> int:
    """Measure a span."""
    return span.high - span.low


@pytest.mark.parametrize("high", [1, 3])
async def test_validators_of_the_user_see_the_models_and_the_refined_arguments(high: int) -> None:
    def swapped(arguments: sf.JsonObject) -> dict[str, object]:
        match arguments["span"]:
            case {"low": low, "high": high}:
                return {"span": {"low": high, "high": low}}
            case _:
                return {}

    asked = call(measure, {"span": {"low": 2, "high": high}})
    model = ScriptedModel([reply(asked), reply("ok")])
    agent = sf.Agent(model=model, tools=[measure], refine_tool_input={"measure": swapped})
    run = await replayed(agent, "generate")

    [part] = run.steps[0].tool_errors
    assert "high is below low" in part.error


async def test_arguments_that_are_no_object_are_not_refined() -> None:
    """A tool with a schema of its own may take any document."""
    spec = evolve(wipe.spec, check=lambda _: (), refines=True)
    program = sf.Program(models=("scripted/model",), tools={"wipe": spec})
    runtime = sf.Runtime(
        models=[ScriptedModel([reply(call(wipe, "[1]")), reply("ok")])],
        tools=[wipe],
        hooks=Hooks(refine_tool_input={"wipe": below_tmp}),
    )
    first = sf.begin(program, "go", run="r", seed=0, at=0)
    state = await sf.drive(program, first, runtime)

    [part] = state.steps[0].tool_errors
    assert part.kind == "invalid"


async def test_a_program_that_refines_needs_somebody_who_does() -> None:
    agent = sf.Agent(model=script(), tools=[wipe], refine_tool_input={"wipe": below_tmp})
    runtime = sf.Runtime(models=[script()], tools=[wipe])
    first = sf.begin(agent.program, "go", run="r", seed=0, at=0)

    with pytest.raises(sf.UsageError, match="issues BindCall, which refine_tool_input for wipe"):
        await sf.drive(agent.program, first, runtime)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (7, "refine_tool_input: expected a mapping from tools to functions, got int"),
        ({"wipr": dict}, r"refine_tool_input: expected names of tools \(wipe\), got 'wipr'"),
        ({"wipe": 7}, r"refine_tool_input\['wipe'\]: expected a function, got int"),
    ],
)
def test_a_mistake_in_refine_tool_input_is_told_at_once(given: object, text: str) -> None:
    with pytest.raises(sf.UsageError, match=text):
        sf.Agent(
            model=script(),
            tools=[wipe],
            refine_tool_input=cast("dict[str, sf.RefineToolInput]", given),
        )


@pytest.mark.parametrize("how", ["generate", "stream"])
async def test_the_functions_take_hooks_too(how: str) -> None:
    """What an agent takes beside its tools, with the same deps."""

    async def numbered(context: sf.StepContext[str]) -> sf.events.StepPlan:
        return sf.events.StepPlan(instructions=f"{context.deps} {context.step}")

    async def is_enough(context: sf.StopContext[str]) -> sf.Stop | None:
        return sf.Stop(context.deps) if len(context.progress.steps) == 2 else None

    model = ScriptedModel([reply(call("wipe", "{")), reply(call(wipe, {"path": "a"})), reply("?")])
    options: sf.StreamTextOptions[str] = {
        "model": model,
        "prepare_step": numbered,
        "repair_tool_call": lambda _: '{"path": "/"}',
        "tool_approval": {"wipe": lambda context: "denied" if context.step == 0 else "approved"},
        "stop_check": is_enough,
        "stop_when": sf.never,
    }
    if how == "generate":
        options_of_one = cast("sf.GenerateOptions[str]", options)
        run = await sf.generate_text("go", deps="plan", tools=[wipe], **options_of_one)
    else:
        async with sf.stream_text("go", deps="plan", tools=[wipe], **options) as stream:
            run = await stream.run()

    assert run.end == sf.Stopped(sf.Stop("plan"))
    assert [request.instructions for request in model.requests] == ["plan 0", "plan 1"]
    assert run.results_of(wipe) == ("wiped a",)
    assert run.steps[0].tool_calls[0].input == '{"path": "/"}'
