"""A program is checked when it is made, and has a fingerprint of what decides a run."""

import math
from typing import Any, cast, final

import pytest
from attrs import frozen

from stepfold.loop import (
    Limits,
    OutputSpec,
    Program,
    RetryPolicy,
    StopCondition,
    Timeouts,
    is_step_count,
)
from stepfold.values import (
    JsonFormat,
    JsonText,
    NamedTool,
    Price,
    Success,
    ToolChoice,
    ToolDefinition,
    UsageError,
)
from tests.loop._scenario import (
    ONE,
    TWO,
    ProgramOptions,
    guarded,
    program,
    tool,
)

# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["max_retries", "initial_delay", "factor", "max_delay", "jitter", "max_retry_after"],
)
@pytest.mark.parametrize("value", [-1, math.nan, math.inf])
def test_figures_of_a_retry_policy_are_finite_and_not_negative(name: str, value: float) -> None:
    """Each pause has to be a number, however often it is tried."""
    options: dict[str, Any] = {name: value}
    with pytest.raises(UsageError) as caught:
        RetryPolicy(**options)

    assert (
        f"RetryPolicy.{name}: expected a finite number that is not negative, got {value!r}"
        == str(caught.value)
    )


def test_the_jitter_is_a_share() -> None:
    """More than all of a pause would be time running back."""
    with pytest.raises(
        UsageError, match=r"RetryPolicy\.jitter: expected a share between 0 and 1, got 1\.5"
    ):
        RetryPolicy(jitter=1.5)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"steps": -1}, "Limits.steps"),
        ({"tokens": -1}, "Limits.tokens"),
        ({"tool_calls": -1}, "Limits.tool_calls"),
        ({"wrap_up_tokens": -1}, "Limits.wrap_up_tokens"),
        ({"calls_of": (("look", 1), ("pay", -1))}, "Limits.calls_of['pay']"),
    ],
)
def test_a_limit_is_not_negative(options: dict[str, Any], name: str) -> None:
    """The text names the limit."""
    with pytest.raises(UsageError) as caught:
        Limits(**options)

    assert f"{name}: expected a finite number that is not negative, got -1" == str(caught.value)


@pytest.mark.parametrize("cost", [-1, 2.5, True])
def test_a_limit_of_the_cost_is_whole_micro_units(cost: object) -> None:
    """Money is never a float."""
    with pytest.raises(
        UsageError, match=r"Limits\.cost: expected a whole number of micro-units .* 2_500_000"
    ):
        Limits(cost=cast("int", cost))


def test_a_limit_of_the_cost_needs_the_price_of_each_model() -> None:
    """A limit on what is not known would hold nothing."""
    price = Price(input=1, output=1)
    with pytest.raises(UsageError) as caught:
        program(models=(ONE, TWO), limits=Limits(cost=1), prices={ONE: price})

    assert str(caught.value) == (
        "Limits.cost: expected the price of each model, got none of 'acme/two': give "
        "prices={'acme/two': Price(input=…, output=…)}"
    )


def test_a_program_names_a_model() -> None:
    """Without one there is nobody to ask."""
    with pytest.raises(
        UsageError, match=r"Program\.models: expected at least one name of a model, got none"
    ):
        Program(models=())


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (NamedTool("pay"), "tool_choice: expected one of the tools (look), got 'pay'"),
        (NamedTool("look"), None),
        ("required", None),
        ("none", None),
    ],
)
def test_a_tool_choice_names_a_tool(choice: ToolChoice, message: str | None) -> None:
    """A choice that cannot be honoured is a mistake."""
    if message is None:
        assert choice == program(tool(), tool_choice=choice).tool_choice
        return
    with pytest.raises(UsageError) as caught:
        program(tool(), tool_choice=choice)

    assert message == str(caught.value)


def test_a_tool_is_required_only_where_there_is_one() -> None:
    """Nothing could be called."""
    with pytest.raises(
        UsageError, match="tool_choice: 'required' needs at least one tool, got none"
    ):
        program(tool_choice="required")


def test_a_limit_of_a_tool_names_a_tool() -> None:
    """A limit on a misspelt name would hold nothing."""
    with pytest.raises(
        UsageError, match=r"Limits\.calls_of: expected one of the tools \(none\), got 'pay'"
    ):
        program(limits=Limits(calls_of=(("pay", 1),)))


@final
@frozen
class Chosen:
    """Anything with a name will do."""

    name: str


def test_limits_of_tools_are_kept_by_name() -> None:
    """However they were given, equal limits are equal."""
    kept = (("look", 2), ("pay", 1))
    by_tool = {Chosen("pay"): 1, Chosen("look"): 2}

    assert Limits(calls_of=kept).calls_of == kept
    assert Limits(calls_of=[("pay", 1), (Chosen("look"), 2)]).calls_of == kept
    assert Limits(calls_of={"pay": 1, "look": 2}).calls_of == kept
    assert Limits(calls_of={Chosen("pay"): 1, "look": 2}).calls_of == kept
    assert Limits(calls_of=by_tool).calls_of == kept
    assert Limits(calls_of={}) == Limits()


