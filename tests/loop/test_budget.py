"""What a model call reserves, and what it turns out to have cost."""

import pytest
from attrs import evolve

from stepfold.loop import (
    NO_LIMITS,
    Calling,
    Done,
    Granted,
    Limits,
    Progress,
    RetryPolicy,
    ToolSpec,
    cost_budget,
    granted_to,
    request_of,
)
from stepfold.loop.commands import CallModel, Grant, ModelCallKey, RunTool
from stepfold.loop.events import Cancelled, Resumed, Spending, StepPlan
from stepfold.values import (
    CallSettings,
    JsonText,
    ModelErrorKind,
    ModelErrorReason,
    Price,
    Stop,
    Stopped,
    Usage,
    UsageError,
)
from tests.loop._scenario import (
    ONE,
    REFUSED,
    TWO,
    Run,
    call,
    calls,
    program,
    reply_of,
    started,
    tool,
)

PRICES = {
    ONE: Price(input=1_000_000, output=2_000_000),
    TWO: Price(input=10_000_000, output=20_000_000),
}
NO_WAIT = RetryPolicy(initial_delay=0, jitter=0)


def allowed(run: Run) -> int | None:
    """How much the model may say."""
    return request_of(run.program, run.state).settings.max_output_tokens


def stop_name(run: Run) -> str:
    """Give why the run was stopped; it must have been."""
    end = run.end

    assert isinstance(end, Stopped), end
    return end.stop.name


# --- what a run costs -------------------------------------------------------------------------


def test_the_cost_of_each_reply_is_kept() -> None:
    """In the step, and in the sum of the run."""
    run = started(program(tool(), prices=PRICES))

    assert run.state.cost == 0

    run.reply(call(), usage=Usage(10, 5))
    run.finish()
    run.reply("Warm.", usage=Usage(30, 1))

    assert [step.cost for step in run.state.steps] == [20, 32]
    assert run.state.cost == 52


def test_a_reply_is_paid_at_the_price_of_the_model_that_gave_it() -> None:
    """A fallback may be dearer."""
    run = started(program(models=(ONE, TWO), prices=PRICES))
    run.fail(REFUSED)
    run.reply("Warm.", usage=Usage(1, 1))

    assert run.state.cost == 30


@pytest.mark.parametrize(
    ("prices", "usage"),
    [({}, Usage(1, 1)), ({TWO: PRICES[TWO]}, Usage(1, 1)), (PRICES, Usage(1)), (PRICES, Usage())],
    ids=["no prices", "no price of this model", "no output told", "no tokens told"],
)
def test_what_is_not_known_is_not_nothing(prices: dict[str, Price], usage: Usage) -> None:
    """Not even beside a reply whose cost is known."""
    run = started(program(tool(), prices=prices))
    run.reply(call(), usage=usage)
    run.finish()
    run.reply("Warm.", usage=Usage(1, 1))

    assert run.state.steps[0].cost is None
    assert run.state.cost is None


def test_an_attempt_that_gave_nothing_leaves_the_cost_as_it_was() -> None:
    """What is known are the replies; a hard budget counts more: see below."""
    run = started(program(prices=PRICES, retry=NO_WAIT))
    run.fail()
    run.wait()
    run.reply("Warm.", usage=Usage(1, 1))

    assert run.state.cost == 3


def test_a_reply_that_was_cut_off_without_figures_cost_nobody_knows_what() -> None:
    """It was begun, so it will be on the bill."""
    run = started(program(prices=PRICES))
    run.fail(REFUSED, partial=reply_of("It is", finish="interrupted"))

    assert run.state.steps[0].cost is None
    assert run.state.cost is None


def test_conditions_see_the_cost() -> None:
    """What is spent when they are asked."""
    run = started(program(tool(), prices=PRICES, stop_when=cost_budget(20)))
    run.reply(call(), usage=Usage(10, 5))
    run.finish()

    assert Stopped(Stop("cost_budget", JsonText('{"reached":20,"limit":20}'))) == run.end


