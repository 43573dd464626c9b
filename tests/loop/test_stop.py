"""Stop conditions: pure, named, and a Boolean algebra as to whether they stop."""

import math
import re
from collections.abc import Callable
from itertools import product
from typing import Any, cast

import pytest
from attrs import evolve

from stepfold.loop import (
    Condition,
    Progress,
    StopCondition,
    all_of,
    always,
    any_of,
    cost_budget,
    deadline,
    has_tool_call,
    is_loop_finished,
    is_step_count,
    negate,
    never,
    stalled,
    stop_if,
    text_matches,
    token_budget,
    tool_call_budget,
)
from stepfold.loop._stop import condition_name
from stepfold.values import (
    ContentPart,
    FinishReason,
    JsonObject,
    JsonText,
    Performance,
    StepResult,
    Stop,
    Text,
    TextOutput,
    ToolCall,
    ToolError,
    ToolResult,
    Usage,
    UsageError,
)
from tests.loop._scenario import tool

STEP = StepResult(
    0, "acme/one", (), FinishReason("stop"), Usage(), Performance(response_time=0, step_time=0)
)


def progress(
    steps: int = 1,
    *,
    usage: Usage | None = None,
    called: tuple[tuple[str, int], ...] = (),
    cost: int | None = None,
) -> Progress:
    """Be so far in a run."""
    return Progress((STEP,) * steps, usage or Usage(), now=9, started=1, called=called, cost=cost)


def one(_: Progress) -> Stop | None:
    """Stop for a reason."""
    return Stop("one")


def two(_: Progress) -> Stop | None:
    """Stop for another reason."""
    return Stop("two")


def no(_: Progress) -> Stop | None:
    """Go on."""
    return None


HERE = progress()

# --- progress ---------------------------------------------------------------------------------


def test_the_last_step_is_the_one_that_has_just_come_to_rest() -> None:
    """Conditions are asked after a step."""
    assert STEP is HERE.last


def test_before_the_first_step_there_is_no_last() -> None:
    """Who asks too early is told what to do."""
    with pytest.raises(UsageError, match=r"no step has been taken yet: test `progress\.steps`"):
        _ = progress(0).last


def test_calls_are_counted_by_tool_or_by_name() -> None:
    """What was never called was called no times."""
    so_far = progress(called=(("look", 2), ("pay", 1)))

    assert 2 == so_far.calls_of("look") == so_far.calls_of(tool("look"))
    assert so_far.calls_of("dance") == 0
    assert so_far.total_calls == 3


# --- counting conditions ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "so_far", "stop"),
    [
        (is_step_count(2), progress(1), None),
        (is_step_count(2), progress(2), Stop("is_step_count", JsonText('{"reached":2,"limit":2}'))),
        (is_step_count(2), progress(3), Stop("is_step_count", JsonText('{"reached":3,"limit":2}'))),
        (is_step_count(0), progress(1), Stop("is_step_count", JsonText('{"reached":1,"limit":0}'))),
        (token_budget(10), progress(usage=Usage(5, 4)), None),
        (token_budget(10), progress(), None),
        (
            token_budget(10),
            progress(usage=Usage(9, 4)),
            Stop("token_budget", JsonText('{"reached":13,"limit":10}')),
        ),
        (cost_budget(10), progress(cost=9), None),
        (
            cost_budget(10),
            progress(cost=13),
            Stop("cost_budget", JsonText('{"reached":13,"limit":10}')),
        ),
        (
            cost_budget(10),
            progress(cost=None),
            Stop("cost_budget", JsonText('{"reached":null,"limit":10}')),
        ),
        (tool_call_budget(3), progress(called=(("look", 2),)), None),
        (
            tool_call_budget(3),
            progress(called=(("look", 2), ("pay", 1))),
            Stop("tool_call_budget", JsonText('{"reached":3,"limit":3}')),
        ),
        (tool_call_budget(1, tool="pay"), progress(called=(("look", 2),)), None),
        (
            tool_call_budget(1, tool=tool("pay")),
            progress(called=(("look", 2), ("pay", 1))),
            Stop("tool_call_budget", JsonText('{"reached":1,"limit":1}')),
        ),
        (has_tool_call("pay", tool("look")), progress(called=(("dance", 1),)), None),
        (
            has_tool_call("pay", tool("look")),
            progress(called=(("look", 1),)),
            Stop("has_tool_call", JsonText('{"tool":"look"}')),
        ),
        (deadline(at=10), progress(), None),
        (deadline(at=9), progress(), Stop("deadline", JsonText('{"reached":9,"limit":9}'))),
        (deadline(after=9e-9), progress(), None),
        (deadline(after=8e-9), progress(), Stop("deadline", JsonText('{"reached":8,"limit":8}'))),
        (is_loop_finished(), progress(50), None),
    ],
)
def test_a_condition_names_its_reason_and_what_it_saw(
    condition: Condition, so_far: Progress, stop: Stop | None
) -> None:
    """`>=`, never `==`: once it stops, it stops for every longer run (law 10)."""
    assert stop == condition(so_far)


