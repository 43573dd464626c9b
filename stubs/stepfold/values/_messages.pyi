from collections.abc import Iterable
from typing import TypeAlias, final
from attrs import field, frozen
from stepfold.values._json import JsonText
from stepfold.values._parts import AssistantPart, ToolPart, UserPart

def _user_parts(content: str | Iterable[UserPart]) -> tuple[UserPart, ...]: ...
def _assistant_parts(content: str | Iterable[AssistantPart]) -> tuple[AssistantPart, ...]: ...
def _tool_parts(content: Iterable[ToolPart]) -> tuple[ToolPart, ...]: ...

@final
@frozen(order=False, cache_hash=True)
class SystemMessage:
    content: str
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False, cache_hash=True)
class UserMessage:
    content: tuple[UserPart, ...] = field(converter=_user_parts)
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False, cache_hash=True)
class AssistantMessage:
    content: tuple[AssistantPart, ...] = field(converter=_assistant_parts)
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False, cache_hash=True)
class ToolMessage:
    content: tuple[ToolPart, ...] = field(converter=_tool_parts)
    provider_options: JsonText | None = field(default=None, kw_only=True)

Message: TypeAlias = SystemMessage | UserMessage | AssistantMessage | ToolMessage