def test_a_state_tells_how_far_its_run_has_come() -> None:
    """As stop conditions see it."""
    seen: list[Progress] = []

    def watch(progress: Progress) -> Stop | None:
        seen.append(progress)
        return Stop("seen")

    run = started(program(tool(), stop_when=watch, prices=PRICES))
    run.reply(call(), usage=Usage(10, 5))
    run.finish()

    assert [run.state.progress] == seen
    assert seen[0].cost == 20


def test_without_a_limit_of_money_none_is_reserved() -> None:
    """Whatever it costs."""
    assert started(program(prices=PRICES)).state.ledger.reserved_cost == 0


def test_the_cost_of_what_was_said_before_a_failure_is_kept_in_its_step() -> None:
    """The partial reply is a step as any other."""
    run = started(program(prices=PRICES, retry=RetryPolicy(max_retries=0)))
    run.fail(partial=reply_of("It is", finish="interrupted", usage=Usage(10, 5)))

    assert [step.cost for step in run.state.steps] == [20]


# --- the limit --------------------------------------------------------------------------------


def test_the_reply_is_capped_to_what_the_money_buys() -> None:
    """After the prompt is paid, at the least that it can be."""
    run = started(program(tool(), limits=Limits(cost=100), prices=PRICES))

    assert allowed(run) == 50

    run.reply(call(), usage=Usage(10, 5))
    run.finish()

    assert run.state.ledger.reserved_cost == 15
    assert allowed(run) == (100 - 20 - 15) // 2


@pytest.mark.parametrize(("tokens", "room"), [(30, 30), (90, 50)])
def test_the_tighter_of_two_budgets_holds(tokens: int, room: int) -> None:
    """Tokens or money."""
    assert allowed(started(program(limits=Limits(tokens=tokens, cost=100), prices=PRICES))) == room


@pytest.mark.parametrize("limits", [Limits(tokens=1), Limits(cost=2)])
def test_room_for_one_token_is_room(limits: Limits) -> None:
    """The call is made, and may say that much."""
    assert allowed(started(program(limits=limits, prices=PRICES))) == 1


def test_a_cap_of_its_own_may_take_all_that_is_left() -> None:
    """To the token."""
    settings = CallSettings(max_output_tokens=20)

    assert allowed(started(program(limits=Limits(tokens=20), settings=settings))) == 20


@pytest.mark.parametrize(("tokens", "room"), [(4_096, 4_096), (4_097, None)])
def test_only_a_tight_budget_is_told_to_the_provider(tokens: int, room: int | None) -> None:
    """One that leaves more than every model gives is no cap."""
    assert allowed(started(program(limits=Limits(tokens=tokens)))) == room


def test_a_call_that_the_money_does_not_suffice_for_is_not_made() -> None:
    """The next prompt alone would take all that is left (law 9)."""
    run = started(program(tool(), limits=Limits(cost=35), prices=PRICES))
    run.reply(call(), usage=Usage(10, 5))
    run.finish()

    assert Stopped(Stop("limit-cost", JsonText('{"reached":20,"limit":35}'))) == run.end


def test_a_call_with_a_cap_of_its_own_needs_the_money_for_all_of_it() -> None:
    """It is reserved when the call is made."""
    settings = CallSettings(max_output_tokens=20)
    options = program(tool(), limits=Limits(cost=60), prices=PRICES, settings=settings)
    run = started(options)

    assert run.state.ledger.reserved_cost == 40

    run.reply(call(), usage=Usage(10, 1))
    run.finish()

    assert run.state.ledger.reserved_cost == 0
    assert stop_name(run) == "limit-cost"


def test_what_costs_nothing_is_not_limited() -> None:
    """A limit of 0 holds for a model on one's own machine."""
    free = {ONE: Price(input=0, output=0)}
    run = started(program(tool(), limits=Limits(cost=0), prices=free))
    run.reply(call())
    run.finish()

    assert allowed(run) is None
    assert run.state.cost == 0


