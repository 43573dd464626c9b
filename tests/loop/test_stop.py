"""Stop conditions: pure, named, and a Boolean algebra as to whether they stop."""

from itertools import product
from typing import cast

import pytest

from stepfold.loop import (
    Condition,
    Progress,
    StopCondition,
    all_of,
    always,
    any_of,
    cost_budget,
    has_tool_call,
    is_loop_finished,
    is_step_count,
    negate,
    never,
    stop_if,
    token_budget,
    tool_call_budget,
)
from stepfold.loop._stop import condition_name
from stepfold.values import (
    FinishReason,
    JsonText,
    Performance,
    StepResult,
    Stop,
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
        (is_loop_finished(), progress(50), None),
    ],
)
def test_a_condition_names_its_reason_and_what_it_saw(
    condition: Condition, so_far: Progress, stop: Stop | None
) -> None:
    """`>=`, never `==`: once it stops, it stops for every longer run (law 10)."""
    assert stop == condition(so_far)


@pytest.mark.parametrize("limit", [-1, 2.0, True, "3", None])
def test_a_count_is_a_whole_number(limit: object) -> None:
    """The text says what was expected and what came."""
    with pytest.raises(
        UsageError, match="is_step_count: expected a whole number that is not negative, got "
    ):
        is_step_count(cast("int", limit))


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
