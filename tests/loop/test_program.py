"""A program is checked when it is made, and has a fingerprint of what decides a run."""

import math
from typing import Any, cast, final

import pytest
from attrs import evolve, frozen

from stepfold.loop import (
    TEXT_OUTPUT,
    Limits,
    OutputSpec,
    Program,
    RetryPolicy,
    StopCondition,
    Timeouts,
    ToolSpec,
    is_step_count,
)
from stepfold.values import (
    JsonBounds,
    JsonFormat,
    JsonText,
    NamedTool,
    Price,
    ProviderTool,
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


def hidden(name: str = "rare") -> ToolSpec:
    """Make a tool that has to be found."""
    return tool(name, defer_loading=True)


SEARCH = evolve(tool("search", executes=False), searches=3)
BROWSE = ProviderTool("acme.browse", "browse")


@pytest.mark.parametrize(
    ("tools", "options", "message"),
    [
        (
            [tool("browse")],
            {"provider_tools": {"browse": BROWSE}},
            "tools: expected one tool of each name, got two of 'browse'",
        ),
        (
            [tool(), hidden()],
            {},
            (
                "tools: expected a tool_search, since rare has defer_loading and nothing "
                "else could find it, got none: add tool_search()"
            ),
        ),
        (
            [tool()],
            {"active_tools": ("look", "dance")},
            "active_tools: expected names of tools (look), got 'dance'",
        ),
        (
            [tool(), tool("pay")],
            {"provider_tools": {"browse": BROWSE}, "tool_order": ("browse", "dance")},
            "tool_order: expected names of tools (look, pay, browse), got 'dance'",
        ),
        ([], {"tool_order": ("dance",)}, "tool_order: expected names of tools (none), got 'dance'"),
        (
            [SEARCH, hidden()],
            {"tool_choice": NamedTool("rare")},
            "tool_choice: expected a tool that is there from the start, got 'rare'",
        ),
        (
            [],
            {"tool_choice": NamedTool("dance")},
            "tool_choice: expected one of the tools (none), got 'dance'",
        ),
        (
            [tool(), tool("pay")],
            {"tool_choice": NamedTool("pay"), "active_tools": ("look",)},
            "tool_choice: expected one of the tools (look), got 'pay'",
        ),
        (
            [tool(), tool("ask")],
            {"limits": Limits(calls_of={"look": 1, "pay": 1})},
            "Limits.calls_of: expected one of the tools (look, ask), got 'pay'",
        ),
        (
            [tool(), tool("ask")],
            {"timeouts": Timeouts(tools={"look": 1, "pay": 1})},
            "Timeouts.tools: expected one of the tools (look, ask), got 'pay'",
        ),
        (
            [],
            {"timeouts": Timeouts(tools={"pay": 1})},
            "Timeouts.tools: expected one of the tools (none), got 'pay'",
        ),
        (
            [tool()],
            {"output": OutputSpec("given", TEXT_OUTPUT.check, tool="give")},
            (
                "Program.output: expected the tool 'give' among the tools, marked is_output, "
                "and no other, got None"
            ),
        ),
        (
            [tool(), tool("ask")],
            {"output": OutputSpec("given", TEXT_OUTPUT.check, result_of="pay")},
            (
                "Program.output: expected the tool 'pay', whose result is the output, among the "
                "tools (look, ask), and none marked is_output, got 'none': add it to the tools"
            ),
        ),
        (
            [tool(), tool("give", executes=False, is_output=True)],
            {"output": OutputSpec("given", TEXT_OUTPUT.check, tool="give", result_of="look")},
            (
                "Program.output: expected the tool 'look', whose result is the output, among the "
                "tools (look, give), and none marked is_output, got 'give': add it to the tools"
            ),
        ),
        (
            [],
            {
                "step_models": (TWO,),
                "limits": Limits(cost=1),
                "prices": {ONE: Price(input=1, output=1)},
            },
            (
                "Limits.cost: expected the price of each model, got none of 'acme/two': give "
                "prices={'acme/two': Price(input=…, output=…)}"
            ),
        ),
    ],
)
def test_what_does_not_go_together_is_refused_in_words_that_name_it(
    tools: list[ToolSpec], options: dict[str, Any], message: str
) -> None:
    """What was expected, and what there is."""
    with pytest.raises(UsageError) as caught:
        Program(models=(ONE,), tools={spec.name: spec for spec in tools}, **options)

    assert str(caught.value) == message


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
        {"active_tools": ("look",)},
        {"bounds": JsonBounds(depth=9)},
        {"output": OutputSpec("text", numbers, retries=1)},
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
        tool(refines=True),
        tool(max_retries=0),
        evolve(tool(), title="Look"),
        evolve(tool(), metadata=JsonText("1")),
        evolve(tool(), dynamic=True),
        evolve(tool(), grant=Limits()),
    ],
)
def test_what_a_tool_is_is_in_the_fingerprint(other: Any) -> None:
    """Name, schema and options; no code."""
    assert program(tool()).fingerprint != program(other).fingerprint


def test_a_fingerprint_is_the_same_tomorrow() -> None:
    """Journals hold it: whoever changes how it is made keeps the runs of today from going on."""
    plain = Program(models=(ONE,))
    look = evolve(
        tool(timeout=5, max_retries=2, idempotent=True),
        title="Look",
        metadata=JsonText('{"a":1}'),
        dynamic=True,
        grant=Limits(steps=1, tokens=2, tool_calls=3, cost=4),
    )
    pay = guarded(binds=True, refines=True)
    full = Program(
        models=(ONE, TWO),
        step_models=("acme/three",),
        tools={"look": look, "pay": pay, "search": SEARCH, "rare": hidden()},
        provider_tools={"browse": evolve(BROWSE, args=JsonText('{"b":2}'))},
        tool_choice=NamedTool("look"),
        active_tools=("search", "rare", "pay", "look"),
        output=OutputSpec(
            "number",
            numbers,
            JsonFormat(JsonText('{"type":"number"}')),
            binds=True,
            retries=2,
            instructions="Say a number.",
            result_of="pay",
        ),
        stop_when=is_step_count(5),
        limits=Limits(
            steps=9, tokens=8, tool_calls=7, calls_of={"look": 6}, wrap_up_tokens=5, cost=4
        ),
        prices={
            name: Price(input=1, output=2, cache_read=3, cache_write=4, reasoning=5)
            for name in (ONE, TWO, "acme/three")
        },
        timeouts=Timeouts(total=1, step=2, first_chunk=3, chunk=4, tool=5, tools={"pay": 6}),
        prepares=True,
        version="2",
    )

    assert plain.fingerprint == "68d1ce4584ab43eb613d0c3bc52c6e33fcf1615645802ba63249f9ae8a7f7511"
    assert full.fingerprint == "ba1989d5787d1c30c95bfcaea25f1262b8d35a0aca673ec86c78d7d8b33c37ec"


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
