"""Budgets of an agent: what is spent is told, and a limit leaves a whole run."""

from typing import final

import anyio
import pytest
from attrs import frozen

import stepfold as sf
from stepfold.testing import ScriptedModel, call, reply


@sf.tool
def look(city: str) -> str:
    """Look out of the window."""
    return f"{city} is warm"


PRICES = {"scripted:model": sf.Price(input=1_000_000, output=2_000_000)}


def looking(*, usage: tuple[int, int] = (10, 5)) -> sf.ModelReply:
    return reply(call(look, {"city": "Oslo"}), usage=usage)


async def test_a_run_tells_what_it_cost() -> None:
    """In micro-units, by the prices of the agent, whichever way its model is named."""
    model = ScriptedModel([looking(), reply("Warm.", usage=(20, 1))])
    run = await sf.Agent(model=model, tools=[look], prices=PRICES).generate("Go.")

    assert [step.cost for step in run.steps] == [20, 22]
    assert run.cost == 42


async def test_without_prices_the_cost_is_not_known() -> None:
    """It is not 0."""
    run = await sf.Agent(model=ScriptedModel([reply("Warm.", usage=(1, 1))])).generate("Go.")

    assert run.cost is None


# --- one last answer --------------------------------------------------------------------------


@final
@frozen
class Report:
    """What the model shall give in the end."""

    city: str


LIMITS = {
    "limit-steps": sf.Limits(steps=2, wrap_up_tokens=50),
    "limit-tokens": sf.Limits(tokens=70, wrap_up_tokens=50),
    "limit-cost": sf.Limits(cost=130, wrap_up_tokens=50),
    "limit-tool-calls": sf.Limits(tool_calls=0, wrap_up_tokens=50),
    "stopped": sf.Limits(steps=9, wrap_up_tokens=50),
}


@pytest.mark.parametrize("name", LIMITS)
async def test_a_stopped_run_has_the_output_of_its_last_answer(name: str) -> None:
    """Whatever stopped it; the answer was asked for without tools, within the limits."""
    model = ScriptedModel([looking(), reply('{"city":"Oslo"}', usage=(20, 5))])
    stops = sf.stop_if(lambda _: name == "stopped", "stopped")
    agent = sf.Agent(
        model=model,
        tools=[look],
        output=sf.object_of(Report),
        prices=PRICES,
        limits=LIMITS[name],
        stop_when=stops,
    )
    run = await agent.generate("Go.")

    assert isinstance(run.end, sf.Stopped)
    assert run.end.stop.name == name
    assert Report("Oslo") == run.unwrap()
    assert [request.tool_choice for request in model.requests] == ["auto", "none"]


# --- the default ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "warns"),
    [({}, True), ({"stop_when": sf.is_step_count(20)}, False), ({"stop_when": sf.never}, False)],
)
async def test_a_run_that_the_default_cut_says_so(options: sf.AgentOptions, *, warns: bool) -> None:
    """Twenty steps are many, and a user who did not choose them has to know."""
    model = ScriptedModel([*[looking() for _ in range(20)], reply("Warm.")])
    run = await sf.Agent(model=model, tools=[look], **options).generate("Go.")

    assert [warning.subject for warning in run.warnings] == (["stop_when"] if warns else [])
    assert isinstance(run.end, sf.Completed) == (options.get("stop_when") is sf.never)


# --- runs of tools ----------------------------------------------------------------------------

HUNDRED = sf.Limits(tokens=100, cost=1_000, tool_calls=10)


def parent_of(tool: sf.AnyTool[object, object], *, usage: tuple[int, int] = (5, 5)) -> sf.Agent:
    model = ScriptedModel([reply(call(tool, {"topic": "cats"}), usage=usage), reply("Done.")])
    return sf.Agent(model=model, tools=[tool], prices=PRICES, limits=HUNDRED)


def helper(*script: sf.ModelReply, limits: sf.Limits | None = None) -> sf.Agent:
    return sf.Agent(model=ScriptedModel(script), tools=[look], limits=limits)


async def test_what_a_child_spends_counts_once_in_the_run_that_called() -> None:
    """Tokens, money and tool calls; the child is named after the call and knows the prices."""
    runs: list[sf.Run[str]] = []

    @sf.tool(grant=sf.Limits())
    async def research(context: sf.ToolContext[object], topic: str) -> str:
        """Look into a topic."""
        child = helper(looking(usage=(10, 5)), reply("Cats purr.", usage=(20, 5)))
        runs.append(await child.generate(topic, parent=context))
        return runs[-1].unwrap()

    journal = sf.MemoryJournal()
    agent = parent_of(research)
    run = await agent.generate("Go.", run_id="r", seed=0, journal=journal)

    child = runs[0]
    assert child.id == "r/0/0"
    assert child.usage == sf.Usage(30, 10)
    assert child.cost == 50
    assert run.usage == sf.Usage(5 + 30 + 10, 5 + 10 + 5)
    assert run.cost == 15 + 50 + 20
    assert run.state.ledger.total_issued == 2
    assert sf.replay(agent.program, journal.header, journal.entries) == sf.Success(run.state)


