"""What a caller gives as a prompt, made into messages, or refused in words that help."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from typing_extensions import TypeIs

from stepfold.values import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UsageError,
    UserMessage,
)

# By the roles of other libraries and of providers.
_WRITTEN: Final = {
    "user": "UserMessage(…), whose content is text or parts",
    "assistant": "AssistantMessage(…), whose content is text or parts, calls among them",
    "tool": "ToolMessage([ToolResult(…)])",
    "function": "ToolMessage([ToolResult(…)])",
}
_INSTRUCTIONS: Final = frozenset({"system", "developer"})


def standardise_prompt(prompt: str | Sequence[Message]) -> tuple[Message, ...]:
    """Make messages of a prompt: text is what a person says; a sequence is read once.

    Raises:
        UsageError: it is empty, or holds what is no message; the text says what to write instead.
    """
    if isinstance(prompt, str):
        if not prompt:
            msg = "prompt: expected text or messages, got an empty string"
            raise UsageError(msg)
        return (UserMessage(prompt),)
    messages = require_messages("prompt", prompt)
    if not messages:
        msg = "prompt: expected at least one message, got none"
        raise UsageError(msg)
    return messages


def require_messages(argument: str, given: object) -> tuple[Message, ...]:
    """Read a sequence once, and refuse it unless it is one of messages.

    Raises:
        UsageError: it is none; the text names the argument and the place.
    """
    if not _is_sequence(given):
        shown = _shown(given)
        expected = "text or a sequence of messages" if argument == "prompt" else "messages"
        msg = f"{argument}: expected {expected}, got {shown}{_advice_on_all(given)}"
        raise UsageError(msg)
    messages: list[Message] = []
    for index, message in enumerate(given):
        if not _is_message(message):
            msg = (
                f"{argument}[{index}]: expected a message, got {type(message).__name__}"
                f"{_advice_on(message)}"
            )
            raise UsageError(msg)
        messages.append(message)
    return tuple(messages)


def _is_sequence(given: object) -> TypeIs[Iterable[object]]:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)


def _is_mapping(given: object) -> TypeIs[Mapping[object, object]]:
    return isinstance(given, Mapping)


def _is_message(given: object) -> TypeIs[Message]:
    return isinstance(given, SystemMessage | UserMessage | AssistantMessage | ToolMessage)


def _shown(given: object) -> str:
    return type(given).__name__ if _is_message(given) else f"{given!r:.200}"


def _advice_on_all(given: object) -> str:
    if _is_message(given):
        return ": put it into a list"
    return _advice_on(given)


def _advice_on(given: object) -> str:
    """How to write what was meant, as far as that can be seen."""
    if isinstance(given, str):
        return ": say whose words these are, such as UserMessage('…')"
    if not _is_mapping(given):
        return ""
    role = given.get("role")
    if isinstance(role, str) and role in _INSTRUCTIONS:
        return f" of role {role!r}: put its text into `instructions`"
    if isinstance(role, str) and role in _WRITTEN:
        return f" of role {role!r}: write {_WRITTEN[role]}"
    if "type" in given:
        return ": read what was stored by stepfold.codec.from_json"
    return ""
