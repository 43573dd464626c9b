"""Messages as input items, one fragment of JSON per message.

An item that this protocol gave is written as it came. Ids are left out of a message whose
reasoning cannot be sent: a server that knows an id asks for the reasoning that belongs to it.
"""

from base64 import b64encode
from collections.abc import Mapping

from stepfold.providers._json import is_array, is_object, object_of
from stepfold.providers._prompts import DENIED
from stepfold.providers._wire import Fragment, FragmentMemo, id_within, options_of, to_wire
from stepfold.providers.responses._files import part_of_file
from stepfold.providers.responses._options import ResponsesDialect
from stepfold.values import (
    ApprovalResponse,
    AssistantMessage,
    ContentOutput,
    Custom,
    DeniedOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    File,
    FileBytes,
    JsonObject,
    JsonOutput,
    JsonText,
    JsonValue,
    Message,
    ModelWarning,
    Reasoning,
    ReasoningFile,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
    parse_json,
    succeeded,
)

_LONGEST_ID = 64
_Item = dict[str, object]


def fragment_of_message(
    message: Message, dialect: ResponsesDialect, kinds: Mapping[str, str] | None = None
) -> Fragment:
    """One message as items, joined by commas.

    `kinds` says of calls that are no functions what type their items have.
    """
    warnings: list[ModelWarning] = []
    items: list[_Item] = []
    match message:
        case SystemMessage(content):
            items = [{"role": dialect.system_role, "content": content}]
        case UserMessage():
            items = [_user(message, dialect, warnings)]
        case AssistantMessage():
            items = _Said(message, dialect, warnings).items
        case ToolMessage():
            items = _answers(message, dialect, kinds or {}, warnings)
    return Fragment(b",".join(map(to_wire, items)), tuple(warnings))


def _remembered(message: Message, dialect: ResponsesDialect) -> Fragment:
    return fragment_of_message(message, dialect)


message_fragments: FragmentMemo[Message, ResponsesDialect] = FragmentMemo(_remembered)
"""`fragment_of_message`, remembered for as long as the message lives."""


def kinds_of_calls(messages: tuple[Message, ...], provider: str) -> dict[str, str]:
    """The calls that are no functions, and the types of their items."""
    kinds: dict[str, str] = {}
    for message in messages:
        if not isinstance(message, AssistantMessage):
            continue
        for part in message.content:
            if isinstance(part, ToolCall) and part.provider_options is not None:
                kind = _item_of(part.provider_options, provider).get("type")
                if isinstance(kind, str) and kind != "function_call":
                    kinds[part.tool_call_id] = kind
    return kinds


def _item_of(options: JsonText | None, provider: str) -> Mapping[str, JsonValue]:
    """The members of an item that are not in its part; empty if the part came from elsewhere."""
    item = options_of(options, provider).get("item")
    return item if isinstance(item, JsonObject) else {}


def _user(message: UserMessage, dialect: ResponsesDialect, warnings: list[ModelWarning]) -> _Item:
    if len(message.content) == 1 and isinstance(message.content[0], Text):
        return {"role": "user", "content": message.content[0].text}
    parts = [_content_part(part, dialect, warnings) for part in message.content]
    return {"role": "user", "content": [part for part in parts if part is not None]}


def _content_part(
    part: Text | File, dialect: ResponsesDialect, warnings: list[ModelWarning]
) -> _Item | None:
    if isinstance(part, File):
        return part_of_file(part, dialect.provider, warnings)
    return {"type": "input_text", "text": part.text}


# --- what the model said ----------------------------------------------------------------------