def test_output_that_costs_nothing_is_not_capped() -> None:
    """Only the prompt is paid."""
    run = started(
        program(tool(), limits=Limits(cost=20), prices={ONE: Price(input=1_000_000, output=0)})
    )
    run.reply(call(), usage=Usage(5, 4))
    run.finish()

    assert allowed(run) is None
    assert run.state.ledger.reserved_cost == 9


@pytest.mark.parametrize("limits", [Limits(cost=100), Limits(tokens=100)])
def test_a_reply_without_figures_counts_as_all_that_it_was_allowed(limits: Limits) -> None:
    """A limit holds for a model that tells nothing (law 9)."""
    run = started(program(tool(), limits=limits, prices=PRICES))
    run.reply(call())
    run.finish()

    assert stop_name(run) in {"limit-cost", "limit-tokens"}


def test_a_reply_without_figures_counts_as_the_cap_that_was_asked_for() -> None:
    """So that a run with such a model can go on."""
    settings = CallSettings(max_output_tokens=10)
    run = started(program(tool(), limits=Limits(cost=50), prices=PRICES, settings=settings))
    run.reply(call())
    run.finish()

    assert run.state.ledger.spent_cost == 20
    assert run.phase(Calling).step == 1


@pytest.mark.parametrize("settings", [CallSettings(), CallSettings(max_output_tokens=20)])
def test_another_attempt_reserves_as_much_as_the_first(settings: CallSettings) -> None:
    """It may cost as much, and is as much in flight (law 9)."""
    limits = Limits(tokens=1_000, cost=1_000)
    run = started(program(tool(), limits=limits, prices=PRICES, settings=settings, retry=NO_WAIT))
    run.reply(call(), usage=Usage(10, 5))
    run.finish()
    ledger = run.state.ledger
    first = (ledger.reserved, ledger.reserved_cost)
    run.fail(ModelErrorReason("rate-limit", "slow down"))
    run.wait()
    ledger = run.state.ledger

    assert min(first) > 0
    assert (ledger.reserved, ledger.reserved_cost) == first


def test_another_attempt_at_a_wrap_up_may_take_what_was_kept_back_for_it() -> None:
    """It was refused, so nothing of that is spent."""
    limits = Limits(steps=2, tokens=100, wrap_up_tokens=40)
    run = started(program(tool(), limits=limits, retry=NO_WAIT))
    run.reply(call(), usage=Usage(25, 5))
    run.finish()
    room = allowed(run)
    run.fail(ModelErrorReason("rate-limit", "slow down"))
    run.wait()

    assert room == 40
    assert allowed(run) == room


@pytest.mark.parametrize(("kind", "spent"), [("rate-limit", 20), ("server", 35)])
def test_a_refused_request_costs_nothing_and_a_broken_one_what_was_reserved(
    kind: ModelErrorKind, spent: int
) -> None:
    """A provider that refuses has done no work; one that broke may have (law 9)."""
    run = started(program(tool(), limits=Limits(cost=100), prices=PRICES, retry=NO_WAIT))
    run.reply(call(), usage=Usage(10, 5))
    run.finish()
    run.fail(ModelErrorReason(kind, "no"))

    assert run.state.ledger.spent_cost == spent
    assert run.state.ledger.reserved_cost == 0


def test_each_attempt_reserves_at_the_price_of_its_model() -> None:
    """A dearer fallback buys less of the same money."""
    run = started(program(models=(ONE, TWO), limits=Limits(cost=100), prices=PRICES))
    run.fail(REFUSED)

    assert (CallModel(ModelCallKey(0, 1), TWO),) == run.issued()
    assert allowed(run) == 5


def test_a_plan_may_not_choose_what_the_money_does_not_suffice_for() -> None:
    """The choice is made after the limits were asked for the first model."""
    run = started(program(models=(ONE, TWO), limits=Limits(cost=15), prices=PRICES, prepares=True))
    run.prepare(StepPlan(model=TWO))

    assert stop_name(run) == "limit-cost"
    assert run.issued() == ()


