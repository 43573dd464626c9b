"""Messages as Converse writes them: one fragment of JSON per message, its content blocks.

The fragment is the blocks without the brackets around them, so that turns of one role can be
joined. A message without blocks gives an empty fragment. Texts without a visible character are
left out, since the API refuses them. A `cachePoint` in the `provider_options` of a message or a
part is a block of its own behind it.
"""

import re
from collections.abc import Mapping
from hashlib import sha256

from stepfold.providers._prompts import DENIED, arguments_object, left_out
from stepfold.providers._wire import (
    Fragment,
    FragmentMemo,
    id_of_length,
    options_of,
    to_wire,
)
from stepfold.providers.bedrock_converse._files import blocks_of_file
from stepfold.providers.bedrock_converse._options import ConverseDialect
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
)

Block = dict[str, object]
Options = Mapping[str, JsonValue]

_ACCEPTED_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_REFUSED_LETTERS = re.compile(r"[^a-zA-Z0-9_.:-]+")
_NO_PLACE = "the protocol has no place for it"
_ELSEWHERE = "it is not one of this provider"


def fragment_of_message(message: Message, dialect: ConverseDialect) -> Fragment:
    """The content blocks of one message."""
    warnings: list[ModelWarning] = []
    blocks: list[Block] = []
    match message:
        case SystemMessage(content):
            blocks = _text(content, {})
        case UserMessage(parts):
            for part in parts:
                blocks += _user_part(part, dialect.provider, warnings)
        case AssistantMessage(said):
            for piece in said:
                blocks += _assistant_part(piece, dialect, warnings)
        case ToolMessage(answers):
            for answer in answers:
                if isinstance(answer, ToolResult):
                    blocks += _result(answer, dialect, warnings)
    if blocks:
        blocks += cache_points(options_of(message.provider_options, dialect.provider))
    return Fragment(b",".join(map(to_wire, blocks)), tuple(warnings))


message_fragments: FragmentMemo[Message, ConverseDialect] = FragmentMemo(fragment_of_message)
"""`fragment_of_message`, remembered for as long as the message lives."""


