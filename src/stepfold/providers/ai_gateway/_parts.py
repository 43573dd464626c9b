"""Content and stream parts of the specification as ours: the one reading of a reply.

text, reasoning                     a text, or what the model thought
file, reasoning-file                a file
source                              a page, or a document
tool-call                           a call; of the provider where it is `providerExecuted`
tool-result                         what the provider answered
tool-approval-request               the provider asks before it goes on
custom                              what only one provider understands
anything else                       a custom part `gateway.<type>`, which holds the part

What a provider attached to a part (`providerMetadata`) stays with it, and goes back with it.
Citations of a text are sources.
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import TypeAlias

from stepfold.providers._json import array_of, is_object, object_of, text_of
from stepfold.providers._replies import kept_json, violation
from stepfold.providers._wire import to_wire
from stepfold.values import (
    ApprovalRequest,
    Custom,
    DocumentSource,
    ErrorJsonOutput,
    File,
    FileBytes,
    FileUrl,
    JsonOutput,
    JsonText,
    ModelError,
    ModelWarning,
    ReasoningFile,
    ToolCall,
    ToolResult,
    UrlSource,
)

Json: TypeAlias = Mapping[str, object]
WholePart: TypeAlias = (
    ApprovalRequest
    | Custom
    | DocumentSource
    | File
    | ReasoningFile
    | ToolCall
    | ToolResult
    | UrlSource
)
"""What comes whole, in streams as well."""
_NULL = JsonText("null")


def options_of_part(part: Json) -> JsonText | None:
    """What the provider attached to a part."""
    metadata = part.get("providerMetadata")
    return kept_json(metadata) if is_object(metadata) and metadata else None


def whole_part(part: dict[str, object]) -> WholePart:
    """A part that comes whole in streams as well.

    Raises:
        ModelError: it lacks what it is made of.
    """
    match part.get("type"):
        case "file" | "reasoning-file" as kind:
            return _file(part, is_thought=kind == "reasoning-file")
        case "source":
            return source_of(part)
        case "tool-call":
            return _call(part)
        case "tool-result":
            return _result(part)
        case "tool-approval-request":
            return ApprovalRequest(
                _needed(part, "approvalId"),
                _needed(part, "toolCallId"),
                provider_options=options_of_part(part),
            )
        case "custom":
            return Custom(_needed(part, "kind"), provider_options=options_of_part(part))
        case kind:
            named = text_of(kind) or "part"
            kept = kept_json({"gateway": {"part": part}})
            return Custom(f"gateway.{named}", provider_options=kept)


def cited_sources(part: Json) -> list[UrlSource | DocumentSource]:
    """The sources of a text's citations."""
    found = (object_of(object_of(one).get("source")) for one in array_of(part.get("citations")))
    return [source_of(source) for source in found if source]


def source_of(part: Json) -> UrlSource | DocumentSource:
    """A page or a document that the reply rests on."""
    source_id, options = text_of(part.get("id")) or "source", options_of_part(part)
    title = text_of(part.get("title"))
    if part.get("sourceType") == "document":
        return DocumentSource(
            source_id,
            text_of(part.get("mediaType")) or "text/plain",
            title or source_id,
            filename=text_of(part.get("filename")),
            provider_options=options,
        )
    return UrlSource(source_id, _needed(part, "url"), title=title, provider_options=options)


def warnings_in(value: object) -> tuple[ModelWarning, ...]:
    """What the gateway and the provider did not do as asked."""
    return tuple(_warning(object_of(warning)) for warning in array_of(value))


def _warning(warning: Json) -> ModelWarning:
    message = text_of(warning.get("message")) or text_of(warning.get("details")) or ""
    feature = text_of(warning.get("feature")) or ""
    match warning.get("type"):
        case "unsupported":
            return ModelWarning("unsupported", feature, message)
        case "compatibility":
            return ModelWarning("compatibility", feature, message)
        case "deprecated":
            return ModelWarning("deprecated", text_of(warning.get("setting")) or "", message)
        case _:
            return ModelWarning("other", text_of(warning.get("type")) or "other", message)


def _needed(part: Json, name: str) -> str:
    found = text_of(part.get(name))
    if not found:
        raise ModelError(violation(f"a part of the reply lacks its {name}"))
    return found


def _call(part: Json) -> ToolCall:
    given = part.get("input")
    text = text_of(given)
    if text is None:
        text = "" if given is None else to_wire(given).decode()
    return ToolCall(
        text_of(part.get("toolCallId")) or "",
        _needed(part, "toolName"),
        text,
        provider_executed=part.get("providerExecuted") is True,
        dynamic=part.get("dynamic") is True,
        provider_options=options_of_part(part),
    )


def _result(part: Json) -> ToolResult:
    kept = kept_json(part.get("result")) or _NULL
    return ToolResult(
        _needed(part, "toolCallId"),
        _needed(part, "toolName"),
        ErrorJsonOutput(kept) if part.get("isError") is True else JsonOutput(kept),
        provider_executed=True,
        preliminary=part.get("preliminary") is True,
        dynamic=part.get("dynamic") is True,
        provider_options=options_of_part(part),
    )


def _file(part: Json, *, is_thought: bool) -> File | ReasoningFile:
    media_type = text_of(part.get("mediaType")) or "application/octet-stream"
    given = part.get("data")
    data = given if is_object(given) else {"type": "data", "data": given}
    url = text_of(data.get("url"))
    content: FileUrl | FileBytes
    if url is not None:
        content = FileUrl(url)
    else:
        try:
            content = FileBytes(b64decode(text_of(data.get("data")) or "", validate=True))
        except ValueError:
            raise ModelError(violation("a file of the reply is not in base64")) from None
    options = options_of_part(part)
    if is_thought:
        return ReasoningFile(content, media_type, provider_options=options)
    return File(content, media_type, provider_options=options)