@pytest.mark.parametrize("how", ["generate", "stream", "sync"])
async def test_a_child_never_exceeds_its_grant(how: str) -> None:
    """It is stopped by what is left of the tokens of the run that called it."""
    ends: list[sf.RunEnd[str]] = []
    child = helper(*[looking(usage=(20, 20)) for _ in range(9)])

    async def asked(context: sf.ToolContext[object]) -> sf.Run[str]:
        if how == "generate":
            return await child.generate("Go.", parent=context)
        async with child.stream("Go.", parent=context) as stream:
            return await stream.run()

    @sf.tool(grant=sf.Limits(steps=5))
    async def research(context: sf.ToolContext[object], topic: str) -> str:
        """Look into a topic."""
        ends.append((await asked(context)).end)
        return topic

    @sf.tool(name="research", grant=sf.Limits(steps=5))
    def in_thread(context: sf.ToolContext[object], topic: str) -> str:
        """Look into a topic."""
        ends.append(child.generate_sync("Go.", parent=context).end)
        return topic

    run = await parent_of(in_thread if how == "sync" else research).generate("Go.")

    assert [end.stop.name for end in ends if isinstance(end, sf.Stopped)] == ["limit-tokens"]
    assert run.state.ledger.spent <= 100


async def test_runs_side_by_side_share_what_their_own_limits_leave() -> None:
    """What one has not spent is there for the next."""
    granted: list[int | None] = []

    @sf.tool(grant=sf.Limits())
    async def research(context: sf.ToolContext[object], topic: str) -> str:
        """Look into a topic."""
        own = sf.Limits(tokens=30)
        for limits in (own, own, None):
            child = helper(reply("Cats purr.", usage=(10, 5)), limits=limits)
            run = await child.generate(topic, parent=context)
            granted.append(run.state.ledger.spent)
            granted.append(child.program.limits.tokens)
        return topic

    run = await parent_of(research).generate("Go.", run_id="r")

    assert granted == [15, 30, 15, 30, 15, None]
    assert run.state.ledger.spent == 10 + 45 + 15


@pytest.mark.parametrize(
    ("reports", "spent"), [(False, 90), (True, 25)], ids=["silent", "reports nothing"]
)
async def test_a_tool_that_begins_nothing_has_to_say_so(*, reports: bool, spent: int) -> None:
    """A grant of which nothing is told counts as spent."""

    @sf.tool(grant=sf.Limits())
    def research(context: sf.ToolContext[object], topic: str) -> str:
        """Look into a topic."""
        if reports:
            context.report()
        return topic

    run = await parent_of(research).generate("Go.")

    assert run.state.ledger.spent == spent
    assert isinstance(run.end, sf.Completed) == reports


async def test_what_is_reported_counts() -> None:
    """For work that is no run of stepfold's."""

    @sf.tool(grant=sf.Limits())
    def research(context: sf.ToolContext[object], topic: str) -> str:
        """Look into a topic."""
        context.report(sf.Usage(7, 3), cost=40)
        return topic

    run = await parent_of(research).generate("Go.")

    assert run.usage == sf.Usage(5 + 7 + 10, 5 + 3 + 5)
    assert run.cost == 15 + 40 + 20


async def slow(_: sf.StepContext[object]) -> None:
    await anyio.sleep(0.3)


async def test_a_child_that_a_time_out_ends_tells_what_it_has_spent() -> None:
    """Nothing, here: no model was asked."""

    @sf.tool(grant=sf.Limits(tokens=40, cost=100, tool_calls=1), timeout=0.01)
    async def research(context: sf.ToolContext[object], topic: str) -> str:
        """Look into a topic."""
        child = sf.Agent(model=ScriptedModel([reply("Late.")]), tools=[], prepare_step=slow)
        await child.generate(topic, parent=context)
        return topic

    run = await parent_of(research).generate("Go.")

    assert run.steps[0].tool_errors[0].kind == "timeout"
    assert run.state.ledger.spent == 10 + 15
    assert run.cost == 15 + 20


