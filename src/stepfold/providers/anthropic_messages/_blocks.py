"""Content blocks as stream parts: the one reading of a reply, whole or streamed.

    text                      a text block; its citations are sources, and stay with it
    thinking                  a reasoning block; the signature comes with its end
    redacted_thinking         reasoning without words
    tool_use                  a client call
    *_tool_use                a call that the provider answers; its type stays with it
    *_tool_result             the answer; search results are sources as well
    anything else             a custom part `anthropic.<type>`, which holds the block

A block that came whole is one that is opened and closed at once.
"""

from collections.abc import Mapping
from typing import final

from attrs import define, field

from stepfold.providers._json import array_of, is_object, object_of, text_of
from stepfold.providers._replies import kept_json, unused_call_id, violation
from stepfold.values import (
    Custom,
    DocumentSource,
    ErrorJsonOutput,
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

_CALL = "_tool_use"
_RESULT = "_tool_result"
_DOCUMENT_TYPES = {"page_location": "application/pdf"}
_NO_JSON = JsonText("null")


@define(eq=False)
class _Open:
    """A block that is still growing; `pieces` are those of its signature or arguments."""

    key: str
    kind: str
    block: dict[str, object]
    call_id: str = ""
    pieces: list[str] = field(factory=list[str])
    citations: list[object] = field(factory=list[object])


@final
class BlockReader:
    """Reads the blocks of one reply, by keys that no two of them share.

    What is impossible raises `ModelError`, which the decoders turn into a value.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._open: dict[str, _Open] = {}
        self._known: set[str] = set()
        self._used: set[str] = set()
        self._names: dict[str, str] = {}
        self._sources = 0

    @property
    def is_open(self) -> bool:
        """Whether a block has not ended yet."""
        return bool(self._open)

    def open(self, key: str, block: dict[str, object]) -> list[StreamPart]:
        """Begin a block, with what of it is there already."""
        if key in self._known:
            raise _impossible(f"block {key} was started twice")
        self._known.add(key)
        kind = text_of(block.get("type"))
        if not kind:
            raise _impossible(f"block {key} has no type")
        opened = _Open(key, kind, block)
        self._open[key] = opened
        if kind == "text":
            parts: list[StreamPart] = [TextStart(key), *self._say(opened, block.get("text"))]
            for citation in array_of(block.get("citations")):
                parts += self._cite(opened, citation)
            return parts
        if kind == "thinking":
            signature = text_of(block.get("signature"))
            opened.pieces += [signature] if signature else []
            return [ReasoningStart(key), *self._think(opened, block.get("thinking"))]
        if kind == "redacted_thinking":
            return [ReasoningStart(key)]
        return [self._begin_call(opened)] if _is_call(kind) else []

    def grow(self, key: str, delta: dict[str, object]) -> list[StreamPart]:
        """Add to a block; deltas of an unknown type add nothing."""
        opened = self._opened(key)
        kind = delta.get("type")
        match kind, opened.kind:
            case "text_delta", "text":
                return self._say(opened, delta.get("text"))
            case "thinking_delta", "thinking":
                return self._think(opened, delta.get("thinking"))
            case "signature_delta", "thinking":
                # One that is not empty is whole: it replaces, as the official client has it.
                signature = text_of(delta.get("signature"))
                opened.pieces = [signature] if signature else opened.pieces
            case "citations_delta", "text":
                return self._cite(opened, delta.get("citation"))
            case "input_json_delta", _ if _is_call(opened.kind):
                piece = text_of(delta.get("partial_json"))
                if piece:
                    opened.pieces.append(piece)
                    return [ToolInputDelta(opened.call_id, piece)]
            case "compaction_delta", "compaction":
                before = text_of(opened.block.get("content")) or ""
                more = text_of(delta.get("content"))
                opened.block = {**opened.block, "content": before + more if more else before}
            case (("text_delta" | "thinking_delta" | "input_json_delta"), _):
                raise _impossible(f"a {kind} came for block {key}, which is {opened.kind!r}")
            case _:
                pass
        return []

    def close(self, key: str) -> list[StreamPart]:
        """End a block."""
        opened = self._opened(key)
        del self._open[key]
        match opened.kind:
            case "text":
                cited = {"citations": opened.citations} if opened.citations else {}
                return [TextEnd(key, provider_options=self._kept(cited))]
            case "thinking":
                signed = {"signature": opened.pieces[-1]} if opened.pieces else {}
                return [ReasoningEnd(key, provider_options=self._kept(signed))]
            case "redacted_thinking":
                redacted = {"redacted_data": opened.block.get("data")}
                return [ReasoningEnd(key, provider_options=self._kept(redacted))]
            case kind if _is_call(kind):
                return self._end_call(opened)
            case kind if kind.endswith(_RESULT):
                return self._result(opened.block, kind)
            case kind:
                name = f"{self._provider}.{kind}"
                return [Custom(name, provider_options=self._kept(opened.block))]

    def _opened(self, key: str) -> _Open:
        opened = self._open.get(key)
        if opened is None:
            raise _impossible(f"a part of block {key} came, which is not open")
        return opened

    def _kept(self, members: Mapping[str, object]) -> JsonText | None:
        return kept_json({self._provider: members}) if members else None

    @staticmethod
    def _say(opened: _Open, words: object) -> list[StreamPart]:
        text = text_of(words)
        return [TextDelta(opened.key, text)] if text else []

    @staticmethod
    def _think(opened: _Open, words: object) -> list[StreamPart]:
        text = text_of(words)
        return [ReasoningDelta(opened.key, text)] if text else []

    # --- sources --------------------------------------------------------------------------

    def _cite(self, opened: _Open, value: object) -> list[StreamPart]:
        if not is_object(value):
            return []
        # A prompt may not hold the id of the file, which only replies have.
        citation = {name: item for name, item in value.items() if name != "file_id"}
        opened.citations.append(citation)
        url = text_of(citation.get("url"))
        if url is not None:
            return [self._page(url, citation)]
        index = citation.get("document_index")
        if index is None:
            return []
        title = text_of(citation.get("document_title")) or f"document {index}"
        media_type = _DOCUMENT_TYPES.get(text_of(citation.get("type")) or "", "text/plain")
        source = DocumentSource(
            self._source_id(), media_type, title, provider_options=self._kept(citation)
        )
        return [source]

    def _page(self, url: str, found: dict[str, object]) -> UrlSource:
        left = {
            name: value
            for name, value in found.items()
            if name not in {"type", "url", "title", "encrypted_content"} and value is not None
        }
        title = text_of(found.get("title"))
        return UrlSource(self._source_id(), url, title=title, provider_options=self._kept(left))

    def _source_id(self) -> str:
        self._sources += 1
        return f"source-{self._sources - 1}"

    # --- calls ----------------------------------------------------------------------------

    def _begin_call(self, opened: _Open) -> ToolInputStart:
        block, kind = opened.block, opened.kind
        name = text_of(block.get("name"))
        if not name:
            raise _impossible(f"block {opened.key} holds a tool call without a name")
        wire_id = text_of(block.get("id"))
        opened.call_id = unused_call_id(wire_id, self._used)
        self._names[wire_id or ""] = name
        return ToolInputStart(
            opened.call_id,
            name,
            provider_executed=kind != "tool_use",
            dynamic=kind.startswith("mcp"),
        )

    def _end_call(self, opened: _Open) -> list[StreamPart]:
        block, kind, call_id = opened.block, opened.kind, opened.call_id
        parts: list[StreamPart] = []
        arguments = "".join(opened.pieces)
        if not arguments.strip():
            given = block.get("input")
            kept = kept_json(given) if is_object(given) else None
            arguments = kept.text if kept is not None else "{}"
            parts.append(ToolInputDelta(call_id, arguments))
        is_ours = kind == "tool_use"
        options = _left_of(block, "id", "name", "input", *(["type"] if is_ours else []))
        call = ToolCall(
            call_id,
            text_of(block.get("name")) or "",
            arguments,
            provider_executed=not is_ours,
            dynamic=kind.startswith("mcp"),
            provider_options=self._kept(options),
        )
        return [*parts, ToolInputEnd(call_id), call]

    def _result(self, block: dict[str, object], kind: str) -> list[StreamPart]:
        call_id = text_of(block.get("tool_use_id")) or ""
        content = block.get("content")
        kept = kept_json(content) or _NO_JSON
        shape = text_of(object_of(content).get("type")) or ""
        is_error = block.get("is_error") is True or shape.endswith("_error")
        result = ToolResult(
            call_id,
            self._names.get(call_id) or kind.removesuffix(_RESULT),
            ErrorJsonOutput(kept) if is_error else JsonOutput(kept),
            provider_executed=True,
            dynamic=kind.startswith("mcp"),
            provider_options=self._kept(_left_of(block, "tool_use_id", "content")),
        )
        pages = [
            self._page(url, item)
            for item in map(object_of, array_of(content))
            if item.get("type") == "web_search_result"
            and (url := text_of(item.get("url"))) is not None
        ]
        return [result, *pages]


def _is_call(kind: str) -> bool:
    return kind == "tool_use" or kind.endswith(_CALL)


def _left_of(block: dict[str, object], *taken: str) -> dict[str, object]:
    """What else a block holds, for its way back; that a call is a direct one need not be said."""
    return {
        name: value
        for name, value in block.items()
        if name not in taken
        and value is not None
        and not (name == "caller" and object_of(value).get("type") == "direct")
    }


def _impossible(message: str) -> ModelError:
    return ModelError(violation(message))