class _Said:
    """The items of one assistant message."""

    def __init__(
        self, message: AssistantMessage, dialect: ResponsesDialect, warnings: list[ModelWarning]
    ) -> None:
        self._provider = dialect.provider
        self._dialect = dialect
        self._warnings = warnings
        self._content = message.content
        self._results = {
            part.tool_call_id: part for part in self._content if isinstance(part, ToolResult)
        }
        self._calls = {part.tool_call_id for part in self._content if isinstance(part, ToolCall)}
        self.items: list[_Item] = []
        self._open: tuple[str, object, list[_Item]] | None = None
        sent = [self._is_sent(part) for part in self._content if isinstance(part, Reasoning)]
        self._has_ids = all(sent)
        if not self._has_ids:
            self._warn(
                "Reasoning without encrypted content",
                "it was left out of the prompt: the server does not keep it",
            )
        for part in self._content:
            self._add(part)

    def _warn(self, subject: str, message: str) -> None:
        warning = ModelWarning("unsupported", subject, message)
        if warning not in self._warnings:
            self._warnings.append(warning)

    def _is_sent(self, part: Reasoning) -> bool:
        options = options_of(part.provider_options, self._provider)
        if "encrypted_content" in options or options.get("reasoning_text") is True:
            return True
        item_id = options.get("item_id")
        if item_id is None:
            return False
        return self._dialect.stores or any(
            isinstance(other, Reasoning) and self._seals(other, item_id) for other in self._content
        )

    def _seals(self, part: Reasoning, item_id: JsonValue) -> bool:
        options = options_of(part.provider_options, self._provider)
        return options.get("item_id") == item_id and (
            "encrypted_content" in options or options.get("reasoning_text") is True
        )

    def _id(self, item_id: object) -> _Item:
        fits = isinstance(item_id, str) and 0 < len(item_id) <= _LONGEST_ID
        return {"id": item_id} if fits and self._has_ids else {}

    def _add(self, part: object) -> None:
        match part:
            case Text():
                self._say(part)
            case Reasoning():
                if self._is_sent(part):
                    self._think(part)
            case ToolCall():
                self._call(part)
            case ToolResult():
                self._result(part)
            case Custom():
                item = _item_of(part.provider_options, self._provider)
                if item:
                    self._put(dict(item))
                else:
                    self._warn(f"Custom part {part.kind}", "it was left out of the prompt")
            case File():
                if not self._is_of_call(part):
                    self._warn("File in an assistant message", "it was left out of the prompt")
            case ReasoningFile():
                self._warn("ReasoningFile", "it was left out of the prompt")
            case _:
                pass

    def _put(self, item: _Item) -> None:
        self._open = None
        self.items.append(item)

    def _say(self, part: Text) -> None:
        options = options_of(part.provider_options, self._provider)
        item_id = options.get("item_id")
        if options.get("refusal") is True:
            piece: _Item = {"type": "refusal", "refusal": part.text}
        else:
            piece = {"type": "output_text", "text": part.text, "annotations": []}
        if self._open is not None and self._open[:2] == ("message", item_id):
            self._open[2].append(piece)
            return
        own = self._id(item_id)
        content: list[_Item] = [piece]
        item: _Item = {"type": "message", "role": "assistant", "content": content}
        if own:
            item |= {**own, "status": "completed"}
        if "phase" in options:
            item["phase"] = options["phase"]
        self._put(item)
        self._open = ("message", item_id, content)

    def _think(self, part: Reasoning) -> None:
        options = options_of(part.provider_options, self._provider)
        item_id = options.get("item_id")
        if self._open is not None and self._open[:2] == ("reasoning", item_id):
            item = self.items[-1]
            texts = self._open[2]
        else:
            texts = []
            item = {"type": "reasoning", **self._id(item_id)}
            self._put(item)
            self._open = ("reasoning", item_id, texts)
        if part.text:
            kind = "reasoning_text" if options.get("reasoning_text") is True else "summary_text"
            texts.append({"type": kind, "text": part.text})
        item["summary"] = [text for text in texts if text["type"] == "summary_text"]
        content = [text for text in texts if text["type"] == "reasoning_text"]
        if content:
            item["content"] = content
        if "encrypted_content" in options:
            item["encrypted_content"] = options["encrypted_content"]

    def _call(self, call: ToolCall) -> None:
        rest = dict(_item_of(call.provider_options, self._provider))
        kind = rest.get("type")
        if not isinstance(kind, str):
            if call.provider_executed:
                self._warn(f"call of {call.tool_name}", "another provider ran it: it was left out")
                return
            kind = "function_call"
        item: _Item = {"type": kind, **rest}
        item.pop("id", None)
        item |= self._id(rest.get("id"))
        if "call_id" not in item and not kind.startswith("mcp_") and _has_call_id(kind):
            item["call_id"] = id_within(_LONGEST_ID, call.tool_call_id)
        item |= _inputs(kind, call)
        result = self._results.get(call.tool_call_id)
        if result is not None and not _item_of(result.provider_options, self._provider):
            item |= _members(result)
        if kind == "image_generation_call":
            item |= self._image(rest.get("id"))
        self._put(item)

    def _result(self, result: ToolResult) -> None:
        rest = _item_of(result.provider_options, self._provider)
        if rest:
            item: _Item = {**rest, **_members(result)}
            item.pop("id", None)
            item |= self._id(rest.get("id"))
            item.setdefault("call_id", id_within(_LONGEST_ID, result.tool_call_id))
            self._put(item)
        elif result.tool_call_id not in self._calls:
            self._warn(f"result of {result.tool_name}", "it answers no call of its message")

    def _is_of_call(self, file: File) -> bool:
        item_id = options_of(file.provider_options, self._provider).get("item_id")
        return any(
            _item_of(part.provider_options, self._provider).get("id", file) == item_id
            for part in self._content
            if isinstance(part, ToolCall)
        )

    def _image(self, item_id: object) -> _Item:
        for part in self._content:
            if isinstance(part, File) and isinstance(part.data, FileBytes):
                options = options_of(part.provider_options, self._provider)
                if "item_id" in options and options["item_id"] == item_id:
                    return {"result": b64encode(part.data.data).decode()}
        return {}