def test_unknown_usage_is_none_at_all() -> None:
    """Also for the smallest budget: nobody said that anything was spent."""
    assert token_budget(1)(progress()) is None


@pytest.mark.parametrize("cost", [-1, 2.0, True, "3", None])
def test_a_cost_is_a_whole_number(cost: object) -> None:
    """Of millionths: a budget in whole units of money would be a fraction."""
    with pytest.raises(UsageError, match=re.escape(f"cost_budget: {WHOLE}, got {cost!r}")):
        cost_budget(cast("int", cost))


@pytest.mark.parametrize("budget", [token_budget, tool_call_budget, cost_budget, is_step_count])
def test_a_mistake_names_the_condition_that_was_asked_for(budget: Callable[[int], object]) -> None:
    """Whoever reads it has several."""
    with pytest.raises(UsageError, match=f"^{budget.__name__}: "):
        budget(-1)


WHOLE = "expected a whole number that is not negative"


@pytest.mark.parametrize("limit", [-1, 2.0, True, "3", None])
def test_a_count_is_a_whole_number(limit: object) -> None:
    """The text says what was expected and what came."""
    with pytest.raises(
        UsageError, match="is_step_count: expected a whole number that is not negative, got "
    ):
        is_step_count(cast("int", limit))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "an instant (at=…) or seconds (after=…), got neither"),
        ({"at": 1, "after": 1}, "an instant (at=…) or seconds (after=…), got both"),
        ({"at": -1}, "a whole number that is not negative, got -1"),
        ({"at": 1.5}, "a whole number that is not negative, got 1.5"),
        ({"after": -1}, "seconds that are not negative, got -1"),
        ({"after": "1"}, "seconds that are not negative, got '1'"),
        ({"after": math.inf}, "seconds that are not negative, got inf"),
    ],
)
def test_a_deadline_is_an_instant_or_a_time(options: dict[str, Any], text: str) -> None:
    """One of both."""
    with pytest.raises(UsageError) as caught:
        deadline(**options)

    assert f"deadline: expected {text}" == str(caught.value)


def test_two_kinds_of_deadline_have_two_names() -> None:
    """The name is part of what a program is known by."""
    assert str(deadline(at=5)) == "deadline(at=5)"
    assert str(deadline(after=5)) == "deadline(after=5)"
    assert str(is_loop_finished()) == "is_loop_finished"


def test_a_budget_of_one_tool_stops_like_that_of_all() -> None:
    """By the same name: which of both it was is in the text of the condition."""
    so_far = progress(called=(("pay", 1),))

    assert tool_call_budget(1, tool="pay")(so_far) == tool_call_budget(1)(so_far)


def test_the_time_of_a_deadline_is_in_seconds() -> None:
    """The evidence is in nanoseconds."""
    stop = Stop("deadline", JsonText('{"reached":8,"limit":5}'))

    assert deadline(after=5e-9)(HERE) == stop
    assert deadline(after=9e-9)(HERE) is None


# --- conditions that look at the last steps ---------------------------------------------------