def test_a_plan_may_not_choose_what_would_use_up_the_wrap_up() -> None:
    """The same step is the last answer then, by the model that the money was kept back for."""
    limits = Limits(cost=50, wrap_up_tokens=20)
    run = started(program(models=(ONE, TWO), limits=limits, prices=PRICES, prepares=True))
    run.prepare(StepPlan(model=TWO))

    calling = run.phase(Calling)
    assert calling.wrap is not None
    assert calling.wrap.name == "limit-cost"
    assert (calling.step, calling.model) == (0, ONE)


def test_an_attempt_reserves_no_more_than_it_is_allowed() -> None:
    """What a plan asks for is cut to what the attempt before it has left."""
    settings = CallSettings(max_output_tokens=30)
    limits = Limits(cost=100)
    run = started(program(limits=limits, prices=PRICES, retry=NO_WAIT, prepares=True))
    run.prepare(StepPlan(settings=settings))

    assert run.state.ledger.reserved_cost == 60

    run.fail()
    run.wait()

    assert allowed(run) == 20
    assert run.phase(Calling).reserved_cost == run.state.ledger.reserved_cost == 40


def test_money_is_kept_back_for_the_wrap_up() -> None:
    """The last answer is inside the hard limit of the cost (law 9)."""
    limits = Limits(cost=100, wrap_up_tokens=30)
    run = started(program(tool(), limits=limits, prices=PRICES))

    assert allowed(run) == 20

    run.reply(call(), usage=Usage(10, 10))
    run.finish()

    wrap = run.phase(Calling).wrap
    assert wrap is not None
    assert wrap.name == "limit-cost"
    assert allowed(run) == (100 - 30 - 20) // 2

    run.reply("Warm.", usage=Usage(20, 25))

    assert run.state.cost == 100
    assert run.phase(Done).output == JsonText('"Warm."')


def test_a_run_whose_prices_were_lost_asks_no_more() -> None:
    """It may be taken up by a program with another model, whose limit is for that one."""
    run = started(program(tool(), limits=Limits(cost=100), prices=PRICES, retry=NO_WAIT))
    run.program = program(
        tool(), models=(TWO,), limits=Limits(cost=100), prices={TWO: PRICES[TWO]}, retry=NO_WAIT
    )
    run.fail()
    run.wait()

    assert stop_name(run) == "limit-cost"
    assert run.state.ledger.reserved_cost == 0


def test_a_reply_whose_price_was_lost_counts_as_what_was_reserved() -> None:
    """More cannot be known."""
    settings = CallSettings(max_output_tokens=10)
    run = started(program(limits=Limits(cost=100), prices=PRICES, settings=settings))
    run.program = program(prices={TWO: PRICES[TWO]})
    run.reply("Warm.", usage=Usage(10, 5))

    assert run.state.ledger.spent_cost == 20
    assert run.state.cost is None


# --- grants -----------------------------------------------------------------------------------


def grants(run: Run) -> list[Grant | None]:
    """What the tools that were just issued may spend."""
    return [command.grant for command in run.issued() if isinstance(command, RunTool)]


def granting(
    name: str = "look", limits: Limits = NO_LIMITS, *, idempotent: bool = False
) -> ToolSpec:
    """Make a tool that begins runs of its own."""
    return evolve(tool(name, idempotent=idempotent), grant=limits)


HUNDRED = Limits(tokens=100, cost=100, tool_calls=10)
FLAT = {ONE: Price(input=1_000_000, output=1_000_000)}
FIRST = Usage(5, 5)


def test_a_grant_is_what_is_left_after_the_next_prompt_and_the_wrap_up() -> None:
    """The run itself has to be able to go on (law 9)."""
    limits = evolve(HUNDRED, wrap_up_tokens=20)
    run = started(program(granting(), limits=limits, prices=FLAT))
    run.reply(call(), usage=FIRST)

    assert [Grant(60, 60, 9)] == grants(run)
    ledger = run.state.ledger
    assert (ledger.reserved, ledger.reserved_cost, ledger.reserved_calls) == (60, 60, 9)


