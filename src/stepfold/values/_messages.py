"""Messages: what a conversation is made of.

A message caches its hash, since histories are compared and used as keys of caches; nothing
mutable is reachable from one.
"""

from collections.abc import Iterable
from typing import TypeAlias, TypeVar, cast, final

from attrs import field, frozen

from stepfold.values._errors import UsageError
from stepfold.values._json import JsonText
from stepfold.values._parts import AssistantPart, Text, ToolPart, UserPart

P = TypeVar("P")


def _parts(content: str | Iterable[P]) -> tuple[P | Text, ...]:
    return (Text(content),) if isinstance(content, str) else _listed(content)


def _listed(content: Iterable[P]) -> tuple[P, ...]:
    if not isinstance(cast("object", content), Iterable):
        raise UsageError(f"content: expected a sequence of parts, got {content!r:.200}")
    return tuple(content)


def _user_parts(content: str | Iterable[UserPart]) -> tuple[UserPart, ...]:
    return content if isinstance(content, tuple) else _parts(content)


def _assistant_parts(content: str | Iterable[AssistantPart]) -> tuple[AssistantPart, ...]:
    return content if isinstance(content, tuple) else _parts(content)


def _tool_parts(content: Iterable[ToolPart]) -> tuple[ToolPart, ...]:
    return _listed(content)


@final
@frozen(order=False, cache_hash=True)
class SystemMessage:
    """What the program tells the model; refused in a history that a user supplies."""

    content: str
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False, cache_hash=True)
class UserMessage:
    """What a person says; a plain string becomes one text part."""

    content: tuple[UserPart, ...] = field(converter=_user_parts)
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False, cache_hash=True)
class AssistantMessage:
    """What the model said and asked for; a plain string becomes one text part."""

    content: tuple[AssistantPart, ...] = field(converter=_assistant_parts)
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False, cache_hash=True)
class ToolMessage:
    """The answers to calls, in the order of the calls, and to requests for approval."""

    content: tuple[ToolPart, ...] = field(converter=_tool_parts)
    provider_options: JsonText | None = field(default=None, kw_only=True)


Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage
"""One message of a conversation."""
