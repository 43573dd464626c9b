"""What a model was told, and what came of calls: for the tests beside this file."""

from collections import Counter
from collections.abc import Iterable

import stepfold as sf


def answers_in(messages: Iterable[sf.Message]) -> Counter[str]:
    """How many answers each call has."""
    return Counter(
        part.tool_call_id
        for message in messages
        if isinstance(message, sf.ToolMessage)
        for part in message.content
        if isinstance(part, sf.ToolResult)
    )


def calls_in(messages: Iterable[sf.Message]) -> tuple[str, ...]:
    """The calls that a client has to answer, in order."""
    return tuple(
        part.tool_call_id
        for message in messages
        if isinstance(message, sf.AssistantMessage)
        for part in message.content
        if isinstance(part, sf.ToolCall) and not part.provider_executed
    )


def assert_paired(messages: Iterable[sf.Message]) -> None:
    """Each client call has exactly one answer."""
    told = tuple(messages)
    assert answers_in(told) == Counter(calls_in(told))


def told_of(messages: Iterable[sf.Message], call_id: str) -> sf.ToolOutput:
    """What the model is told of a call."""
    (found,) = (
        part.output
        for message in messages
        if isinstance(message, sf.ToolMessage)
        for part in message.content
        if isinstance(part, sf.ToolResult) and part.tool_call_id == call_id
    )
    return found