def test_grants_are_equal_parts_of_what_is_left_in_call_order() -> None:
    """At most what each tool declares; what one leaves is there for those after it."""
    little, much = Limits(tokens=8, tool_calls=0), Limits()
    run = started(
        program(granting("a", little), granting("b", much), tool(), limits=HUNDRED, prices=FLAT)
    )
    run.reply(*calls("b", "look", "a", "b"), usage=FIRST)

    assert [Grant(26, 26, 2), None, Grant(8, 27, 0), Grant(46, 27, 4)] == grants(run)
    assert run.state.ledger.reserved == 80


def test_a_run_without_limits_grants_what_is_declared() -> None:
    """`None` is no limit."""
    run = started(program(granting("a", Limits(tokens=8)), granting("b")))
    run.reply(*calls("a", "b"), usage=FIRST)

    assert [Grant(8), Grant()] == grants(run)


def test_a_tool_that_is_not_run_here_is_granted_nothing() -> None:
    """It has no command that could carry a grant."""
    client = evolve(granting("ask", Limits(tokens=8)), executes=False)

    run = started(program(client, granting("a", Limits(tokens=8))))
    run.reply(*calls("ask", "a", "ask"), usage=FIRST)

    assert [Grant(8)] == grants(run)


def test_what_is_used_up_to_the_last_is_granted_to_none() -> None:
    """Not even to the second tool: nothing is left, and not less than nothing."""
    limits = Limits(tokens=20, cost=20, tool_calls=2)
    run = started(program(granting("a"), granting("b"), limits=limits, prices=FLAT))
    run.reply(*calls("a", "b"), usage=FIRST)

    assert [Grant(0, 0, 0), Grant(0, 0, 0)] == grants(run)


def test_where_nothing_is_left_nothing_is_granted() -> None:
    """The tool runs, and can begin nothing."""
    run = started(program(granting(), limits=Limits(tokens=15)))
    run.reply(call(), usage=FIRST)

    assert [Grant(0)] == grants(run)


def test_what_is_spent_is_counted_and_the_rest_is_released() -> None:
    """In all the sums of the run that called (law 9)."""
    run = started(program(granting(), limits=HUNDRED, prices=FLAT))
    run.reply(call(), usage=FIRST)
    spent = Spending(Usage(20, 10), 30, 30, 30, 2)
    run.finish(spending=spent)

    ledger = run.state.ledger
    assert Usage(25, 15) == ledger.usage
    assert (ledger.spent, ledger.cost, ledger.spent_cost, ledger.total_issued) == (40, 40, 40, 3)
    assert ledger.reserved_calls == 0
    assert (ledger.reserved, ledger.reserved_cost) == (10, 10)
    assert allowed(run) == 100 - 40 - 10


def test_a_grant_of_which_nothing_is_told_counts_as_spent() -> None:
    """Nobody knows better, and nobody knows the cost."""
    run = started(program(granting(), limits=HUNDRED, prices=FLAT))
    run.reply(call(), usage=FIRST)
    run.finish()

    assert stop_name(run) == "limit-tokens"
    ledger = run.state.ledger
    assert (ledger.spent, ledger.spent_cost, ledger.total_issued) == (90, 90, 10)
    assert (ledger.reserved, ledger.reserved_cost, ledger.reserved_calls) == (0, 0, 0)
    assert ledger.cost is None
    assert FIRST == ledger.usage


def test_a_model_that_costs_nothing_is_not_asked_once_more_was_spent_than_the_limit() -> None:
    """No further call is made after an overshoot, whatever it would cost (law 9)."""
    free = {ONE: Price(input=0, output=0)}
    run = started(program(granting(), limits=Limits(cost=10), prices=free))
    run.reply(call(), usage=FIRST)
    run.finish(spending=Spending(cost=11, spent_cost=11))

    assert stop_name(run) == "limit-cost"


