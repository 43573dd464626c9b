"""Messages as Google writes them: one fragment of JSON per message, its content.

A message without parts gives an empty fragment. Signatures of thoughts go back with the part that
they came with. A part that only Google knows (`Custom`) goes back as it came.
"""

from collections.abc import Iterable, Mapping

from stepfold.providers._prompts import DENIED, arguments_object, left_out
from stepfold.providers._wire import Fragment, FragmentMemo, options_of, to_wire
from stepfold.providers.google_generate._files import part_of_file
from stepfold.providers.google_generate._options import GoogleDialect
from stepfold.values import (
    ApprovalRequest,
    AssistantMessage,
    AssistantPart,
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
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)

Part = dict[str, object]
# What a part of a prompt is called that the provider made and answered itself.
HOSTED = frozenset({"executableCode", "codeExecutionResult", "toolCall", "toolResponse"})


def fragment_of_message(message: Message, dialect: GoogleDialect) -> Fragment:
    """The content of one message; of a system message, its part."""
    provider = dialect.provider
    warnings: list[ModelWarning] = []
    parts: list[Part] = []
    role = "user"
    match message:
        case SystemMessage(content):
            data = to_wire({"text": content}) if content.strip() else b""
            return Fragment(data)
        case UserMessage(said):
            for part in said:
                parts += _user_part(part, provider, warnings)
        case AssistantMessage(pieces):
            role = "model"
            for piece in pieces:
                parts += _model_part(piece, provider, warnings)
        case ToolMessage(answers):
            for answer in answers:
                if isinstance(answer, ToolResult):
                    parts += _response(answer, provider, warnings)
    data = to_wire({"role": role, "parts": parts}) if parts else b""
    return Fragment(data, tuple(warnings))


message_fragments: FragmentMemo[Message, GoogleDialect] = FragmentMemo(fragment_of_message)
"""`fragment_of_message`, remembered for as long as the message lives."""


def _signed(part: Part, options: Mapping[str, JsonValue]) -> list[Part]:
    signature = options.get("thought_signature")
    return [{**part, "thoughtSignature": signature} if isinstance(signature, str) else part]


def _user_part(part: Text | File, provider: str, warnings: list[ModelWarning]) -> list[Part]:
    if isinstance(part, Text):
        return [{"text": part.text}] if part.text else []
    found = part_of_file(part, provider, warnings)
    return [] if found is None else [found]


# --- what the model said ----------------------------------------------------------------------


def _model_part(part: AssistantPart, provider: str, warnings: list[ModelWarning]) -> list[Part]:
    if isinstance(part, ApprovalRequest):
        return []
    options = options_of(part.provider_options, provider)
    match part:
        case Text(text):
            return _signed({"text": text}, options) if text or options else []
        case Reasoning(text):
            return _signed({"text": text, "thought": True}, options)
        case File() | ReasoningFile():
            found = part_of_file(part, provider, warnings)
            if found is None:
                return []
            is_thought = isinstance(part, ReasoningFile)
            return _signed({**found, "thought": True} if is_thought else found, options)
        case ToolCall():
            return _call(part, options, warnings)
        case ToolResult():
            return _hosted_result(part, options, warnings)
        case Custom(kind):
            raw = options.get("part")
            if kind.startswith(f"{provider}.") and isinstance(raw, Mapping):
                return [dict(raw)]
            return left_out(f"custom part {kind}", "it is not one of this provider", warnings)


def _call(
    part: ToolCall, options: Mapping[str, JsonValue], warnings: list[ModelWarning]
) -> list[Part]:
    if not part.provider_executed:
        call = {
            "id": part.tool_call_id,
            "name": part.tool_name,
            "args": arguments_object(part.input),
        }
        return _signed({"functionCall": call}, options)
    kind = options.get("part")
    if not isinstance(kind, str) or kind not in HOSTED:
        subject = f"call of {part.tool_name} that a provider executed"
        return left_out(subject, "it was another provider", warnings)
    return _signed({kind: arguments_object(part.input)}, options)


def _hosted_result(
    part: ToolResult, options: Mapping[str, JsonValue], warnings: list[ModelWarning]
) -> list[Part]:
    kind = options.get("part")
    match part.output:
        case JsonOutput(document) | ErrorJsonOutput(document) if (
            isinstance(kind, str) and kind in HOSTED
        ):
            return _signed({kind: document.value}, options)
        case _:
            subject = f"result of {part.tool_name} in an assistant message"
            return left_out(subject, "it is not one of this provider", warnings)


# --- results ----------------------------------------------------------------------------------


def _response(part: ToolResult, provider: str, warnings: list[ModelWarning]) -> list[Part]:
    """`output` and `error` are the members that the protocol names for what a function gave."""
    if part.provider_executed:
        subject = f"result of {part.tool_name} in a tool message"
        return left_out(subject, "the provider executed the call and knows it", warnings)
    files: list[Part] = []
    given: dict[str, object]
    match part.output:
        case TextOutput(text):
            given = {"output": text}
        case JsonOutput(document):
            given = {"output": document.value}
        case ErrorTextOutput(text):
            given = {"error": text}
        case ErrorJsonOutput(document):
            given = {"error": document.value}
        case DeniedOutput(reason):
            given = {"error": reason or DENIED}
        case ContentOutput(pieces):
            given = {"output": "".join(_texts(pieces))}
            for piece in pieces:
                files += _file_of_result(piece, provider, warnings)
    response: dict[str, object] = {
        "id": part.tool_call_id,
        "name": part.tool_name,
        "response": given,
        **({"parts": files} if files else {}),
    }
    return [{"functionResponse": response}]


def _texts(pieces: Iterable[Text | File | Custom]) -> Iterable[str]:
    return (piece.text for piece in pieces if isinstance(piece, Text))


def _file_of_result(
    piece: Text | File | Custom, provider: str, warnings: list[ModelWarning]
) -> list[Part]:
    match piece:
        case Text():
            return []
        case File():
            found = part_of_file(piece, provider, warnings)
            return [] if found is None else [found]
        case Custom(kind):
            return left_out(f"custom part {kind}", "results have no place for it", warnings)
