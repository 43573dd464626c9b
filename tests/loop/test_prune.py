"""What is left out of a history goes as a whole, and nothing that is kept refers to it."""

from collections.abc import Sequence
from typing import cast

import pytest

from stepfold.loop import Pruning, ToolCallPruning, prune_messages
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    FileUrl,
    JsonText,
    Message,
    Reasoning,
    ReasoningFile,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolMessage,
    ToolPart,
    ToolResult,
    UsageError,
    UserMessage,
)

HI = UserMessage("Hi.")
A, B = ToolCall("a", "look", "{}"), ToolCall("b", "send", "{}")
WHY, THEN = Reasoning("Why?"), Reasoning("Then.")
SKETCH = ReasoningFile(FileUrl("https://example.org/sketch"), "image/png")
FINE = Text("Fine.")
REQUEST = ApprovalRequest("x", "b")
RESPONSE = ApprovalResponse("x", approved=True)
OPTIONS = JsonText('{"acme":{"cache":true}}')


def said(*parts: AssistantPart) -> AssistantMessage:
    """Let the model have said something."""
    return AssistantMessage(parts)


def told(*parts: ToolPart) -> ToolMessage:
    """Let the model have been told something."""
    return ToolMessage(parts)


def result(call: ToolCall) -> ToolResult:
    """Give a result."""
    return ToolResult(call.tool_call_id, call.tool_name, TextOutput("done"))


TALK: tuple[Message, ...] = (
    HI,
    said(WHY, A, B, REQUEST),
    told(result(A)),
    told(RESPONSE, result(B)),
    said(THEN, FINE),
)


def test_nothing_is_left_out_unless_it_is_asked_for() -> None:
    """The messages are the same objects, but those that hold nothing are removed."""
    pruned = prune_messages(TALK)

    assert all(new is old for new, old in zip(pruned, TALK, strict=True))
    assert prune_messages((HI, said(), UserMessage(()), SystemMessage(""))) == (HI,)
    assert prune_messages((HI, said()), empty_messages="keep") == (HI, said())


@pytest.mark.parametrize(
    ("reasoning", "thoughts"),
    [("none", [WHY, THEN, SKETCH]), ("before-last-message", [THEN, SKETCH]), ("all", [])],
)
def test_reasoning_is_left_out(reasoning: Pruning, thoughts: list[AssistantPart]) -> None:
    """All of it, or all that the last message does not hold; files too."""
    talk = (HI, AssistantMessage((WHY, FINE), provider_options=OPTIONS), said(THEN, SKETCH, FINE))
    pruned = prune_messages(talk, reasoning=reasoning)

    assert [
        part
        for message in pruned
        for part in message.content
        if isinstance(part, Reasoning | ReasoningFile)
    ] == thoughts
    assert pruned[1].provider_options == OPTIONS
    assert [type(message) for message in pruned] == [type(message) for message in talk]


def test_calls_go_with_all_that_is_theirs() -> None:
    """Results, requests and responses, and the thoughts that led to nothing else."""
    assert prune_messages(TALK, tool_calls="all") == (HI, said(THEN, FINE))


def test_calls_of_some_tools_are_left_out() -> None:
    """The tool of an answer is that of its call, wherever that stands."""
    only_send = [ToolCallPruning(tools=("send",))]

    assert prune_messages(TALK, tool_calls=only_send) == (
        HI,
        said(WHY, A),
        told(result(A)),
        said(THEN, FINE),
    )
    renamed = (said(A), told(ToolResult("a", "other", TextOutput("done"))))
    assert prune_messages(renamed, tool_calls=only_send) == renamed
    assert prune_messages(renamed, tool_calls=[ToolCallPruning(tools=["look"])]) == ()