def done(*content: ContentPart) -> StepResult:
    """Make a step of these parts."""
    return evolve(STEP, content=content)


def asked(arguments: str = "{}", *, id: str = "c", name: str = "look") -> ToolCall:
    """Ask for a tool."""
    return ToolCall(id, name, arguments)


def gave(text: str = "warm", *, id: str = "c") -> ToolResult:
    """Answer a call."""
    return ToolResult(id, "look", TextOutput(text))


def broke(text: str = "no", *, id: str = "c") -> ToolError:
    """Fail a call."""
    return ToolError(id, "look", text)


def after(*steps: StepResult) -> Progress:
    """Be at the end of these steps."""
    return Progress(steps, Usage(), now=9, started=1)


@pytest.mark.parametrize(
    ("first", "second", "stops"),
    [
        (done(asked(), gave()), done(asked(), gave()), True),
        (done(asked(id="a"), gave(id="a")), done(asked(id="b"), gave(id="b")), True),
        (done(asked('{"a":1,"b":2}'), gave()), done(asked('{"b": 2, "a": 1}'), gave()), True),
        (done(asked(""), gave()), done(asked("{}"), gave()), True),
        (done(asked('{"a'), broke()), done(asked('{"a'), broke()), True),
        (done(Text("Hm."), asked(), gave()), done(asked(), gave()), True),
        (done(asked(), gave("cold")), done(asked(), gave()), False),
        (done(asked(), broke("one")), done(asked(), broke("two")), False),
        (done(asked(), broke()), done(asked(), gave()), False),
        (done(asked('{"a":1}'), gave()), done(asked('{"a":2}'), gave()), False),
        (done(asked(name="gaze"), gave()), done(asked(), gave()), False),
        (done(asked('{"a'), broke()), done(asked('{"b'), broke()), False),
        (done(asked(), gave(), asked(id="d")), done(asked(), gave(), asked(id="d")), False),
        (done(asked()), done(asked()), False),
        (done(Text("Hm.")), done(Text("Hm.")), False),
        (done(asked(), gave()), done(Text("Hm.")), False),
    ],
)
def test_a_run_stalls_if_it_does_the_same_and_gets_the_same(
    first: StepResult, second: StepResult, *, stops: bool
) -> None:
    """Ids of calls and the text beside them tell nothing."""
    assert (stalled(2)(after(first, second)) is not None) == stops


def test_a_run_stalls_after_so_many_times_in_a_row() -> None:
    """What came before the last change counts no more."""
    same, other = done(asked(), gave()), done(asked(), gave("cold"))
    condition = stalled(3)

    assert condition(after(same, same)) is None
    assert condition(after(same, other, same, same)) is None
    assert Stop("stalled", JsonText('{"times":3,"tools":["look"]}')) == condition(
        after(other, same, same, same)
    )


@pytest.mark.parametrize("times", [1, 0, -1, 2.0, True])
def test_once_is_no_repetition(times: object) -> None:
    """Every run would stall at its first call."""
    with pytest.raises(UsageError, match="stalled: expected a whole number from 2, got "):
        stalled(cast("int", times))


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [("DONE", None), ("(?i)done", "Done"), (re.compile("d.*", re.IGNORECASE), "Done\ufffd.")],
)
def test_the_text_of_the_last_step_may_match(
    pattern: str | re.Pattern[str], matched: str | None
) -> None:
    """The evidence is what was found; text from a model may have no UTF-8 form."""
    stop = text_matches(pattern)(after(done(Text("Now DONE")), done(Text("It is Done\ud800."))))

    assert (None if stop is None else stop.evidence.value) == (
        None if matched is None else JsonObject({"matched": matched})
    )


def test_of_a_long_match_the_beginning_is_told() -> None:
    """Evidence is for people to read."""
    matched = text_matches("x+")(after(done(Text("A " + "x" * 300))))

    assert matched == Stop("text_matches", JsonText.of({"matched": "x" * 200}))


@pytest.mark.parametrize("pattern", ["(", 5, re.compile(b"x")])
def test_what_is_no_regular_expression_is_refused(pattern: object) -> None:
    """Where it is given."""
    with pytest.raises(UsageError, match="text_matches: expected a regular expression"):
        text_matches(cast("str", pattern))


