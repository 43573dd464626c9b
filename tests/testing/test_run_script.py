"""Whole runs of scripted replies."""

import pytest
from attrs import frozen

from stepfold.agent import object_of
from stepfold.shell import MemoryJournal, ToolContext, tool
from stepfold.testing import Scripted, call, reply, run_script
from stepfold.values import (
    Completed,
    Failed,
    ModelErrorReason,
    Stop,
    Stopped,
    Success,
    UsageError,
    UserMessage,
)


@tool
def wipe(path: str) -> str:
    """Delete a file."""
    return f"{path} is gone"


@frozen
class Answer:
    """What the run has to give."""

    n: int


def test_a_script_is_run_to_its_end() -> None:
    run = run_script([reply(call(wipe, {"path": "/"})), reply("Done")], tools=[wipe])

    assert run.end == Completed("Done")
    assert run.results_of(wipe) == ("/ is gone",)


def test_a_tool_does_not_run_when_the_reply_was_cut() -> None:
    run = run_script([reply(call(wipe, '{"path": "/"}'), finish="length")], tools=[wipe])

    assert isinstance(run.end, Stopped)
    assert run.end.stop.name == "length"
    assert run.results_of(wipe) == ()


def test_a_run_that_failed_is_given_as_well() -> None:
    refused = ModelErrorReason("authentication", "no key")

    assert run_script([refused]).end == Failed(refused)


def test_output_deps_and_options_are_those_of_an_agent() -> None:
    @tool
    def seen(context: ToolContext[str]) -> str:
        """Tell what the context holds."""
        return context.deps

    journal = MemoryJournal()
    run = run_script(
        [reply(call(seen)), reply('{"n": 1}')],
        tools=[seen],
        deps="deps",
        output=object_of(Answer),
        prompt=[UserMessage("Go")],
        journal=journal,
        run_id="another",
    )

    assert run.output == Success(Answer(1))
    assert run.results_of(seen) == ("deps",)
    assert run.id == journal.header.run == "another"


def test_equal_scripts_are_equal_runs() -> None:
    script: list[Scripted] = [
        reply(call(wipe, {"path": "/"})),
        ModelErrorReason("server", "oh"),
        reply("Done"),
    ]
    one, other = (run_script(script, tools=[wipe]) for _ in range(2))

    assert one.state == other.state


def test_a_condition_stops_the_run() -> None:
    run = run_script(
        [reply(call(wipe, {"path": "/"}))], tools=[wipe], stop_when=lambda _: Stop("now")
    )

    assert run.end == Stopped(Stop("now"))


def test_a_script_that_is_too_short_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="at most 1 requests in a run, got one more"):
        run_script([reply(call(wipe, {"path": "/"}))], tools=[wipe])
