"""Messages as the specification writes them: one fragment of JSON per message."""

from base64 import b64encode
from collections.abc import Mapping

from stepfold.providers._json import is_object
from stepfold.providers._wire import Fragment, FragmentMemo, to_wire
from stepfold.providers.ai_gateway._options import GatewayDialect
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    ContentOutput,
    Custom,
    DeniedOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    File,
    FileBytes,
    FileData,
    FileReference,
    FileText,
    FileUrl,
    JsonOutput,
    JsonText,
    Message,
    Reasoning,
    ReasoningFile,
    Success,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolMessage,
    ToolOutput,
    ToolPart,
    ToolResult,
    UserMessage,
    media_type_of,
    parse_data_url,
    parse_json,
)

Part = dict[str, object]


def fragment_of_message(message: Message, _: GatewayDialect) -> Fragment:
    """One message. Everything can be said, and what belongs to a provider goes as it is."""
    said: Part
    match message:
        case SystemMessage(content):
            said = {"role": "system", "content": content}
        case UserMessage(parts):
            said = {"role": "user", "content": [_content_part(part) for part in parts]}
        case AssistantMessage(pieces):
            told = [part for piece in pieces if (part := _assistant_part(piece)) is not None]
            said = {"role": "assistant", "content": told}
        case ToolMessage(answers):
            said = {"role": "tool", "content": [_tool_part(answer) for answer in answers]}
    return Fragment(to_wire({**said, **_options(message.provider_options)}))


message_fragments: FragmentMemo[Message, GatewayDialect] = FragmentMemo(fragment_of_message)
"""`fragment_of_message`, remembered for as long as the message lives."""


def _options(options: JsonText | None) -> Part:
    return {} if options is None else {"providerOptions": options.value}


def _content_part(part: Text | File | Custom) -> Part:
    match part:
        case Text(text):
            return {"type": "text", "text": text, **_options(part.provider_options)}
        case Custom(kind):
            return {"type": "custom", "kind": kind, **_options(part.provider_options)}
        case File(data, media_type):
            named = {} if part.filename is None else {"filename": part.filename}
            more = {**named, **_options(part.provider_options)}
            return {"type": "file", **_file(data, media_type), **more}


def _file(data: FileData, media_type: str) -> Part:
    """The content of a file, and its type: the one that is shown, where only a kind is said."""
    match data:
        case FileBytes(content):
            shown = None if "/" in media_type else media_type_of(content)
            return {"mediaType": shown or media_type, "data": _inline(content)}
        case FileText(text):
            return {"mediaType": media_type, "data": {"type": "text", "text": text}}
        case FileReference(reference):
            held = {"type": "reference", "reference": reference.value}
            return {"mediaType": media_type, "data": held}
        case FileUrl(url):
            if url.startswith("data:"):
                match parse_data_url(url):
                    case Success((declared, content)):
                        return {"mediaType": declared or media_type, "data": _inline(content)}
                    case _:
                        pass
            return {"mediaType": media_type, "data": {"type": "url", "url": url}}


def _inline(content: bytes) -> Part:
    return {"type": "data", "data": b64encode(content).decode()}


# --- what the model said ----------------------------------------------------------------------


def _assistant_part(part: AssistantPart) -> Part | None:
    match part:
        case Text() | File() | Custom():
            return _content_part(part)
        case Reasoning(text):
            return {"type": "reasoning", "text": text, **_options(part.provider_options)}
        case ReasoningFile(data, media_type):
            said = _file(data, media_type)
            return {"type": "reasoning-file", **said, **_options(part.provider_options)}
        case ToolCall():
            executed = {"providerExecuted": True} if part.provider_executed else {}
            return {
                "type": "tool-call",
                "toolCallId": part.tool_call_id,
                "toolName": part.tool_name,
                "input": _arguments(part.input),
                **executed,
                **_options(part.provider_options),
            }
        case ToolResult():
            return _result(part)
        case ApprovalRequest():
            return None


def _arguments(text: str) -> Mapping[str, object]:
    """The arguments, which have to be an object here; `{}` stands for any other text."""
    match parse_json(text):
        case Success(value) if is_object(value):
            return value
        case _:
            return {}


# --- what calls came to -----------------------------------------------------------------------


def _tool_part(part: ToolPart) -> Part:
    match part:
        case ToolResult():
            return _result(part)
        case ApprovalResponse():
            reason = {} if part.reason is None else {"reason": part.reason}
            return {
                "type": "tool-approval-response",
                "approvalId": part.approval_id,
                "approved": part.approved,
                **reason,
                **_options(part.provider_options),
            }


def _result(part: ToolResult) -> Part:
    return {
        "type": "tool-result",
        "toolCallId": part.tool_call_id,
        "toolName": part.tool_name,
        "output": {**_output(part.output), **_options(part.output.provider_options)},
        **_options(part.provider_options),
    }


def _output(output: ToolOutput) -> Part:
    match output:
        case TextOutput(text):
            return {"type": "text", "value": text}
        case ErrorTextOutput(text):
            return {"type": "error-text", "value": text}
        case JsonOutput(document):
            return {"type": "json", "value": document.value}
        case ErrorJsonOutput(document):
            return {"type": "error-json", "value": document.value}
        case DeniedOutput(reason):
            return {"type": "execution-denied", **({} if reason is None else {"reason": reason})}
        case ContentOutput(parts):
            return {"type": "content", "value": [_content_part(part) for part in parts]}
