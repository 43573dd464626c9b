"""What a step leaves in the history."""

from typing import Any

from stepfold.loop._record import tool_message
from stepfold.loop._slots import Slot
from stepfold.loop.events import ModelReplied
from stepfold.values import (
    AssistantMessage,
    ChunkGaps,
    DocumentSource,
    ErrorJsonOutput,
    ErrorTextOutput,
    JsonText,
    ModelReply,
    ModelWarning,
    Performance,
    ResponseInfo,
    Text,
    TextOutput,
    ToolCall,
    ToolError,
    ToolMessage,
    ToolResult,
    UrlSource,
    Usage,
)
from tests.loop._scenario import call, json, program, reply_of, started, tool

SIGNED = JsonText('{"acme":{"signature":"x"}}')


def test_sources_are_shown_and_not_sent_back() -> None:
    """A step has them; the history does not, since no provider takes them."""
    page, paper = UrlSource("s1", "https://example.org"), DocumentSource("s2", "text/plain", "T")
    run = started(program())
    run.reply("It is warm.", page, paper)

    assert (page, paper) == run.state.steps[0].sources
    assert AssistantMessage("It is warm.") == run.state.messages[-1]


def test_an_error_of_a_tool_of_the_providers_is_sent_back_as_its_result() -> None:
    """It stands beside its call; a typed error is sent as it is, a text as JSON."""
    asked = ToolCall("p1", "search", "{}", provider_executed=True)
    typed = ToolError("p1", "search", "no", value=JsonText('{"code":7}'), provider_executed=True)
    plain = ToolError("p2", "search", "no", provider_executed=True, provider_options=SIGNED)
    run = started(program())
    run.reply(asked, typed, plain)

    assert (asked, typed, plain) == run.state.steps[0].content
    assert (
        asked,
        ToolResult("p1", "search", ErrorJsonOutput(JsonText('{"code":7}')), provider_executed=True),
        ToolResult(
            "p2",
            "search",
            ErrorJsonOutput(json("no")),
            provider_executed=True,
            provider_options=SIGNED,
        ),
    ) == run.state.messages[-1].content


def test_what_is_known_of_an_error_stays_with_it_in_the_history() -> None:
    """For clients and providers; the model is told its text."""
    known: dict[str, Any] = {
        "value": JsonText('{"code":7}'),
        "dynamic": True,
        "provider_options": SIGNED,
    }
    labels: dict[str, Any] = {"title": "Look", "tool_metadata": json("door")}
    failed = Slot(0, call(), "done", part=ToolError("c1", "look", "no", **known, **labels))

    assert tool_message([failed]) == ToolMessage(
        (ToolResult("c1", "look", ErrorTextOutput("no"), **known, **labels),)
    )

    theirs = ToolError("p1", "search", "no", provider_executed=True, dynamic=True)
    run = started(program())
    run.reply(theirs)
    part = run.state.messages[-1].content[0]

    assert isinstance(part, ToolResult)
    assert part.dynamic


def test_a_repaired_call_is_recorded_as_it_was_run() -> None:
    """The calls beside it as they came, wherever the model put them."""
    run = started(program(tool(), repairs=True))
    run.reply(call(text="{", id="c1"), call(text='{"a":1}', id="c2"))
    run.repair(0, '{"b":2}')
    run.finish(0)
    run.finish(1)

    assert [one.input for one in run.state.steps[0].tool_calls] == ['{"b":2}', '{"a":1}']


def test_content_stands_in_the_order_of_the_model_then_of_the_calls() -> None:
    """What came of the calls follows what the model said."""
    run = started(program(tool()))
    run.reply("a", call(id="c1"), "b", call(id="c2"))
    run.finish(1, "two")
    run.finish(0, "one")

    assert (
        Text("a"),
        call(id="c1"),
        Text("b"),
        call(id="c2"),
        ToolResult("c1", "look", TextOutput("one")),
        ToolResult("c2", "look", TextOutput("two")),
    ) == run.state.steps[0].content


def test_a_step_keeps_what_the_provider_said_about_its_reply() -> None:
    """Warnings, response and metadata are those of the reply."""
    reply = ModelReply(
        (Text("So."),),
        reply_of().finish_reason,
        warnings=(ModelWarning("other", "a"),),
        response=ResponseInfo("r1"),
        provider_metadata=SIGNED,
    )
    run = started(program())
    run.feed(ModelReplied(run.state.phase.key, reply, 10, started=0))  # type: ignore[union-attr]
    step = run.state.steps[0]

    assert (reply.warnings, reply.response, SIGNED) == (
        step.warnings,
        step.response,
        step.provider_metadata,
    )


def test_times_of_a_streamed_reply_are_kept() -> None:
    """First output is counted from the attempt, the response from the step's beginning."""
    gaps = ChunkGaps(1, 2, 2, 2, 2, 2, 2)
    run = started(program(), at=100)
    run.feed(
        ModelReplied(
            run.state.phase.key,  # type: ignore[union-attr]
            reply_of("So.", usage=Usage(3, 4)),
            190,
            started=120,
            first_output=150,
            gaps=gaps,
        )
    )

    assert (
        Performance(
            response_time=90,
            step_time=90,
            input_tokens=3,
            output_tokens=4,
            time_to_first_output=30,
            streaming_time=40,
            chunk_gaps=gaps,
        )
        == run.state.steps[0].performance
    )


def test_times_are_never_negative() -> None:
    """Two clocks may disagree."""
    run = started(program(), at=100)
    run.feed(
        ModelReplied(
            run.state.phase.key,  # type: ignore[union-attr]
            reply_of("So."),
            110,
            started=200,
            first_output=150,
        )
    )
    measured = run.state.steps[0].performance

    assert (measured.time_to_first_output, measured.streaming_time) == (0, 0)
