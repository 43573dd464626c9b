"""Tools that are hidden until a search finds them."""

import pytest
from attrs import evolve
from typing_extensions import Unpack

from stepfold.loop import Calling, Limits, Program, request_of, search_spec
from stepfold.loop._search import ranked
from stepfold.loop.commands import RunTool
from stepfold.loop.events import StepPlan
from stepfold.loop.notes import CallRejected, ToolFinished
from stepfold.values import (
    Failed,
    HookFailed,
    JsonText,
    NamedTool,
    Stopped,
    ToolDefinition,
    ToolResult,
    UsageError,
)
from tests.loop._scenario import ProgramOptions, Run, call, program, started, tool

FIND = search_spec("find", "Find tools.", 2)


def searching(**options: Unpack[ProgramOptions]) -> Program:
    hidden = [tool(name, defer_loading=True) for name in ("getWeather", "get_time")]
    return program(tool(), *hidden, FIND, **options)


def offered(run: Run) -> list[str]:
    return [one.name for one in request_of(run.program, run.state).tools]


def found(run: Run) -> JsonText:
    part = run.state.steps[-1].content[-1]
    assert isinstance(part, ToolResult)
    return part.json


def test_a_hidden_tool_is_offered_once_it_was_found() -> None:
    """From the next step on, and for the rest of the run; nothing is asked of the world."""
    run = started(searching())
    assert offered(run) == ["look", "find"]
    run.reply(call("find", '{"query":"weather"}'))

    assert [type(command) for command in run.commands if isinstance(command, RunTool)] == []
    assert found(run) == JsonText(
        '{"tools":[{"name":"getWeather","description":"The tool getWeather."}]}'
    )
    assert [type(note) for note in run.told(ToolFinished)] == [ToolFinished]
    assert offered(run) == ["look", "getWeather", "find"]
    run.reply(call("getWeather", id="c2"))
    run.finish()
    assert offered(run) == ["look", "getWeather", "find"]


def test_a_hidden_tool_cannot_be_called_in_the_step_that_finds_it() -> None:
    """The model was not told of it when it called."""
    run = started(searching())
    run.reply(call("find", '{"query":"weather"}'), call("getWeather", id="c2"))

    [rejected] = run.told(CallRejected)
    assert rejected.error == "getWeather is not loaded: find it by find first"


def test_a_search_runs_nowhere_and_keeps_what_the_provider_said_of_its_call() -> None:
    """Neither here nor at a client: its answer is made of the program."""
    options = JsonText('{"acme":{"signature":"x"}}')
    run = started(searching())
    run.reply(evolve(call("find", '{"query":"weather"}'), provider_options=options))

    assert not search_spec("find", "Find tools.", 2).executes
    assert run.answers[0].provider_options == options


def test_what_is_found_twice_is_kept_once() -> None:
    run = started(searching())
    run.reply(call("find", '{"query":"time"}'), call("find", '{"query":"GET"}', id="c2"))

    assert run.state.toolbox.found == ("get_time", "getWeather")


def test_a_search_that_finds_nothing_says_so() -> None:
    run = started(searching())
    run.reply(call("find", '{"query":"fly, you fools"}'))

    assert found(run) == JsonText('{"tools":[]}')
    assert run.state.toolbox.found == ()


def test_a_search_finds_so_many_at_most() -> None:
    hidden = [tool(f"get{letter}", defer_loading=True) for letter in "ABC"]
    run = started(program(*hidden, FIND))
    run.reply(call("find", '{"query":"get"}'))

    assert run.state.toolbox.found == ("getA", "getB")


@pytest.mark.parametrize("text", ['{"query":7}', "{}", '{"query":"a","most":3}'])
def test_a_search_has_arguments_like_any_call(text: str) -> None:
    run = started(searching())
    run.reply(call("find", text))

    assert [error.kind for error in run.state.steps[0].tool_errors] == ["invalid"]


def test_a_search_counts_as_a_call() -> None:
    run = started(searching(limits=Limits(tool_calls=0)))
    run.reply(call("find", '{"query":"weather"}'))

    assert isinstance(run.end, Stopped)
    assert run.state.toolbox.found == ()


def test_a_plan_hides_what_was_found_and_chooses_only_what_is_there() -> None:
    run = started(searching(prepares=True))
    run.prepare(StepPlan())
    run.reply(call("find", '{"query":"weather"}'))
    run.prepare(StepPlan(active_tools=("getWeather", "get_time")))
    assert offered(run) == ["getWeather"]
    run.reply(call("look"))
    assert run.told(CallRejected)[-1].error == (
        "no tool is named 'look'; the tools are: getWeather"
    )
    run.prepare(StepPlan(tool_choice=NamedTool("getWeather")))
    assert isinstance(run.state.phase, Calling)
    run.reply(call("getWeather", id="c3"))
    run.finish()
    run.prepare(StepPlan(tool_choice=NamedTool("get_time")))

    assert run.end == Failed(HookFailed("prepare_step", "UnknownTool: 'get_time'"))


def test_a_hidden_tool_without_a_search_in_sight_is_none() -> None:
    run = started(searching(prepares=True))
    run.prepare(StepPlan(active_tools=("look",)))
    run.reply(call("getWeather"))

    [rejected] = run.told(CallRejected)
    assert rejected.error == "no tool is named 'getWeather'; the tools are: look"


def test_a_program_can_find_what_it_hides() -> None:
    with pytest.raises(UsageError, match="expected a tool_search, since look has defer_loading"):
        program(tool(defer_loading=True))
    with pytest.raises(UsageError, match="expected a tool that is there from the start, got 'get"):
        searching(tool_choice=NamedTool("getWeather"))


def test_what_is_hidden_and_what_searches_is_part_of_the_fingerprint() -> None:
    shown = program(tool(), tool("getWeather"), tool("get_time"), FIND)
    other = search_spec("find", "Find tools.", 3)

    prints = {searching().fingerprint, shown.fingerprint, program(tool(), other).fingerprint}
    assert len(prints) == 3
    assert program(tool(max_retries=1)).fingerprint != program(tool()).fingerprint


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("weather", ["getWeather", "forecast"]),
        ("the weather of the day", ["forecast", "getWeather"]),
        ("GET_WEATHER", ["getWeather", "get-time", "forecast"]),
        ("time", ["get-time"]),
        ("a of it", []),
        ("tim", []),
        ("", []),
    ],
)
def test_words_of_names_count_twice(query: str, names: list[str]) -> None:
    """Equals stay in their order, and what shares no word is no match."""
    tools = [
        ToolDefinition("forecast", "Tell the weather of a day", JsonText("{}")),
        ToolDefinition("get-time", "", JsonText("{}")),
        ToolDefinition("getWeather", "Measure it", JsonText("{}")),
    ]

    assert [one.name for one in ranked(query, tools)] == names
