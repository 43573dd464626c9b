"""Content blocks as stream parts: the one reading of a reply, whole or streamed.

    text, citationsContent    a text block; its citations are sources, and stay with it
    reasoningContent          a reasoning block; its signature, or what is sealed, ends it
    toolUse                   a call; of type `server_tool_use`, one that the provider answers
    toolResult                the answer to such a call
    image, audio, video       a file
    anything else             a custom part `bedrock.<kind>`, which holds the block

A block that came whole is one that grows and is closed at once.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import final

from attrs import define, field

from stepfold.providers._json import array_of, is_object, object_of, text_of
from stepfold.providers._replies import kept_json, unused_call_id, violation
from stepfold.providers.bedrock_converse._files import media_type_of_block
from stepfold.values import (
    Custom,
    DocumentSource,
    ErrorJsonOutput,
    File,
    FileBytes,
    FileUrl,
    JsonOutput,
    JsonText,
    ModelError,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamPart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolResult,
    UrlSource,
)

_SERVER = "server_tool_use"
_FILES = ("image", "audio", "video")
_NOTHING = JsonText("[]")


@define(eq=False)
class _Open:
    """A block that is still growing; `pieces` are those of its arguments, results or bytes."""

    key: str
    kind: str
    begun: dict[str, object] = field(factory=dict[str, object])
    call_id: str = ""
    pieces: list[str] = field(factory=list[str])
    results: list[object] = field(factory=list[object])
    citations: list[object] = field(factory=list[object])
    signature: str | None = None
    sealed: list[str] = field(factory=list[str])


@final
class BlockReader:
    """Reads the blocks of one reply, by keys that no two of them share.

    What is impossible raises `ModelError`, which the decoders turn into a value.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._open: dict[str, _Open] = {}
        self._closed: set[str] = set()
        self._used: set[str] = set()
        self._names: dict[str, str] = {}
        self._sources = 0

    def begin(self, key: str, start: dict[str, object]) -> list[StreamPart]:
        """Begin a block that says what it is: a call, a result, a file."""
        if key in self._open or key in self._closed:
            raise _impossible(f"block {key} was started twice")
        for kind in ("toolUse", "toolResult", *_FILES):
            begun = start.get(kind)
            if is_object(begun):
                opened = self._open[key] = _Open(key, kind, begun)
                return self._begin_call(opened) if kind == "toolUse" else []
        return []

    def grow(self, key: str, delta: dict[str, object]) -> list[StreamPart]:
        """Add to a block; deltas of an unknown kind add nothing."""
        if key in self._closed:
            raise _impossible(f"a part of block {key} came after its end")
        text, citation = text_of(delta.get("text")), delta.get("citation")
        reasoning = delta.get("reasoningContent")
        if text is not None or is_object(citation):
            opened, parts = self._opened(key, "text")
            if text:
                parts.append(TextDelta(key, text))
            return parts if not is_object(citation) else [*parts, *self._cite(opened, citation)]
        if is_object(reasoning):
            return self._think(key, reasoning)
        used = delta.get("toolUse")
        if is_object(used):
            opened, _ = self._opened(key, "toolUse")
            piece = text_of(used.get("input"))
            if piece:
                opened.pieces.append(piece)
                return [ToolInputDelta(opened.call_id, piece)]
        elif "toolResult" in delta:
            opened, _ = self._opened(key, "toolResult")
            opened.results += array_of(delta["toolResult"])
        else:
            self._add_bytes(key, delta)
        return []

    def close(self, key: str) -> list[StreamPart]:
        """End a block; one that never grew is nothing."""
        if key in self._closed:
            raise _impossible(f"block {key} ended twice")
        self._closed.add(key)
        opened = self._open.pop(key, None)
        if opened is None:
            return []
        match opened.kind:
            case "text":
                cited = {"citations": opened.citations} if opened.citations else {}
                return [TextEnd(key, provider_options=self._kept(cited))]
            case "reasoning":
                return [ReasoningEnd(key, provider_options=self._kept(_seal_of(opened)))]
            case "toolUse":
                return self._end_call(opened)
            case "toolResult":
                return [self._result(opened.begun, opened.results)]
            case kind:
                data = _joined(opened.pieces)
                return [File(FileBytes(data), _type_of(kind, opened.begun))] if data else []

    def close_all(self) -> list[StreamPart]:
        """End what is open: servers leave out the ends of texts."""
        return [part for key in tuple(self._open) for part in self.close(key)]

    def whole(self, key: str, block: dict[str, object]) -> list[StreamPart]:
        """A block that came in one piece."""
        parts: list[StreamPart] = []
        cited, used = block.get("citationsContent"), block.get("toolUse")
        reasoning = block.get("reasoningContent")
        result, text = block.get("toolResult"), text_of(block.get("text"))
        if text is not None:
            parts += self.grow(key, {"text": text})
        elif is_object(cited):
            said = (text_of(object_of(one).get("text")) for one in array_of(cited.get("content")))
            parts += self.grow(key, {"text": "".join(filter(None, said))})
            for citation in array_of(cited.get("citations")):
                parts += self.grow(key, {"citation": citation})
        elif is_object(reasoning):
            parts += self._think(key, {**reasoning, **object_of(reasoning.get("reasoningText"))})
        elif is_object(used):
            parts += self.begin(key, block)
            kept = kept_json(used["input"]) if is_object(used.get("input")) else None
            if kept is not None:
                parts += self.grow(key, {"toolUse": {"input": kept.text}})
        elif is_object(result):
            return [self._result(result, array_of(result.get("content")))]
        else:
            return self._whole_file(block)
        return [*parts, *self.close(key)]

    def _opened(self, key: str, kind: str) -> tuple[_Open, list[StreamPart]]:
        opened = self._open.get(key)
        if opened is None:
            if kind not in {"text", "reasoning"}:
                raise _impossible(f"a part of block {key}, a {kind}, came before its start")
            opened = self._open[key] = _Open(key, kind)
            return opened, [TextStart(key) if kind == "text" else ReasoningStart(key)]
        if opened.kind != kind:
            raise _impossible(f"a part of a {kind} came for block {key}, which is {opened.kind!r}")
        return opened, []

    def _kept(self, members: Mapping[str, object]) -> JsonText | None:
        return kept_json({self._provider: members}) if members else None

    def _think(self, key: str, said: dict[str, object]) -> list[StreamPart]:
        opened, parts = self._opened(key, "reasoning")
        opened.signature = text_of(said.get("signature")) or opened.signature
        # The one name is the protocol's, the other one that of some recordings of it.
        sealed = text_of(said.get("redactedContent")) or text_of(said.get("data"))
        opened.sealed += [sealed] if sealed else []
        text = text_of(said.get("text"))
        return [*parts, ReasoningDelta(key, text)] if text else parts

    # --- sources and files ----------------------------------------------------------------

    def _cite(self, opened: _Open, citation: dict[str, object]) -> list[StreamPart]:
        opened.citations.append(citation)
        location = object_of(citation.get("location"))
        title = text_of(citation.get("title"))
        source_id = f"source-{self._sources}"
        self._sources += 1
        options = self._kept(citation)
        url = text_of(object_of(location.get("web")).get("url"))
        if url is not None:
            return [UrlSource(source_id, url, title=title, provider_options=options)]
        media_type = "application/pdf" if "documentPage" in location else "text/plain"
        name = title or text_of(citation.get("source")) or "document"
        return [DocumentSource(source_id, media_type, name, provider_options=options)]

    def _add_bytes(self, key: str, delta: dict[str, object]) -> None:
        for kind in _FILES:
            piece = text_of(object_of(object_of(delta.get(kind)).get("source")).get("bytes"))
            if piece:
                opened, _ = self._opened(key, kind)
                opened.pieces.append(piece)

    def _whole_file(self, block: dict[str, object]) -> list[StreamPart]:
        for kind in _FILES:
            value = object_of(block.get(kind))
            source = object_of(value.get("source"))
            encoded = text_of(source.get("bytes"))
            uri = text_of(object_of(source.get("s3Location")).get("uri"))
            if encoded:
                return [File(FileBytes(_joined([encoded])), _type_of(kind, value))]
            if uri:
                return [File(FileUrl(uri), _type_of(kind, value))]
        kinds = [name for name in block if name != "type"]
        options = self._kept({"block": block})
        return [Custom(f"{self._provider}.{name}", provider_options=options) for name in kinds[:1]]

    # --- calls ----------------------------------------------------------------------------

    def _begin_call(self, opened: _Open) -> list[StreamPart]:
        begun = opened.begun
        name = text_of(begun.get("name"))
        if not name:
            raise _impossible(f"block {opened.key} holds a tool call without a name")
        wire_id = text_of(begun.get("toolUseId"))
        opened.call_id = unused_call_id(wire_id, self._used)
        self._names[wire_id or ""] = name
        is_theirs = begun.get("type") == _SERVER
        return [ToolInputStart(opened.call_id, name, provider_executed=is_theirs)]

    def _end_call(self, opened: _Open) -> list[StreamPart]:
        call_id, parts = opened.call_id, list[StreamPart]()
        arguments = "".join(opened.pieces)
        if not arguments.strip():
            arguments = "{}"
            parts.append(ToolInputDelta(call_id, arguments))
        is_theirs = opened.begun.get("type") == _SERVER
        call = ToolCall(
            call_id,
            text_of(opened.begun.get("name")) or "",
            arguments,
            provider_executed=is_theirs,
            provider_options=self._kept({"type": _SERVER} if is_theirs else {}),
        )
        return [*parts, ToolInputEnd(call_id), call]

    def _result(self, begun: dict[str, object], content: list[object]) -> ToolResult:
        call_id = text_of(begun.get("toolUseId")) or ""
        kept = kept_json(content) or _NOTHING
        own = {name: begun[name] for name in ("type", "status") if begun.get(name) is not None}
        is_error = begun.get("status") == "error"
        return ToolResult(
            call_id,
            self._names.get(call_id) or text_of(begun.get("type")) or "tool",
            ErrorJsonOutput(kept) if is_error else JsonOutput(kept),
            provider_executed=True,
            provider_options=self._kept({"result": own}),
        )


def _seal_of(opened: _Open) -> dict[str, object]:
    """What has to go back with reasoning."""
    if opened.sealed:
        whole = opened.sealed[0] if len(opened.sealed) == 1 else None
        data = whole or b64encode(_joined(opened.sealed)).decode()
        return {"redacted_data": data}
    return {} if opened.signature is None else {"signature": opened.signature}


def _joined(pieces: list[str]) -> bytes:
    try:
        return b"".join(b64decode(piece, validate=True) for piece in pieces)
    except ValueError:
        raise _impossible("what should be bytes is not in base64") from None


def _type_of(kind: str, value: Mapping[str, object]) -> str:
    return media_type_of_block(kind, text_of(value.get("format")) or "*")


def _impossible(message: str) -> ModelError:
    return ModelError(violation(message))