def test_spending_without_a_grant_counts_as_well() -> None:
    """A driver of one's own may tell."""
    run = started(program(tool()))
    run.reply(call(), usage=FIRST)
    run.finish(spending=Spending(Usage(1, 1), 2))

    assert Usage(6, 6) == run.state.usage


def test_a_cancelled_tool_has_spent_its_grant() -> None:
    """It may have."""
    run = started(program(granting(), limits=HUNDRED, prices=FLAT))
    run.reply(call(), usage=FIRST)
    run.feed(Cancelled("enough", run.soon))

    assert run.state.ledger.spent == 90
    assert run.state.ledger.reserved == 0


@pytest.mark.parametrize(("idempotent", "spent"), [(True, 10), (False, 90)])
def test_after_a_crash_an_idempotent_tool_keeps_its_grant(*, idempotent: bool, spent: int) -> None:
    """It goes on with the runs that it had begun; any other one is closed, and has spent it."""
    run = started(program(granting(idempotent=idempotent), limits=HUNDRED, prices=FLAT))
    run.reply(call(), usage=FIRST)
    run.start()
    run.feed(Resumed(1, run.soon))

    assert run.state.ledger.spent == spent
    assert grants(run) == ([Grant(80, 80, 9)] if idempotent else [])


def test_spendings_add_up() -> None:
    """An unknown cost stays unknown."""
    one, unknown = Spending(Usage(1, 2), 3, 4, 5, 6), Spending(cost=None)

    assert Spending(Usage(2, 4), 6, 8, 10, 12) == one + one
    assert (one + unknown).cost is None
    assert one + Spending() == Spending() + one == one


# --- what a run was granted -------------------------------------------------------------------


def test_what_a_run_was_granted_holds_in_the_place_of_its_limits() -> None:
    """Also its prices, where the program has none; the fingerprint is that of the program."""
    plain = program(tool(), limits=Limits(tool_calls=9))
    granted = granted_to(plain, Limits(tool_calls=1), PRICES)
    run = started(plain, granted=granted)
    run.reply(call(), call(), usage=FIRST)
    run.finish()

    assert stop_name(run) == "limit-tool-calls"
    assert run.state.cost == 15
    assert run.state.identity.fingerprint == plain.fingerprint


@pytest.mark.parametrize("is_granted", [False, True])
def test_what_a_run_was_granted_holds_until_it_is_granted_something_else(
    *, is_granted: bool
) -> None:
    """A new process changes nothing of it; another call that takes the run up does."""
    run = started(program(tool()), granted=Granted(Limits(steps=1)))
    run.resume()
    if is_granted:
        run.feed(Resumed(2, run.soon, Granted(Limits(steps=2))))
    run.reply(call(), usage=FIRST)
    run.finish()

    assert isinstance(run.state.phase, Calling) == is_granted


def test_who_grants_money_has_to_know_the_prices() -> None:
    """The cost could not be held to anything else."""
    with pytest.raises(UsageError, match=f"expected the price of each model, got none of '{TWO}'"):
        granted_to(program(models=(ONE, TWO)), Limits(cost=5), {ONE: PRICES[ONE]})


def test_a_grant_of_money_without_prices_lets_no_model_be_asked() -> None:
    """A run may be taken up by a program with another model than it was granted for."""
    granted = Granted(Limits(cost=100), (("another", PRICES[ONE]),))
    run = started(program(tool()), granted=granted)

    assert stop_name(run) == "limit-cost"


def test_tools_are_granted_no_money_whose_worth_is_not_known() -> None:
    """The price of the next prompt could not be kept back."""
    run = started(program(granting(), prices=FLAT), granted=Granted(Limits(cost=100)))
    run.program = program(granting())
    run.reply(call(), usage=FIRST)

    assert [Grant(None, 0, None)] == grants(run)