def wire_id(call_id: str, dialect: ConverseDialect) -> str:
    """The id of a call as the API accepts it: its own, or one that is made of it alone."""
    if dialect.call_id_length is not None:
        return id_of_length(dialect.call_id_length, call_id)
    if _ACCEPTED_ID.fullmatch(call_id):
        return call_id
    digest = sha256(call_id.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{_REFUSED_LETTERS.sub('_', call_id)[:40]}-{digest}"


def cache_points(options: Options) -> list[Block]:
    """What is before it may be kept by the server."""
    point = options.get("cachePoint")
    return [] if point is None else [{"cachePoint": point}]


def _text(text: str, options: Options) -> list[Block]:
    if not text.strip():
        return []
    guard, citations = options.get("guardContent"), options.get("citations")
    if isinstance(guard, Mapping):
        return [{"guardContent": {"text": {"text": text, **guard}}}, *cache_points(options)]
    if isinstance(citations, tuple):
        block: Block = {"content": [{"text": text}], "citations": citations}
        return [{"citationsContent": block}, *cache_points(options)]
    return [{"text": text}, *cache_points(options)]


def _user_part(part: Text | File, provider: str, warnings: list[ModelWarning]) -> list[Block]:
    options = options_of(part.provider_options, provider)
    if isinstance(part, Text):
        return _text(part.text, options)
    blocks = blocks_of_file(part, provider, warnings)
    return [*blocks, *cache_points(options)] if blocks else []


def _custom(part: Custom, provider: str, warnings: list[ModelWarning]) -> list[Block]:
    block = options_of(part.provider_options, provider).get("block")
    if isinstance(block, Mapping):
        return [dict(block)]
    return left_out(f"custom part {part.kind}", _ELSEWHERE, warnings)


# --- what the model said ----------------------------------------------------------------------


def _assistant_part(
    part: AssistantPart, dialect: ConverseDialect, warnings: list[ModelWarning]
) -> list[Block]:
    provider = dialect.provider
    match part:
        case Text(text):
            return _text(text, options_of(part.provider_options, provider))
        case Reasoning():
            return _thinking(part, provider, warnings)
        case ToolCall():
            return _call(part, dialect, warnings)
        case ToolResult():
            return _provider_result(part, dialect, warnings)
        case Custom():
            return _custom(part, provider, warnings)
        case File():
            return blocks_of_file(part, provider, warnings)
        case ReasoningFile():
            return left_out("reasoning file", _NO_PLACE, warnings)
        case ApprovalRequest():
            return []


def _thinking(part: Reasoning, provider: str, warnings: list[ModelWarning]) -> list[Block]:
    options = options_of(part.provider_options, provider)
    redacted, signature = options.get("redacted_data"), options.get("signature")
    if isinstance(redacted, str):
        return [{"reasoningContent": {"redactedContent": redacted}}]
    if isinstance(signature, str):
        said = {"text": part.text, "signature": signature}
        return [{"reasoningContent": {"reasoningText": said}}]
    return left_out("reasoning", "it has no signature of this provider", warnings)


def _call(part: ToolCall, dialect: ConverseDialect, warnings: list[ModelWarning]) -> list[Block]:
    options = options_of(part.provider_options, dialect.provider)
    kind = options.get("type")
    if part.provider_executed and not isinstance(kind, str):
        subject = f"call of {part.tool_name} that a provider executed"
        return left_out(subject, "it was another provider", warnings)
    block: Block = {
        "toolUseId": wire_id(part.tool_call_id, dialect),
        "name": part.tool_name,
        "input": arguments_object(part.input),
    }
    if part.provider_executed:
        block["type"] = kind
    return [{"toolUse": block}, *cache_points(options)]


def _provider_result(
    part: ToolResult, dialect: ConverseDialect, warnings: list[ModelWarning]
) -> list[Block]:
    own = options_of(part.provider_options, dialect.provider).get("result")
    match part.output:
        case JsonOutput(document) | ErrorJsonOutput(document) if isinstance(own, Mapping):
            called = {"toolUseId": wire_id(part.tool_call_id, dialect)}
            return [{"toolResult": {**own, **called, "content": document.value}}]
        case _:
            subject = f"result of {part.tool_name} in an assistant message"
            return left_out(subject, _ELSEWHERE, warnings)


# --- results ----------------------------------------------------------------------------------


def _result(
    part: ToolResult, dialect: ConverseDialect, warnings: list[ModelWarning]
) -> list[Block]:
    if part.provider_executed:
        subject = f"result of {part.tool_name} in a tool message"
        return left_out(subject, "the provider executed the call and knows it", warnings)
    content: list[Block]
    match part.output:
        case TextOutput(text) | ErrorTextOutput(text):
            content = [{"text": text}]
        case JsonOutput(document) | ErrorJsonOutput(document):
            content = [_document(document)]
        case DeniedOutput(reason):
            content = [{"text": reason or DENIED}]
        case ContentOutput(pieces):
            content = []
            for piece in pieces:
                content += _told(piece, dialect.provider, warnings)
    block: Block = {"toolUseId": wire_id(part.tool_call_id, dialect), "content": content}
    if dialect.has_result_status and isinstance(part.output, ErrorTextOutput | ErrorJsonOutput):
        block["status"] = "error"
    return [
        {"toolResult": block},
        *cache_points(options_of(part.output.provider_options, dialect.provider)),
        *cache_points(options_of(part.provider_options, dialect.provider)),
    ]


def _document(document: JsonText) -> Block:
    """JSON as such, if it is an object; the API refuses others, which go as their text."""
    value = document.value
    return {"json": value} if isinstance(value, Mapping) else {"text": document.text}


def _told(piece: Text | File | Custom, provider: str, warnings: list[ModelWarning]) -> list[Block]:
    match piece:
        case Text(text):
            return [{"text": text}] if text else []
        case File():
            return blocks_of_file(piece, provider, warnings)
        case Custom():
            return _custom(piece, provider, warnings)