def _has_call_id(kind: str) -> bool:
    return kind in {
        *("function_call", "custom_tool_call", "computer_call", "apply_patch_call"),
        *("local_shell_call", "shell_call", "tool_search_call"),
    }


def _inputs(kind: str, call: ToolCall) -> _Item:
    """The input of a call as its item has it.

    The arguments of a function are the model's own text as long as it is a JSON object; `{}`
    stands for any other text, which servers refuse.
    """
    parsed = parse_json(call.input)
    document: object = parsed.unwrap() if succeeded(parsed) else None
    given = object_of(document)
    if kind == "function_call":
        text = call.input if is_object(document) else "{}"
        return {"name": call.tool_name, "arguments": text}
    if kind == "custom_tool_call":
        said: object = call.input if call.provider_executed else given.get("input", "")
        return {"name": call.tool_name, "input": said}
    if kind.startswith("mcp_"):
        return {"arguments": call.input}
    if kind == "tool_search_call":
        return {"arguments": given}
    return given


def _members(result: ToolResult) -> _Item:
    match result.output:
        case JsonOutput(value) | ErrorJsonOutput(value):
            document = value.value
            return dict(document) if isinstance(document, JsonObject) else {}
        case _:
            return {}


# --- what calls came to -----------------------------------------------------------------------


def _answers(
    message: ToolMessage,
    dialect: ResponsesDialect,
    kinds: Mapping[str, str],
    warnings: list[ModelWarning],
) -> list[_Item]:
    items: list[_Item] = []
    for part in message.content:
        if isinstance(part, ApprovalResponse):
            item: _Item = {
                "type": "mcp_approval_response",
                "approval_request_id": part.approval_id,
                "approve": part.approved,
            }
            items.append({**item, "reason": part.reason} if part.reason else item)
        elif not part.provider_executed:
            kind = kinds.get(part.tool_call_id, "function_call")
            items.append(_answer(part, kind, _told(part, dialect, warnings)))
    return items


def _answer(result: ToolResult, kind: str, told: str | list[_Item]) -> _Item:
    call_id = id_within(_LONGEST_ID, result.tool_call_id)
    if kind in {"function_call", "custom_tool_call"}:
        return {"type": f"{kind}_output", "call_id": call_id, "output": told}
    # A tool of another kind answers with the members of its item, or with its output alone.
    members = {name: value for name, value in _members(result).items() if value is not None}
    if members.keys().isdisjoint({"output", "status", "tools"}):
        members = _output_alone(kind, members or told)
    name = "id" if kind == "local_shell_call" else "call_id"
    written = "tool_search_output" if kind == "tool_search_call" else f"{kind}_output"
    return {"type": written, name: call_id, **members}


def _output_alone(kind: str, told: object) -> _Item:
    """What a tool of a kind answers with that gave no members of its item, but text or files."""
    if kind == "shell_call":
        outcome = {"type": "exit", "exit_code": 1}
        return {"output": [{"stdout": "", "stderr": told, "outcome": outcome}]}
    if kind == "apply_patch_call":
        return {"status": "failed", "output": told}
    if kind == "computer_call" and is_array(told):
        for piece in map(object_of, told):
            if piece.get("type") == "input_image":
                return {"output": {**piece, "type": "computer_screenshot"}}
    return {"output": told}


def _told(
    result: ToolResult, dialect: ResponsesDialect, warnings: list[ModelWarning]
) -> str | list[_Item]:
    match result.output:
        case TextOutput(text) | ErrorTextOutput(text):
            return text
        case JsonOutput(document) | ErrorJsonOutput(document):
            return document.text
        case DeniedOutput(reason):
            return reason or DENIED
        case ContentOutput(parts):
            told: list[_Item] = []
            for part in parts:
                if isinstance(part, Custom):
                    subject = "Custom in a tool result"
                    warnings.append(ModelWarning("unsupported", subject, "it was left out"))
                    continue
                value = _content_part(part, dialect, warnings)
                if value is not None:
                    told.append(value)
            return told or ""
