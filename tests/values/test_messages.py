"""Messages are values, whatever they are made from."""

from collections.abc import Callable
from typing import Any

import pytest

from stepfold.values import (
    AssistantMessage,
    SystemMessage,
    Text,
    TextOutput,
    ToolMessage,
    ToolResult,
    UsageError,
    UserMessage,
)


def test_a_string_becomes_one_text_part() -> None:
    """People write strings; the loop reads parts."""
    assert (Text("Hi."),) == UserMessage("Hi.").content
    assert (Text("Hello."),) == AssistantMessage("Hello.").content


def test_any_iterable_of_parts_becomes_a_tuple() -> None:
    """Nothing mutable is reachable from a message."""
    parts = [Text("a"), Text("b")]
    user, assistant = UserMessage(parts), AssistantMessage(parts)
    result = ToolResult("c1", "look", TextOutput("warm"))
    tool = ToolMessage([result])
    parts.append(Text("c"))

    assert (Text("a"), Text("b")) == user.content
    assert (Text("a"), Text("b")) == assistant.content
    assert (result,) == tool.content


@pytest.mark.parametrize("message", [UserMessage, AssistantMessage, ToolMessage])
def test_what_holds_no_parts_is_refused(message: Callable[[Any], object]) -> None:
    """The text says what came, and not only that it cannot be iterated."""
    with pytest.raises(UsageError, match="content: expected a sequence of parts, got 3"):
        message(3)


def test_a_tuple_of_parts_is_shared() -> None:
    """Histories are long: nothing is copied that cannot change."""
    parts = (Text("a"),)

    assert parts is UserMessage(parts).content
    assert parts is AssistantMessage(parts).content


def test_messages_are_equal_by_value_and_by_kind() -> None:
    """The same words of another speaker are another message."""
    assert UserMessage("a") == UserMessage((Text("a"),))
    assert hash(UserMessage("a")) == hash(UserMessage((Text("a"),)))
    assert UserMessage("a") not in {AssistantMessage("a"), UserMessage("b")}
    assert SystemMessage("a") != SystemMessage("b")
