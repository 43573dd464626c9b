"""`StepPlan`: what a prepare function wants of one step.

A plan comes from code that no type checker may have seen, and goes into the state. So it looks at
what it is given: a plan that exists has the types that it says, down to what the loop reads of
its messages, and `step` need not doubt it.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, final, get_args

from attrs import field, frozen
from typing_extensions import TypeIs

from stepfold.values import (
    AssistantMessage,
    AssistantPart,
    CallSettings,
    Failure,
    JsonBounds,
    JsonText,
    Message,
    NamedTool,
    Success,
    SystemMessage,
    ToolChoice,
    ToolMessage,
    ToolPart,
    UsageError,
    UserMessage,
    UserPart,
    parse_json,
)

_PARTS: Final[Mapping[type, tuple[type, ...]]] = MappingProxyType(
    {
        UserMessage: get_args(UserPart),
        AssistantMessage: get_args(AssistantPart),
        ToolMessage: get_args(ToolPart),
    }
)

_MAPPING: type = Mapping
_NO_SEQUENCE: tuple[type, ...] = (str, bytes, Mapping)


def _refused(name: str, expected: str, given: object) -> UsageError:
    return UsageError(f"StepPlan.{name}: expected {expected}, got {given!r:.200}")


def _items(name: str, expected: str, given: object) -> tuple[object, ...]:
    if isinstance(given, _NO_SEQUENCE) or not _is_iterable(given):
        raise _refused(name, expected, given)
    return tuple(given)


def _is_iterable(given: object) -> TypeIs[Iterable[object]]:
    return isinstance(given, Iterable)


def _active_tools(given: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if given is None else _names("active_tools", given)


def _tool_order(given: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if given is None else _names("tool_order", given)


def _names(field_name: str, given: object) -> tuple[str, ...]:
    names: list[str] = []
    for index, name in enumerate(_items(field_name, "names of tools", given)):
        if not isinstance(name, str):
            raise _refused(f"{field_name}[{index}]", "the name of a tool", name)
        names.append(name)
    return tuple(names)


def _descriptions(
    given: Mapping[str, str] | Sequence[tuple[str, str]],
) -> tuple[tuple[str, str], ...]:
    items = given.items() if isinstance(given, Mapping) else given
    pairs: dict[str, str] = {}
    for pair in _items("descriptions", "a mapping from tools to texts", items):
        match pair:
            case (str(name), str(text)):
                pairs[name] = text
            case _:
                raise _refused("descriptions", "a mapping from tools to texts", given)
    return tuple(sorted(pairs.items()))


def _messages(given: Sequence[Message] | None) -> tuple[Message, ...] | None:
    if given is None:
        return None
    messages: list[Message] = []
    for index, message in enumerate(_items("messages", "a sequence of messages", given)):
        if not _is_message(message):
            raise _refused(f"messages[{index}]", "a message", message)
        messages.append(message)
    return tuple(messages)


def _options(given: JsonText | Mapping[str, object] | None) -> JsonText | None:
    return _document("provider_options", given)


def _context(given: JsonText | Mapping[str, object] | None) -> JsonText | None:
    return _document("runtime_context", given)


def _document(name: str, given: object) -> JsonText | None:
    if given is None or isinstance(given, JsonText):
        return given
    if not isinstance(given, _MAPPING):
        raise _refused(name, "a mapping", given)
    try:
        return JsonText.of(given)
    except (TypeError, ValueError) as error:
        msg = f"StepPlan.{name}: expected what has a JSON form, got {error}"
        raise UsageError(msg) from error


def _is_message(given: object) -> TypeIs[Message]:
    """Whether this is a message whose parts may stand in it, and can be told by their ids."""
    content: object = getattr(given, "content", None)
    if isinstance(given, SystemMessage):
        return isinstance(content, str)
    parts = _PARTS.get(type(given))
    if parts is None or not _is_iterable(content):
        return False
    return all(isinstance(part, parts) and _has_text_as_id(part) for part in content)


def _has_text_as_id(part: object) -> bool:
    call_id: object = getattr(part, "tool_call_id", "")
    return isinstance(call_id, str)


def object_fault(document: JsonText, bounds: JsonBounds) -> str | None:
    """Say why a document is no JSON object within the bounds; `None` if it is one."""
    match parse_json(document.text, bounds):
        case Failure(fault):
            return f"expected a JSON object, got what is no acceptable JSON: {fault.message}"
        case Success(value):
            if isinstance(value, dict):
                return None
            return f"expected a JSON object, got {document.text!r:.100}"


@final
@frozen(order=False, kw_only=True)
class StepPlan:
    """What a prepare function wants of one step; `None` leaves things as they are.

    `instructions`, `messages` and `runtime_context` carry forward to later steps; `messages`
    replaces the base of the prompt, never the history. The rest holds for this step only.
    `provider_options` are merged into the program's, object by object; of `settings` those that
    are `None` (and no stop sequences) leave the program's as they are. A model or a tool that the
    program does not know fails the run, and so does the choice of a tool that is not active.
    `tool_order` lists the tools that the model is told of first; `descriptions`, by name, are what
    it is told of tools in place of their own (a mapping, kept as pairs sorted by name). Those that
    tools compute are put here too, so that the journal has them.

    Raises:
        UsageError: something is not of its type, or has no JSON form; the text names it.
    """

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

    def __attrs_post_init__(self) -> None:
        _require_text("model", self.model)
        _require_text("instructions", self.instructions)
        _require_choice(self.tool_choice)
        _require_settings(self.settings)


def _require_text(name: str, given: object) -> None:
    if given is not None and not isinstance(given, str):
        raise _refused(name, "text", given)


def _require_choice(given: object) -> None:
    match given:
        case None | "auto" | "none" | "required" | NamedTool(str()):
            pass
        case _:
            raise _refused("tool_choice", "'auto', 'none', 'required' or a NamedTool", given)


def _require_settings(given: object) -> None:
    if given is not None and not isinstance(given, CallSettings):
        raise _refused("settings", "CallSettings", given)