def test_a_condition_on_no_tool_is_a_mistake() -> None:
    """It would never stop."""
    with pytest.raises(
        UsageError, match="has_tool_call: expected at least one tool or name of a tool, got none"
    ):
        has_tool_call()


def test_a_predicate_is_a_condition_with_a_reason() -> None:
    """For what the shipped ones do not say."""
    condition = stop_if(lambda so_far: so_far.now - so_far.started > 5, "too long")

    assert Stop("too long") == condition(HERE)
    assert stop_if(lambda _: False, "never")(HERE) is None


# --- the algebra ------------------------------------------------------------------------------


def test_the_reason_is_that_of_the_first_that_fires() -> None:
    """In the order listed, for both `any_of` and `all_of` (law 10)."""
    assert Stop("one") == any_of(no, one, two)(HERE)
    assert Stop("two") == any_of(two, one)(HERE)
    assert Stop("two") == all_of(two, one)(HERE)
    assert any_of(no, no)(HERE) is None
    assert all_of(one, no, two)(HERE) is None


def test_the_units_never_and_always_stop() -> None:
    """`any_of()` and `all_of()` are the units."""
    assert never(HERE) is None
    assert any_of()(HERE) is None
    assert Stop("all_of()") == always(HERE) == all_of()(HERE)


def test_a_negation_stops_when_the_other_does_not() -> None:
    """Its reason is its name."""
    assert Stop("negate(no)") == negate(no)(HERE)
    assert negate(one)(HERE) is None


@pytest.mark.parametrize(("a", "b", "c"), [*product((one, no), repeat=3)])
def test_conditions_are_a_boolean_algebra_as_to_whether_they_stop(
    a: StopCondition, b: StopCondition, c: StopCondition
) -> None:
    """Commutation, absorption, distribution, complements, De Morgan (law 10)."""
    equal = [
        (any_of(a, b), any_of(b, a)),
        (all_of(a, b), all_of(b, a)),
        (any_of(a, all_of(a, b)), any_of(a)),
        (all_of(a, any_of(b, c)), any_of(all_of(a, b), all_of(a, c))),
        (any_of(a, negate(a)), always),
        (all_of(a, negate(a)), never),
        (negate(any_of(a, b)), all_of(negate(a), negate(b))),
        (negate(negate(a)), any_of(a)),
        (any_of(a, never), all_of(a, always)),
    ]

    assert all((left(HERE) is None) == (right(HERE) is None) for left, right in equal)


def test_operators_are_short_for_the_algebra() -> None:
    """Any function of the right shape may stand on either side."""
    condition = is_step_count(1)

    assert str(condition | no) == "any_of(is_step_count(1), no)"
    assert str(no | condition) == "any_of(no, is_step_count(1))"
    assert str(condition & no) == "all_of(is_step_count(1), no)"
    assert str(no & condition) == "all_of(no, is_step_count(1))"
    assert str(~condition) == "negate(is_step_count(1))"


@pytest.mark.parametrize(
    ("combined", "where"),
    [(any_of, "any_of"), (all_of, "all_of"), (negate, "negate"), (stop_if, "stop_if")],
)
def test_what_is_no_condition_is_refused_at_once(combined: object, where: str) -> None:
    """A mistake is told where it is made, not after the first step."""
    made = cast("type[Condition]", combined)
    given = (3, "reason") if where == "stop_if" else (3,)
    with pytest.raises(UsageError) as caught:
        made(*given)

    assert f"{where}: expected a stop condition (a function of Progress), got 3" == str(
        caught.value
    )


class Budget:
    """A condition with a state of its own."""

    def __call__(self, progress: Progress) -> Stop | None:
        """Never stop."""
        return None


def test_a_condition_has_a_name() -> None:
    """Its own, that of its function, or that of its class."""
    assert condition_name(is_step_count(3)) == "is_step_count(3)"
    assert condition_name(no) == "no"
    assert condition_name(Budget()) == "Budget"