@pytest.mark.parametrize("calls_of", [(("pay", 1), ("pay", 2)), {Chosen("pay"): 1, "pay": 2}])
def test_a_tool_has_one_limit(calls_of: tuple[tuple[str, int], ...]) -> None:
    """Which of two would hold?"""
    with pytest.raises(UsageError, match=r"calls_of: expected each tool once, got 'pay' twice"):
        Limits(calls_of=calls_of)


def test_a_limit_of_a_tool_is_not_negative() -> None:
    """No fewer than none."""
    with pytest.raises(UsageError, match=r"calls_of\['pay'\]: expected a finite number that is"):
        Limits(calls_of={"pay": -1})


def test_what_falls_over_is_a_set_of_kinds() -> None:
    """In the order of their declaration; a misspelt kind would never happen."""
    twice = RetryPolicy(fallback_on=("overloaded", "rate-limit", "overloaded"))

    assert twice.fallback_on == ("rate-limit", "overloaded")
    assert RetryPolicy(fallback_on=()).fallback_on == ()
    assert "server" in RetryPolicy().fallback_on
    for wrong in (["busy"], "server-error"):
        with pytest.raises(UsageError, match=r"RetryPolicy\.fallback_on: expected kinds of model"):
            RetryPolicy(fallback_on=cast("Any", wrong))


def test_a_stop_condition_is_a_function() -> None:
    """A number is a common mistake."""
    with pytest.raises(UsageError, match="stop_when: expected a function of Progress, got 5"):
        program(stop_when=cast("StopCondition", 5))


# --- what it is -------------------------------------------------------------------------------


def test_a_program_does_not_follow_the_tools_it_was_made_from() -> None:
    """A program is a value, though compared by identity."""
    look = tool()
    tools = {"look": look}
    made = Program(models=(ONE,), tools=tools)
    tools.clear()

    assert {"look": look} == dict(made.tools)
    assert (look.definition,) == made.definitions
    assert made != Program(models=(ONE,), tools={"look": look})


def test_a_program_stops_after_twenty_steps_unless_told_otherwise() -> None:
    """The default of an agent."""
    assert str(Program(models=(ONE,)).stop_when) == "is_step_count(20)"


def test_any_text_is_output_unless_something_was_promised() -> None:
    """The default output is the text itself."""
    assert Success(JsonText('"so"')) == program().output.check("so")


# --- its fingerprint --------------------------------------------------------------------------


def numbers(text: str) -> Success[JsonText]:
    """Accept any text."""
    return Success(JsonText(text))


def test_equal_programs_have_one_fingerprint() -> None:
    """It is made of what can be written down, so another process finds the same."""
    first = program(tool(), guarded(), limits=Limits(calls_of=(("look", 1),)))
    again = program(tool(), guarded(), limits=Limits(calls_of=(("look", 1),)))

    assert first.fingerprint == again.fingerprint
    assert len(first.fingerprint) == 64


@pytest.mark.parametrize(
    "options",
    [
        {"models": (ONE, TWO)},
        {"tool_choice": "required"},
        {"tool_choice": NamedTool("look")},
        {"output": OutputSpec("number", numbers)},
        {"output": OutputSpec("text", numbers, JsonFormat(JsonText("{}")))},
        {"stop_when": is_step_count(3)},
        {"limits": Limits(steps=3)},
        {"limits": Limits(cost=0), "prices": {ONE: Price(input=0, output=0)}},
        {"prices": {ONE: Price(input=0, output=0)}},
        {"retry": RetryPolicy(max_retries=9)},
        {"retry": RetryPolicy(fallback_on=("overloaded",))},
        {"timeouts": Timeouts(total=9)},
        {"timeouts": Timeouts(tools={"look": 9})},
        {"prepares": True},
        {"repairs": True},
        {"checks_stop": True},
        {"version": "2"},
    ],
)
def test_what_decides_a_run_is_in_the_fingerprint(options: ProgramOptions) -> None:
    """A journal of another program is told apart."""
    assert program(tool()).fingerprint != program(tool(), **options).fingerprint


@pytest.mark.parametrize(
    "other",
    [
        tool("other"),
        guarded("look"),
        tool(executes=False),
        tool(binds=True),
        tool(idempotent=True),
        tool(timeout=5),
    ],
)
def test_what_a_tool_is_is_in_the_fingerprint(other: Any) -> None:
    """Name, schema and options; no code."""
    assert program(tool()).fingerprint != program(other).fingerprint


def test_secrets_are_not_in_the_fingerprint_nor_shown() -> None:
    """Headers may hold a key."""
    secret = program(tool(), headers=(("authorization", "s3cret"),))

    assert program(tool()).fingerprint == secret.fingerprint
    assert "s3cret" not in repr(secret)


def test_a_tool_is_known_by_the_name_in_its_definition() -> None:
    """The name that the model knows."""
    assert tool().name == "look"
    assert ToolDefinition("look", "The tool look.", JsonText('{"type":"object"}')) == (
        tool().definition
    )
