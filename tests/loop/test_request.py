"""The model request that a state stands for."""

import pytest
from attrs import evolve

from stepfold.loop import OutputSpec, Working, offered_tools, request_of
from stepfold.values import (
    CallSettings,
    JsonFormat,
    JsonText,
    ModelRequest,
    Success,
    Text,
    ToolCall,
    UsageError,
    UserMessage,
)
from tests.loop._scenario import call, calls, program, started, tool


def numbers(text: str) -> Success[JsonText]:
    """Accept any text."""
    return Success(JsonText(text))


def test_a_request_is_made_of_the_program_and_the_history() -> None:
    """Commands carry no history; this is where it comes from."""
    made = program(
        tool(),
        instructions="Be brief.",
        settings=CallSettings(temperature=0.5),
        headers=(("x-team", "weather"),),
        output=OutputSpec("number", numbers, JsonFormat(JsonText('{"type":"number"}'))),
    )
    run = started(made, "How warm?")

    assert ModelRequest(
        messages=(UserMessage("How warm?"),),
        instructions="Be brief.",
        tools=(tool().definition,),
        response_format=JsonFormat(JsonText('{"type":"number"}')),
        settings=CallSettings(temperature=0.5),
        headers=(("x-team", "weather"),),
        key="r/0/0",
    ) == request_of(made, run.state)


def test_a_request_shares_the_messages_of_the_state() -> None:
    """Building one costs the same at the thousandth step."""
    run = started(program(tool()))
    run.reply(call())
    run.finish()

    assert run.state.messages is request_of(run.program, run.state).messages


def test_each_attempt_has_a_key_of_its_own() -> None:
    """Providers that know idempotency keys would answer a retry from their cache."""
    run = started(program())
    run.fail()
    run.wait()

    assert request_of(run.program, run.state).key == "r/0/1"


def test_there_is_no_request_where_no_model_is_called() -> None:
    """The text says where the run is instead."""
    run = started(program())
    run.reply("Done.")
    with pytest.raises(
        UsageError,
        match="request_of: expected a state in which a model call is in flight, got Done",
    ):
        request_of(run.program, run.state)


def test_a_call_from_the_history_may_be_of_any_tool() -> None:
    run = started(evolve(program(tool("look"), tool("hidden")), active_tools=("look",)))

    assert list(offered_tools(run.program, run.state)) == ["look", "hidden"]


def test_words_beside_a_call_stay_as_they_are_when_it_is_labelled() -> None:
    run = started(program(evolve(tool("look"), title="Look")))
    run.reply("Let me see.", *calls("look"))

    assert isinstance(run.state.phase, Working)
    assert run.state.phase.replied is not None
    words, look = run.state.phase.replied.reply.content
    assert words == Text("Let me see.")
    assert isinstance(look, ToolCall)
    assert look.title == "Look"
