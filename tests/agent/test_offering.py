"""Which tools a model is told of, in which order, and in which words."""

import re

import pytest
from attrs import define, frozen

from stepfold.agent import Agent, Run
from stepfold.loop import begin, replay
from stepfold.loop.events import StepPlan
from stepfold.shell import MemoryJournal, StepContext, ToolContext, drive_sync, tool
from stepfold.testing import ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    Completed,
    Failed,
    HookFailed,
    ModelRequest,
    NamedTool,
    Success,
    UsageError,
)

DONE = reply("done")


@define
class Deps:
    language: str
    asked: int = 0


@frozen
class Other:
    language: str


def in_language(deps: Deps) -> str:
    """Count, since deps are alive."""
    deps.asked += 1
    return f"Translate into {deps.language} ({deps.asked})."


@tool(description=in_language)
def translate(text: str) -> str:
    """Translate."""
    return text


@tool
def beta() -> str:
    """Do beta."""
    return "b"


@tool
def alpha(context: ToolContext[Deps]) -> str:
    """Do alpha."""
    return context.deps.language


@tool(name="Zeta")
def zeta() -> str:
    """Do zeta."""
    return "z"


TOOLS = (zeta, beta, alpha)


def offered(request: ModelRequest) -> list[str]:
    return [definition.name for definition in request.tools]


def requests_of(**options: object) -> list[list[str]]:
    model = ScriptedModel([reply(call(beta)), DONE])
    build: type = Agent
    agent = build(model=model, deps_type=Deps, tools=TOOLS, **options)
    agent.generate_sync("Go.", deps=Deps("Norwegian"))
    return [offered(request) for request in model.requests]


def test_tools_keep_their_order() -> None:
    """Where nothing else is said."""
    assert requests_of() == [["Zeta", "beta", "alpha"]] * 2


def test_listed_tools_come_first_and_the_others_are_sorted() -> None:
    """By the code units of their names, so capitals come first; tools and names are alike."""
    assert requests_of(tool_order=[beta]) == [["beta", "Zeta", "alpha"]] * 2
    assert requests_of(tool_order=("alpha", "beta", "alpha")) == [["alpha", "beta", "Zeta"]] * 2
    assert requests_of(tool_order=[]) == [["Zeta", "alpha", "beta"]] * 2


def test_only_active_tools_are_offered() -> None:
    """And only they can be called; with `[]` there are none."""
    assert requests_of(active_tools=["alpha", beta]) == [["beta", "alpha"]] * 2
    assert requests_of(active_tools=[]) == [[]] * 2

    model = ScriptedModel([reply(call(beta)), DONE])
    run = Agent(model=model, tools=[zeta, beta], active_tools=[zeta]).generate_sync("Go.")
    assert run.results_of(beta) == ()
    assert "the tools are: Zeta" in run.steps[0].tool_errors[0].error


def test_a_plan_says_otherwise_for_its_step() -> None:
    """Of what is active, of the order, and of the words."""

    def prepare(context: StepContext[object]) -> StepPlan | None:
        if context.step:
            return None
        return StepPlan(
            active_tools=("alpha", "beta"),
            tool_order=("beta",),
            descriptions={"beta": "Do it now."},
        )

    model = ScriptedModel([reply(call(beta)), DONE])
    agent = Agent(
        model=model,
        deps_type=Deps,
        tools=TOOLS,
        active_tools=["Zeta", "beta"],
        prepare_step=prepare,
    )
    run = agent.generate_sync("Go.", deps=Deps("Norwegian"))
    first, second = model.requests

    assert run.results_of(beta) == ("b",)
    assert offered(first) == ["beta", "alpha"]
    assert [definition.description for definition in first.tools] == ["Do it now.", "Do alpha."]
    assert offered(second) == ["Zeta", "beta"]
    assert second.tools[1].description == "Do beta."


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"active_tools": ["gamma"]}, "active_tools: expected names of tools (Zeta, beta, alpha)"),
        ({"tool_order": ["gamma"]}, "tool_order: expected names of tools (Zeta, beta, alpha)"),
        ({"active_tools": "beta"}, "active_tools: expected tools or their names, got 'beta'"),
        ({"active_tools": [3]}, "active_tools[0]: expected a tool or its name, got 3"),
        (
            {"active_tools": [beta], "tool_choice": NamedTool("alpha")},
            "tool_choice: expected one of the tools (beta), got 'alpha'",
        ),
        ({"active_tools": [], "tool_choice": "required"}, "'required' needs at least one tool"),
    ],
)
def test_what_cannot_be_offered(options: dict[str, object], text: str) -> None:
    """Each error names the option."""
    with pytest.raises(UsageError, match=re.escape(text)):
        requests_of(**options)


