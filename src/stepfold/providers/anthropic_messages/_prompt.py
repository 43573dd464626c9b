"""Messages as Anthropic writes them: one fragment of JSON per message, its content blocks.

The fragment is the blocks without the brackets around them, so that turns of one role can be
joined. A message without blocks gives an empty fragment. Texts without a visible character are
left out, since the API refuses them.
"""

import re
from collections.abc import Mapping
from hashlib import sha256

from stepfold.providers._prompts import DENIED, arguments_object, left_out
from stepfold.providers._wire import Fragment, FragmentMemo, options_of, to_wire
from stepfold.providers.anthropic_messages._files import block_of_file
from stepfold.providers.anthropic_messages._options import MessagesDialect
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

_ACCEPTED_ID = re.compile(r"[a-zA-Z0-9_-]+")
_REFUSED_LETTERS = re.compile(r"[^a-zA-Z0-9_-]+")
_NOT_CACHED = frozenset({"thinking", "redacted_thinking"})

Block = dict[str, object]


def fragment_of_message(message: Message, dialect: MessagesDialect) -> Fragment:
    """The content blocks of one message.

    What `provider_options` hold for the message (`cache_control`) is added to its last block
    that may carry it.
    """
    provider = dialect.provider
    warnings: list[ModelWarning] = []
    blocks: list[Block] = []
    match message:
        case SystemMessage(content):
            blocks = _text(content, {})
        case UserMessage(parts):
            for part in parts:
                blocks += _user_part(part, provider, warnings)
        case AssistantMessage(said):
            for piece in said:
                blocks += _assistant_part(piece, provider, warnings)
        case ToolMessage(answers):
            for answer in answers:
                if isinstance(answer, ToolResult):
                    blocks += _result(answer, provider, warnings)
    extra = options_of(message.provider_options, provider)
    if extra:
        _add_to_last(blocks, extra, warnings)
    return Fragment(b",".join(map(to_wire, blocks)), tuple(warnings))


message_fragments: FragmentMemo[Message, MessagesDialect] = FragmentMemo(fragment_of_message)
"""`fragment_of_message`, remembered for as long as the message lives."""


def wire_id(call_id: str) -> str:
    """The id of a call as the API accepts it: its own, or one that is made of it alone."""
    if _ACCEPTED_ID.fullmatch(call_id):
        return call_id
    digest = sha256(call_id.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{_REFUSED_LETTERS.sub('_', call_id)[:40]}-{digest}"


def _add_to_last(
    blocks: list[Block], extra: Mapping[str, JsonValue], warnings: list[ModelWarning]
) -> None:
    for block in reversed(blocks):
        if block["type"] not in _NOT_CACHED:
            for name, value in extra.items():
                block.setdefault(name, value)
            return
    subject = "provider_options of a message"
    warnings.append(ModelWarning("unsupported", subject, "it holds no block that could carry them"))


def _text(text: str, options: Mapping[str, JsonValue]) -> list[Block]:
    return [{"type": "text", "text": text, **options}] if text.strip() else []


def _user_part(part: Text | File, provider: str, warnings: list[ModelWarning]) -> list[Block]:
    if isinstance(part, Text):
        return _text(part.text, options_of(part.provider_options, provider))
    block = block_of_file(part, provider, warnings)
    return [] if block is None else [block]


def _custom(part: Custom, provider: str, warnings: list[ModelWarning]) -> list[Block]:
    block = options_of(part.provider_options, provider)
    if isinstance(block.get("type"), str):
        return [dict(block)]
    return left_out(f"custom part {part.kind}", "it is not one of this provider", warnings)


# --- what the model said ----------------------------------------------------------------------


def _assistant_part(
    part: AssistantPart, provider: str, warnings: list[ModelWarning]
) -> list[Block]:
    match part:
        case Text(text):
            return _text(text, options_of(part.provider_options, provider))
        case Reasoning():
            return _thinking(part, provider, warnings)
        case ToolCall():
            return _call(part, provider, warnings)
        case ToolResult():
            return _provider_result(part, provider, warnings)
        case Custom():
            return _custom(part, provider, warnings)
        case File() | ReasoningFile():
            subject = f"{type(part).__name__} in an assistant message"
            return left_out(subject, "the protocol has no place for it", warnings)
        case ApprovalRequest():
            return []


def _thinking(part: Reasoning, provider: str, warnings: list[ModelWarning]) -> list[Block]:
    options = options_of(part.provider_options, provider)
    redacted, signature = options.get("redacted_data"), options.get("signature")
    if isinstance(redacted, str):
        return [{"type": "redacted_thinking", "data": redacted}]
    if isinstance(signature, str):
        return [{"type": "thinking", "thinking": part.text, "signature": signature}]
    return left_out("reasoning", "it has no signature of this provider", warnings)


def _call(part: ToolCall, provider: str, warnings: list[ModelWarning]) -> list[Block]:
    options = options_of(part.provider_options, provider)
    kind = options.get("type", "server_tool_use" if options else None)
    if part.provider_executed and kind is None:
        subject = f"call of {part.tool_name} that a provider executed"
        return left_out(subject, "it was another provider", warnings)
    block: Block = {
        "type": kind if part.provider_executed else "tool_use",
        "id": wire_id(part.tool_call_id),
        "name": part.tool_name,
        "input": arguments_object(part.input),
    }
    return [{**options, **block}]


def _provider_result(part: ToolResult, provider: str, warnings: list[ModelWarning]) -> list[Block]:
    options = options_of(part.provider_options, provider)
    if not isinstance(options.get("type"), str):
        subject = f"result of {part.tool_name} in an assistant message"
        return left_out(subject, "it is not one of this provider", warnings)
    content: JsonValue = None
    match part.output:
        case JsonOutput(document) | ErrorJsonOutput(document):
            content = document.value
        case TextOutput(text) | ErrorTextOutput(text):
            content = text
        case DeniedOutput() | ContentOutput():
            return left_out(f"result of {part.tool_name}", "it has no JSON form", warnings)
    return [{**options, "tool_use_id": wire_id(part.tool_call_id), "content": content}]


# --- results ----------------------------------------------------------------------------------


def _result(part: ToolResult, provider: str, warnings: list[ModelWarning]) -> list[Block]:
    if part.provider_executed:
        subject = f"result of {part.tool_name} in a tool message"
        return left_out(subject, "the provider executed the call and knows it", warnings)
    content: object
    match part.output:
        case TextOutput(text) | ErrorTextOutput(text):
            content = text
        case JsonOutput(document) | ErrorJsonOutput(document):
            content = document.text
        case DeniedOutput(reason):
            content = reason or DENIED
        case ContentOutput(parts):
            content = _told(parts, provider, warnings)
    block: Block = {
        "type": "tool_result",
        "tool_use_id": wire_id(part.tool_call_id),
        "content": content,
    }
    if isinstance(part.output, ErrorTextOutput | ErrorJsonOutput):
        block["is_error"] = True
    own = options_of(part.output.provider_options, provider)
    return [{**block, **own, **options_of(part.provider_options, provider)}]


def _told(
    parts: tuple[Text | File | Custom, ...], provider: str, warnings: list[ModelWarning]
) -> list[Block]:
    told: list[Block] = []
    for part in parts:
        if isinstance(part, Custom):
            told += _custom(part, provider, warnings)
        else:
            told += _user_part(part, provider, warnings)
    return told
