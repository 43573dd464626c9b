from collections.abc import Mapping, Sequence
from typing import final
from attrs import field, frozen
from stepfold.values import CallSettings, JsonText, Message, ToolChoice

def _active_tools(given: Sequence[str] | None) -> tuple[str, ...] | None: ...
def _tool_order(given: Sequence[str] | None) -> tuple[str, ...] | None: ...
def _descriptions(
    given: Mapping[str, str] | Sequence[tuple[str, str]],
) -> tuple[tuple[str, str], ...]: ...
def _messages(given: Sequence[Message] | None) -> tuple[Message, ...] | None: ...
def _options(given: JsonText | Mapping[str, object] | None) -> JsonText | None: ...
def _context(given: JsonText | Mapping[str, object] | None) -> JsonText | None: ...

@final
@frozen(order=False, kw_only=True)
class StepPlan:
    model: str | None = None
    tool_choice: ToolChoice | None = None
    active_tools: tuple[str, ...] | None = field(default=None, converter=_active_tools)
    instructions: str | None = None
    messages: tuple[Message, ...] | None = field(default=None, converter=_messages)
    tool_order: tuple[str, ...] | None = field(default=None, converter=_tool_order)
    descriptions: tuple[tuple[str, str], ...] = field(default=(), converter=_descriptions)
    settings: CallSettings | None = None
    provider_options: JsonText | None = field(default=None, converter=_options)
    runtime_context: JsonText | None = field(default=None, converter=_context)

    def __attrs_post_init__(self) -> None: ...
