"""Limits of time are checked when they are given."""

from typing import Any

import pytest

from stepfold.loop import Program, Timeouts
from stepfold.loop.commands import CallKey, RunTool
from stepfold.values import UsageError
from tests.loop._scenario import ONE, call, program, started, tool


@pytest.mark.parametrize("name", ["total", "step", "first_chunk", "chunk", "tool"])
@pytest.mark.parametrize("figure", [0, -1.0, float("inf"), float("nan")])
def test_a_limit_is_above_zero(name: str, figure: float) -> None:
    """No time at all is no limit that can be kept."""
    given: Any = {name: figure}
    with pytest.raises(UsageError, match=rf"Timeouts\.{name}: expected a finite number above zero"):
        Timeouts(**given)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"look": 0}, r"Timeouts\.tools\['look'\]: expected a finite number above zero, got 0"),
        ([("look", 1), ("look", 2)], "Timeouts.tools: expected each tool once, got 'look' twice"),
    ],
)
def test_the_limits_of_tools_are_checked_too(given: Any, text: str) -> None:
    """Each is a limit, and there is one for each tool."""
    with pytest.raises(UsageError, match=text):
        Timeouts(tools=given)


def test_the_limits_of_tools_are_kept_by_name() -> None:
    """Tools may be given themselves."""
    given = Timeouts(tools={"wipe": 2.0, tool("look"): 1.0})

    assert given.tools == (("look", 1.0), ("wipe", 2.0))
    assert given == Timeouts(tools=(("look", 1.0), ("wipe", 2.0)))


def test_a_limit_is_for_a_tool_that_is_there() -> None:
    """A misspelt name would limit nothing."""
    with pytest.raises(UsageError, match=r"Timeouts\.tools: expected one of the tools \(look\)"):
        program(tool("look"), timeouts=Timeouts(tools={"lok": 1}))


def test_a_program_has_all_the_time_in_the_world() -> None:
    """Nothing is limited unless it is said."""
    assert Program(models=(ONE,)).timeouts == Timeouts()
    assert not Timeouts(total=1, step=1, tool=1).of_chunks
    assert Timeouts(chunk=1).of_chunks
    assert Timeouts(first_chunk=1).of_chunks


@pytest.mark.parametrize(
    ("timeouts", "look", "pay"),
    [
        (Timeouts(), 5, None),
        (Timeouts(total=1), 5, None),
        (Timeouts(tool=2.5), 5, 2_500_000_000),
        (Timeouts(tool=2.5, tools={"look": 1.5}), 1_500_000_000, 2_500_000_000),
        (Timeouts(tools={"pay": 0.5}), 5, 500_000_000),
    ],
)
def test_the_nearest_limit_of_a_tool_counts(
    timeouts: Timeouts, look: int | None, pay: int | None
) -> None:
    """What is said of it by name, then what it says itself, then what is said of all."""
    one, other = tool(timeout=5), tool("pay")
    limited = program(one, other, timeouts=timeouts)

    assert (limited.timeout_of(one), limited.timeout_of(other)) == (look, pay)


def test_the_limit_of_a_tool_is_in_its_command() -> None:
    """As the instant at which it is over."""
    run = started(program(tool(), timeouts=Timeouts(tool=2)))
    run.reply(call())

    assert run.issued() == (RunTool(CallKey(0, 0, 0), "look", run.state.now + 2_000_000_000),)