@pytest.mark.parametrize(
    ("tail", "kept"),
    [
        ((HI,), ()),
        ((told(result(A)),), (said(WHY, A),)),
        ((told(RESPONSE),), (said(WHY, B, REQUEST),)),
        ((said(B, REQUEST),), (said(WHY, B, REQUEST),)),
    ],
)
def test_what_the_last_message_refers_to_is_kept(
    tail: tuple[Message, ...], kept: tuple[Message, ...]
) -> None:
    """A result keeps its call, a response its request and the call."""
    talk = (said(WHY, A, B, REQUEST), *tail)

    assert prune_messages(talk, tool_calls="before-last-message") == (*kept, *tail)


def test_rules_are_applied_one_after_another() -> None:
    """Some tools at once, others later."""
    rules = [ToolCallPruning(tools=("look",)), ToolCallPruning(keep_last=9)]

    assert prune_messages(TALK, tool_calls=rules) == (
        HI,
        said(WHY, B, REQUEST),
        told(RESPONSE, result(B)),
        said(THEN, FINE),
    )


def test_what_is_left_of_answers_keeps_what_is_said_of_them() -> None:
    """And answers of which nothing goes are the same objects."""
    talk = (
        said(A, B),
        ToolMessage((result(A), result(B)), provider_options=OPTIONS),
        said(ToolCall("c", "send", "{}")),
        told(ToolResult("c", "send", TextOutput("done"))),
    )
    pruned = prune_messages(talk, tool_calls=[ToolCallPruning(tools=["look"])])

    assert pruned[1] == ToolMessage((result(B),), provider_options=OPTIONS)
    assert pruned[3] is talk[3]


def test_a_short_history_may_be_kept_whole() -> None:
    """More may be kept than there is."""
    talk = (said(A), said(B))

    assert prune_messages(talk, tool_calls=[ToolCallPruning(9)]) == talk


def test_reasoning_goes_only_if_all_goes_that_it_led_to() -> None:
    """Up to the next reasoning; what led to nothing at all stays."""
    parts = (WHY, A, THEN, SKETCH, B, FINE, WHY)
    only_look = [ToolCallPruning(tools=("look",))]

    assert prune_messages([said(*parts)], tool_calls=only_look) == (
        said(THEN, SKETCH, B, FINE, WHY),
    )
    assert prune_messages([said(*parts)], tool_calls="all") == (said(THEN, SKETCH, FINE, WHY),)
    assert prune_messages([said(SKETCH, A, FINE, WHY)], tool_calls="all") == (
        said(SKETCH, FINE, WHY),
    )
    assert prune_messages([said(SKETCH, A, WHY, FINE)], tool_calls="all") == (said(WHY, FINE),)


def test_an_answer_to_nobody_is_left_out_with_all_calls() -> None:
    """It belongs to a call that is gone already."""
    talk = (told(RESPONSE, result(A)), said(REQUEST), HI)

    assert prune_messages(talk, tool_calls="all") == (HI,)
    assert prune_messages(talk, tool_calls=[ToolCallPruning(tools=("look",))]) == (
        told(RESPONSE),
        said(REQUEST),
        HI,
    )


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"reasoning": "some"}, "reasoning: expected 'none', 'all' or 'before-last-message', got"),
        ({"tool_calls": "some"}, "tool_calls: expected .*, or ToolCallPruning values, got 'some'"),
        ({"empty_messages": "drop"}, "empty_messages: expected 'remove' or 'keep', got 'drop'"),
    ],
)
def test_a_word_that_is_none_is_refused(given: dict[str, Pruning], text: str) -> None:
    """Words of the AI SDK that count messages are values here."""
    with pytest.raises(UsageError, match=text):
        prune_messages(TALK, **given)  # type: ignore[arg-type]


def test_what_is_no_message_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^messages\[1\]: expected a message, got int"):
        prune_messages([HI, cast("Message", 7)])


def test_a_rule_that_is_none_is_refused() -> None:
    """A name alone would be read letter by letter."""
    with pytest.raises(UsageError, match="keep_last: expected a number from 0, got -1"):
        ToolCallPruning(-1)
    with pytest.raises(
        UsageError, match="tools: expected a sequence of tools or names, got 'look'"
    ):
        ToolCallPruning(tools=cast("Sequence[str]", "look"))