async def test_a_child_that_is_left_running_counts_as_all_that_it_was_given() -> None:
    """Its tool is a function in a thread that took too long, and nobody can tell."""

    @sf.tool(grant=sf.Limits(tokens=40, cost=100, tool_calls=1), timeout=0.01)
    def research(context: sf.ToolContext[object], topic: str) -> str:
        """Look into a topic."""
        child = sf.Agent(model=ScriptedModel([reply("Late.")]), tools=[], prepare_step=slow)
        child.generate_sync(topic, parent=context)
        return topic

    run = await parent_of(research).generate("Go.")

    assert run.steps[0].tool_errors[0].kind == "timeout"
    assert run.state.ledger.spent == 10 + 40 + 15
    assert run.cost is None


async def test_a_parent_is_the_context_of_a_tool_with_a_grant() -> None:
    """Otherwise nobody could hold the run to a budget."""
    seen: list[sf.ToolContext[object]] = []

    @sf.tool
    def plain(context: sf.ToolContext[object], topic: str) -> str:
        """Look into a topic."""
        assert context.grant is None
        with pytest.raises(sf.UsageError, match="report: expected a tool with a grant"):
            context.report()
        seen.append(context)
        return topic

    @sf.tool(grant=sf.Limits(tokens=5))
    def granted(context: sf.ToolContext[object], topic: str) -> str:
        """Look into a topic."""
        assert sf.Limits(tokens=5, cost=975, tool_calls=9) == context.grant
        seen.append(context)
        return topic

    for tool in (plain, granted):
        await parent_of(tool).generate("Go.")

    with pytest.raises(sf.UsageError, match="declare it as @tool"):
        await helper().generate("Go.", parent=seen[0])
    with pytest.raises(sf.UsageError, match=r"the tool call .*/0/0 is over"):
        await helper().generate("Go.", parent=seen[1])
    with pytest.raises(
        sf.UsageError, match="parent: expected the ToolContext of a tool call, got 5"
    ):
        await helper().generate("Go.", parent=5)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("grant", "text"),
    [(5, "grant: expected Limits, got 5"), (sf.Limits(calls_of={"a": 1}), "expected no calls_of")],
)
def test_a_grant_is_limits_of_any_run(grant: object, text: str) -> None:
    """Which tools there are is the matter of each run."""

    def research(topic: str) -> str:
        """Look into a topic."""
        return topic

    with pytest.raises(sf.UsageError, match=text):
        sf.tool(grant=grant)(research)  # type: ignore[call-overload]


async def test_a_run_that_is_taken_up_belongs_to_the_call_that_does_so() -> None:
    """What it had spent before is not that call's; from then on it keeps to the grant."""

    @sf.tool(needs_approval=True)
    async def pay() -> str:
        """Pay."""
        return "paid"

    script = [
        reply(call(pay), usage=(40, 10)),
        looking(usage=(10, 5)),
        reply("Paid.", usage=(10, 5)),
    ]
    child = sf.Agent(model=ScriptedModel(script), tools=[pay, look], limits=sf.Limits(steps=9))
    blocked = await child.generate("Pay.")
    ends: list[sf.Run[str]] = []

    @sf.tool(grant=sf.Limits(tokens=80, steps=2))
    async def settle(context: sf.ToolContext[object], topic: str) -> str:
        """Settle it."""
        agreed = [sf.approve(request) for request in blocked.open_approvals]
        ends.append(await child.answer(blocked, agreed, parent=context))
        return topic

    run = await parent_of(settle).generate("Go.")

    assert ends[0].unwrap() == "Paid."
    assert ends[0].usage == sf.Usage(60, 20)
    assert ends[0].id == blocked.id
    assert run.usage == sf.Usage(5 + 20 + 10, 5 + 10 + 5)
    assert run.state.ledger.total_issued == 1 + 2

    ends.clear()
    greedy = [looking(usage=(35, 5)), script[2]]
    child = sf.Agent(model=ScriptedModel(greedy), tools=[pay, look])
    await parent_of(settle).generate("Go.")

    assert isinstance(ends[0].end, sf.Stopped)
    assert ends[0].end.stop.name == "limit-tokens"


async def test_ample_room_is_no_figure_to_ask_for() -> None:
    """Providers refuse more than a model can give; what is scarce is asked for."""
    asked: list[int | None] = []
    for tokens in (1_000_000, 4_096, 100):
        model = ScriptedModel([reply("Hi.")])
        await sf.Agent(model=model, limits=sf.Limits(tokens=tokens)).generate("Hi")
        asked.append(model.requests[0].settings.max_output_tokens)

    assert asked == [None, 4_096, 100]
