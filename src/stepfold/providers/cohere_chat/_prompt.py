"""Messages as Cohere writes them: one fragment of JSON per message, or several for results.

Texts in files are documents, which the server keeps apart from the messages: `documents_of`
finds them. Plans for the use of tools are reasoning, which its `provider_options` tell apart.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence

from stepfold.providers._prompts import DENIED, arguments_object, left_out
from stepfold.providers._wire import Fragment, FragmentMemo, options_of, to_wire
from stepfold.providers.cohere_chat._options import CohereDialect
from stepfold.values import (
    ApprovalRequest,
    AssistantMessage,
    ContentOutput,
    Custom,
    DeniedOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    File,
    FileBytes,
    FileReference,
    FileText,
    FileUrl,
    JsonOutput,
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

Block = dict[str, object]

_NO_PLACE = "the protocol has no place for it"


def fragment_of_message(message: Message, dialect: CohereDialect) -> Fragment:
    """One message as Cohere writes it; results are a message each."""
    warnings: list[ModelWarning] = []
    written: list[Block] = []
    match message:
        case SystemMessage(content):
            written = [{"role": "system", "content": content}] if content.strip() else []
        case UserMessage(parts):
            blocks: list[Block] = []
            for part in parts:
                blocks += _user_part(part, warnings)
            written = [{"role": "user", "content": _plain(blocks)}] if blocks else []
        case AssistantMessage():
            written = _assistant(message, dialect, warnings)
        case ToolMessage(answers):
            for answer in answers:
                if isinstance(answer, ToolResult):
                    written += _result(answer, warnings)
    return Fragment(b",".join(map(to_wire, written)), tuple(warnings))


message_fragments: FragmentMemo[Message, CohereDialect] = FragmentMemo(fragment_of_message)
"""`fragment_of_message`, remembered for as long as the message lives."""


def documents_of(messages: Sequence[Message]) -> Iterator[Block]:
    """The texts of files in the messages, as documents that the model may cite."""
    for message in messages:
        if isinstance(message, UserMessage):
            for part in message.content:
                text = _text_of(part) if isinstance(part, File) else None
                if text is not None and isinstance(part, File):
                    title = {} if part.filename is None else {"title": part.filename}
                    yield {"data": {**title, "text": text}}


def _text_of(file: File) -> str | None:
    media_type = file.media_type.lower()
    if not (media_type.startswith("text/") or media_type == "application/json"):
        return None
    match file.data:
        case FileText(text):
            return text
        case FileBytes(data):
            return data.decode("utf-8", "replace")
        case FileUrl() | FileReference():
            return None


def _plain(blocks: list[Block]) -> object:
    """A text alone is written as such."""
    match blocks:
        case [{"type": "text", "text": str(text)}]:
            return text
        case _:
            return blocks


def _user_part(part: Text | File, warnings: list[ModelWarning]) -> list[Block]:
    if isinstance(part, Text):
        return [{"type": "text", "text": part.text}] if part.text else []
    if _text_of(part) is not None:
        return []
    media_type = part.media_type.lower()
    if media_type.startswith("image/"):
        match part.data:
            case FileUrl(url):
                return [{"type": "image_url", "image_url": {"url": url}}]
            case FileBytes(data):
                url = f"data:{media_type};base64,{b64encode(data).decode()}"
                return [{"type": "image_url", "image_url": {"url": url}}]
            case _:
                pass
    why = "the protocol takes images, and texts as documents"
    return left_out(f"file part of type {part.media_type}", why, warnings)


# --- what the model said ----------------------------------------------------------------------


def _assistant(
    message: AssistantMessage, dialect: CohereDialect, warnings: list[ModelWarning]
) -> list[Block]:
    blocks: list[Block] = []
    plans: list[str] = []
    calls: list[Block] = []
    for part in message.content:
        match part:
            case Text(text):
                if text:
                    blocks.append({"type": "text", "text": text})
            case Reasoning(text):
                options = options_of(part.provider_options, dialect.provider)
                if options.get("tool_plan") is True:
                    plans.append(text)
                elif text:
                    blocks.append({"type": "thinking", "thinking": text})
            case ToolCall() if not part.provider_executed:
                calls.append(_call(part))
            case ToolCall() | ToolResult():
                subject = f"{part.tool_name}, which a provider executed"
                left_out(subject, "it was another provider", warnings)
            case File() | ReasoningFile() | Custom():
                subject = f"{type(part).__name__} in an assistant message"
                left_out(subject, _NO_PLACE, warnings)
            case ApprovalRequest():
                pass
    said: Block = {"role": "assistant"}
    if blocks:
        said["content"] = _plain(blocks)
    if plans:
        said["tool_plan"] = "".join(plans)
    if calls:
        said["tool_calls"] = calls
    return [said] if len(said) > 1 else []


def _call(part: ToolCall) -> Block:
    arguments = to_wire(arguments_object(part.input)).decode()
    function = {"name": part.tool_name, "arguments": arguments}
    return {"id": part.tool_call_id, "type": "function", "function": function}


# --- results ----------------------------------------------------------------------------------


def _result(part: ToolResult, warnings: list[ModelWarning]) -> list[Block]:
    if part.provider_executed:
        subject = f"result of {part.tool_name} in a tool message"
        left_out(subject, "the provider executed the call and knows it", warnings)
        return []
    content: object
    match part.output:
        case TextOutput(text) | ErrorTextOutput(text):
            content = text
        case JsonOutput(document) | ErrorJsonOutput(document):
            content = document.text
        case DeniedOutput(reason):
            content = reason or DENIED
        case ContentOutput(pieces):
            content = [block for piece in pieces for block in _told(piece, warnings)]
    return [{"role": "tool", "tool_call_id": part.tool_call_id, "content": content}]


def _told(piece: Text | File | Custom, warnings: list[ModelWarning]) -> list[Block]:
    if isinstance(piece, Text):
        return [{"type": "text", "text": piece.text}] if piece.text else []
    text = _text_of(piece) if isinstance(piece, File) else None
    if text is not None:
        return [{"type": "document", "document": {"data": {"text": text}}}]
    return left_out(f"{type(piece).__name__} in a result", _NO_PLACE, warnings)