@pytest.mark.parametrize("plan", [StepPlan(tool_order=["x"]), StepPlan(descriptions={"x": "X"})])
def test_a_plan_that_names_no_tool_fails(plan: StepPlan) -> None:
    """As one that makes such a tool active."""
    agent = Agent(model=ScriptedModel([DONE]), tools=[beta], prepare_step=lambda context: plan)
    outcome = agent.program
    first = begin(outcome, "Go.", run="r", seed=0, at=0)
    run = agent.run_of(drive_sync(outcome, first, agent.runtime(clock=VirtualClock())))

    assert run.end == Failed(HookFailed("prepare_step", "UnknownTool: 'x'"))


# --- computed descriptions --------------------------------------------------------------------


async def run_of(deps: Deps, journal: MemoryJournal | None = None) -> tuple[Run[str], Agent[Deps]]:
    model = ScriptedModel([reply(call("translate", {"text": "Hi"})), DONE])
    agent = Agent(model=model, deps_type=Deps, tools=[translate, beta])
    run = await agent.generate("Go.", deps=deps, journal=journal, clock=VirtualClock())
    told = [[one.description for one in request.tools] for request in model.requests]
    assert told == [
        ["Translate into Norwegian (1).", "Do beta."],
        ["Translate into Norwegian (2).", "Do beta."],
    ]
    return run, agent


async def test_a_description_is_computed_before_each_step() -> None:
    """From the deps of the run."""
    run, _ = await run_of(Deps("Norwegian"))

    assert run.end == Completed("done")
    assert translate.description == "Translate."


async def test_a_replay_computes_nothing() -> None:
    """What was computed is in the plans of the steps."""
    journal, deps = MemoryJournal(), Deps("Norwegian")
    run, agent = await run_of(deps, journal)

    assert replay(agent.program, journal.header, journal.entries) == Success(run.state)
    assert deps.asked == 2


async def test_a_plan_has_the_last_word() -> None:
    """Over what a tool computes."""
    model = ScriptedModel([DONE])
    agent = Agent(
        model=model,
        deps_type=Deps,
        tools=[translate],
        prepare_step=lambda context: StepPlan(descriptions={"translate": "Say it otherwise."}),
    )
    await agent.generate("Go.", deps=Deps("Norwegian"))

    assert [one.description for one in model.requests[0].tools] == ["Say it otherwise."]


def fails(deps: object) -> str:
    """Fail."""
    raise LookupError


def lies(deps: object) -> str:
    """Give no text."""
    return 3  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("function", "exception"), [(fails, "LookupError"), (lies, "expected text, got int")]
)
async def test_a_description_that_cannot_be_computed_fails_the_run(
    function: object, exception: str
) -> None:
    """As a prepare function does."""
    options: dict[str, object] = {"description": function}
    made = tool(**options)(beta)  # type: ignore[call-overload]
    agent = Agent(model=ScriptedModel([DONE]), tools=[made])
    outcome = await agent.try_generate("Go.")

    assert outcome.failure().error == HookFailed("description of beta", exception)


def test_what_computes_is_a_plain_function() -> None:
    """Neither async nor something else."""

    async def later(deps: object) -> str:
        return "later"

    for given in (later, 3):
        options: dict[str, object] = {"description": given}
        with pytest.raises(UsageError, match="tool beta, description: expected a plain function"):
            tool(**options)(beta)  # type: ignore[call-overload]
