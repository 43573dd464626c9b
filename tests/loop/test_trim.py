"""A history that is too long loses its beginning, and never half of what belongs together."""

from typing import cast

import pytest

from stepfold.loop import trim_messages
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    Message,
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

OBEY = SystemMessage("Obey.")
ONE, TWO, THREE = UserMessage("One"), UserMessage("Two"), UserMessage("Three")
A, B = ToolCall("a", "look", "{}"), ToolCall("b", "look", "{}")


def said(*parts: AssistantPart) -> AssistantMessage:
    """Let the model have said something."""
    return AssistantMessage(parts or (Text("Fine."),))


def told(*parts: ToolPart) -> ToolMessage:
    """Let the model have been told something."""
    return ToolMessage(parts)


def result(call: ToolCall) -> ToolResult:
    """Give a result."""
    return ToolResult(call.tool_call_id, call.tool_name, TextOutput("done"))


TALK: tuple[Message, ...] = (
    OBEY,
    ONE,
    said(A),
    told(result(A)),
    said(),
    TWO,
    said(B),
    told(result(B)),
)


def test_what_is_within_the_limits_is_kept_whole() -> None:
    """Nothing is lost without need; nothing is empty either."""
    assert trim_messages(TALK, max_messages=8) == TALK
    assert trim_messages([], max_messages=1) == ()
    assert trim_messages([OBEY], max_messages=1) == (OBEY,)


def test_the_longest_end_that_fits_is_kept() -> None:
    """With the instructions, and from a word of a person on if there is one."""
    assert trim_messages(TALK, max_messages=7) == (OBEY, *TALK[5:])
    assert trim_messages(TALK, max_messages=4) == (OBEY, *TALK[5:])
    assert trim_messages(TALK, max_messages=7, keep_instructions=False) == TALK[1:]
    assert trim_messages(TALK, max_messages=6, keep_instructions=False) == TALK[5:]


def test_a_call_is_never_cut_from_its_result() -> None:
    """Even if that exceeds the limit: less would be refused by any provider."""
    assert trim_messages(TALK, max_messages=3) == (OBEY, said(B), told(result(B)))
    assert trim_messages(TALK, max_messages=1) == (OBEY, said(B), told(result(B)))
    late = (said(A), TWO, THREE, told(result(A)))
    assert trim_messages(late, max_messages=1) == late


def test_a_response_is_never_cut_from_its_request() -> None:
    """The call may still have to run."""
    asked = (
        ONE,
        said(A, ApprovalRequest("x", "a")),
        TWO,
        told(ApprovalResponse("x", approved=True)),
    )

    assert trim_messages(asked, max_messages=1) == asked[1:]


def test_answers_to_nobody_stay_with_what_is_before_them() -> None:
    """They need not be repaired to be trimmed."""
    lost = (told(result(A)), ONE, told(ApprovalResponse("x", approved=True), result(B)))

    assert trim_messages(lost, max_messages=1) == lost[1:]
    assert trim_messages(lost[:1], max_messages=1) == lost[:1]
    assert trim_messages(lost[:2], max_messages=2) == lost[:2]
    assert trim_messages((told(), ONE), max_messages=2) == (told(), ONE)


def test_the_first_word_of_a_person_is_kept_if_asked() -> None:
    """It often says what it is all about."""
    assert trim_messages(TALK, max_messages=5, keep_first_user=True) == (OBEY, ONE, *TALK[5:])
    assert trim_messages(TALK, max_messages=4, keep_first_user=True) == (OBEY, ONE, *TALK[6:])
    assert trim_messages(TALK[2:5], max_messages=1, keep_first_user=True) == (said(),)


def test_the_first_word_of_a_person_is_counted_once() -> None:
    """Also where the history is cut before it."""
    talk = (said(), ONE, told(result(A)), TWO)

    assert trim_messages(talk, max_messages=3, keep_first_user=True) == talk[1:]


def test_tokens_are_counted_by_the_caller() -> None:
    """Both limits hold where both are given."""

    def count(message: Message) -> int:
        return 10 if isinstance(message, ToolMessage) else 1

    assert trim_messages(TALK, max_tokens=13, count=count) == (OBEY, *TALK[5:])
    assert trim_messages(TALK, max_tokens=27, count=count) == TALK
    assert trim_messages(TALK, max_tokens=27, max_messages=4, count=count) == (OBEY, *TALK[5:])


def test_what_is_no_message_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^messages\[1\]: expected a message, got int"):
        trim_messages([ONE, cast("Message", 7)], max_messages=1)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "trim_messages: expected max_messages or max_tokens, got neither"),
        ({"max_messages": 0}, "max_messages: expected a number from 1, got 0"),
        ({"max_tokens": -1}, "max_tokens: expected a number from 1, got -1"),
        ({"max_tokens": 9}, "max_tokens: expected count=… too"),
    ],
)
def test_a_limit_that_is_none_is_refused(given: dict[str, int], text: str) -> None:
    """The text says what was expected."""
    with pytest.raises(UsageError, match=text):
        trim_messages(
            TALK, max_messages=given.get("max_messages"), max_tokens=given.get("max_tokens")
        )
