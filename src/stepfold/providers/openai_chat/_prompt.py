"""Messages as chat completions write them, one fragment of JSON per message.

The arguments of a call are the model's own text, byte for byte, as long as it is a JSON object:
a server may reuse its cache of them. `{}` stands for any other text, which servers refuse.
"""

from collections.abc import Mapping

from stepfold.providers._prompts import DENIED
from stepfold.providers._wire import (
    Fragment,
    FragmentMemo,
    id_of_length,
    id_within,
    options_of,
    to_wire,
)
from stepfold.providers.openai_chat._files import part_of_file
from stepfold.providers.openai_chat._options import ChatDialect
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    ContentOutput,
    Custom,
    DeniedOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    File,
    JsonOutput,
    JsonValue,
    Message,
    ModelWarning,
    Reasoning,
    ReasoningFile,
    Success,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
    parse_json,
)


def fragment_of_message(message: Message, dialect: ChatDialect) -> Fragment:
    """One message; a tool message becomes several objects, a message without content none."""
    warnings: list[ModelWarning] = []
    objects: list[dict[str, object]] = []
    match message:
        case SystemMessage(content):
            objects = [{"role": dialect.system_role, "content": content}]
        case UserMessage():
            objects = [_user(message, dialect, warnings)]
        case AssistantMessage():
            objects = [_assistant(message, dialect, warnings)]
        case ToolMessage():
            objects = _results(message, dialect, warnings)
    extra = options_of(message.provider_options, dialect.provider)
    data = b",".join(to_wire({**value, **extra} if extra else value) for value in objects)
    return Fragment(data, tuple(warnings))


message_fragments: FragmentMemo[Message, ChatDialect] = FragmentMemo(fragment_of_message)
"""`fragment_of_message`, remembered for as long as the message lives."""


def _user(
    message: UserMessage, dialect: ChatDialect, warnings: list[ModelWarning]
) -> dict[str, object]:
    match message.content:
        case (Text(text, provider_options=None),):
            return {"role": "user", "content": text}
        case content:
            parts = [_content_part(part, dialect, warnings) for part in content]
            return {"role": "user", "content": [part for part in parts if part is not None]}


def _content_part(
    part: Text | File, dialect: ChatDialect, warnings: list[ModelWarning]
) -> dict[str, object] | None:
    if isinstance(part, File):
        return part_of_file(part, dialect, warnings)
    return _text(part.text, options_of(part.provider_options, dialect.provider))


def _assistant(
    message: AssistantMessage, dialect: ChatDialect, warnings: list[ModelWarning]
) -> dict[str, object]:
    texts: list[tuple[str, Mapping[str, JsonValue]]] = []
    refusal = ""
    reasoning = ""
    calls: list[dict[str, object]] = []
    for part in message.content:
        match part:
            case Text(text):
                options = options_of(part.provider_options, dialect.provider)
                if options.get("refusal") is True:
                    refusal += text
                else:
                    texts.append((text, options))
            case Reasoning(text):
                reasoning += text
            case ToolCall():
                # A call that the provider answered itself has no place in this protocol.
                if not part.provider_executed:
                    calls.append(_call(part, dialect))
            case File() | ReasoningFile() | Custom():
                subject = f"{type(part).__name__} in an assistant message"
                warnings.append(
                    ModelWarning("unsupported", subject, "it was left out of the prompt")
                )
            case ToolResult() | ApprovalRequest():
                pass
    value: dict[str, object] = {"role": "assistant", "content": _said(texts)}
    if reasoning and dialect.reasoning_form == "field":
        value["reasoning_content"] = reasoning
    elif reasoning and dialect.reasoning_form == "part":
        thought = {"type": "thinking", "thinking": [_text(reasoning, {})]}
        value["content"] = [thought, *(_text(text, options) for text, options in texts)]
    if refusal:
        value["refusal"] = refusal
    if calls:
        value["tool_calls"] = calls
    if not value["content"] and (calls or refusal):
        value["content"] = None
    return value


def _said(texts: list[tuple[str, Mapping[str, JsonValue]]]) -> str | list[dict[str, object]]:
    if any(options for _, options in texts):
        return [_text(text, options) for text, options in texts]
    return "".join(text for text, _ in texts)


def _text(text: str, options: Mapping[str, JsonValue]) -> dict[str, object]:
    return {"type": "text", "text": text, **options}


def _call(call: ToolCall, dialect: ChatDialect) -> dict[str, object]:
    return {
        "id": _call_id(call.tool_call_id, dialect),
        "type": "function",
        "function": {"name": call.tool_name, "arguments": _arguments(call.input)},
        **options_of(call.provider_options, dialect.provider),
    }


def _call_id(call_id: str, dialect: ChatDialect) -> str:
    exact, longest = dialect.exact_call_id, dialect.longest_call_id
    if exact is not None:
        return id_of_length(exact, call_id)
    return call_id if longest is None else id_within(longest, call_id)


def _arguments(text: str) -> str:
    match parse_json(text):
        case Success(dict()):
            return text
        case _:
            return "{}"


def _results(
    message: ToolMessage, dialect: ChatDialect, warnings: list[ModelWarning]
) -> list[dict[str, object]]:
    """The results, then one user message with the files among them, which none of them may hold."""
    objects: list[dict[str, object]] = []
    files: list[dict[str, object]] = []
    for part in message.content:
        if isinstance(part, ApprovalResponse) or part.provider_executed:
            continue
        objects.append(
            {
                "role": "tool",
                "tool_call_id": _call_id(part.tool_call_id, dialect),
                "content": _told(part, dialect, warnings, files),
                **options_of(part.output.provider_options, dialect.provider),
                **options_of(part.provider_options, dialect.provider),
            }
        )
    if files:
        objects.append({"role": "user", "content": files})
    return objects


def _told(
    result: ToolResult,
    dialect: ChatDialect,
    warnings: list[ModelWarning],
    files: list[dict[str, object]],
) -> str | list[dict[str, object]]:
    match result.output:
        case TextOutput(text) | ErrorTextOutput(text):
            return text
        case JsonOutput(document) | ErrorJsonOutput(document):
            return document.text
        case DeniedOutput(reason):
            return reason or DENIED
        case ContentOutput(parts):
            return _content(result, parts, dialect, warnings, files)


def _content(
    result: ToolResult,
    parts: tuple[Text | File | Custom, ...],
    dialect: ChatDialect,
    warnings: list[ModelWarning],
    files: list[dict[str, object]],
) -> str | list[dict[str, object]]:
    told: list[dict[str, object]] = []
    for part in parts:
        if isinstance(part, Custom):
            warnings.append(
                ModelWarning("unsupported", "Custom in a tool result", "it was left out")
            )
            continue
        value = _content_part(part, dialect, warnings)
        if value is None:
            continue
        if value["type"] == "text":
            told.append(value)
            continue
        call_id = _call_id(result.tool_call_id, dialect)
        name = f"file {len(files) // 2 + 1} of the result of call {call_id}"
        told.append({"type": "text", "text": f"[{name} follows]"})
        files += [_text(f"This is {name}:", {}), value]
        warnings.append(
            ModelWarning(
                "compatibility",
                "File in a tool result",
                "a tool message holds text only: the file was sent in a user message after it",
            )
        )
    return told or ""
