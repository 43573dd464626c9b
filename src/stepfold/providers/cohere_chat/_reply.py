"""What a reply in one piece and a streamed one have in common, and the former.

    a tool plan      a reasoning block, marked as a plan
    thinking         a reasoning block
    text             a text block
    citations        sources, one for each thing that is cited
    tool calls       client calls

A reply in one piece is read as the events that would have made it.
"""

from collections.abc import Iterator, Mapping
from typing import final

from attrs import define, field

from stepfold.loop import fold_parts
from stepfold.providers._failures import reason_of_error
from stepfold.providers._json import array_of, count_of, is_object, object_of, text_of
from stepfold.providers._replies import (
    kept_json,
    reply_object,
    shown_headers,
    unused_call_id,
    violation,
)
from stepfold.values import (
    NO_USAGE,
    DocumentSource,
    Failure,
    Finish,
    FinishReason,
    InputTokenDetails,
    JsonText,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelWarning,
    Outcome,
    OutputTokenDetails,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseMetadata,
    StreamPart,
    StreamStart,
    Success,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    UnifiedFinishReason,
    Usage,
)

Event = dict[str, object]

_FINISH_REASONS: dict[str, UnifiedFinishReason] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool-calls",
    "ERROR_TOXIC": "content-filter",
    "ERROR": "error",
    "TIMEOUT": "error",
}
_PLAN = "plan"


def decode_reply(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    warnings: tuple[ModelWarning, ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[ModelReply, ModelErrorReason]:
    """Decode a reply that came in one piece, with status 200; total."""
    document = reply_object(body, secrets)
    if isinstance(document, Failure):
        return document
    value = document.unwrap()
    if not is_object(value.get("message")):
        if value.get("error") or isinstance(value.get("message"), str):
            return Failure(reason_of_error(value, secrets=secrets))
        return Failure(violation("the server's reply holds no message"))
    reader = ReplyReader(provider, headers, secrets)
    parts: list[StreamPart] = [StreamStart(warnings)]
    try:
        for event in _events_of(value):
            reader.read(parts, event)
        return Success(fold_parts(parts))
    except ModelError as error:
        return Failure(error.reason)


def _events_of(value: Event) -> Iterator[Event]:
    """The events that would have made a reply."""
    message = object_of(value["message"])
    yield {"type": "message-start", "id": value.get("id")}
    plan = text_of(message.get("tool_plan"))
    if plan:
        yield _event("tool-plan-delta", {"tool_plan": plan})
    for index, content in enumerate(array_of(message.get("content"))):
        yield _event("content-start", {"content": content}, index)
        yield _event("content-end", {}, index)
    for index, citation in enumerate(array_of(message.get("citations"))):
        yield _event("citation-start", {"citations": citation}, index)
    for index, call in enumerate(array_of(message.get("tool_calls"))):
        yield _event("tool-call-start", {"tool_calls": call}, index)
        yield _event("tool-call-end", {}, index)
    end = {name: value.get(name) for name in ("finish_reason", "usage")}
    yield {"type": "message-end", "delta": end}


def _event(kind: str, message: Event, index: int = 0) -> Event:
    return {"type": kind, "index": index, "delta": {"message": message}}


@define(eq=False)
class _Call:
    call_id: str
    name: str
    pieces: list[str] = field(factory=list[str])


@final
class ReplyReader:
    """Reads a reply event by event; an `EventReader`."""

    def __init__(
        self, provider: str, headers: tuple[tuple[str, str], ...], secrets: tuple[str, ...]
    ) -> None:
        self._provider = provider
        self._headers = shown_headers(headers)
        self._secrets = secrets
        self._start: Event | None = None
        self._open: dict[str, str] = {}
        self._calls: dict[str, _Call] = {}
        self._ended: set[str] = set()
        self._used: set[str] = set()
        self._sources = 0
        self.is_done: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the reply has come to its end, which only its last event says."""
        return self.is_done

    def read(self, parts: list[StreamPart], event: Event) -> None:
        """Take an event; those of unknown types say nothing."""
        parts += self._parts_of(event)

    def end(self, parts: list[StreamPart]) -> None:
        """No more events come."""
        message = "the stream ended without message-end: the reply may be cut"
        raise ModelError(violation(message))

    def abandon(self, parts: list[StreamPart]) -> None:
        """Nothing was held back."""

    def _parts_of(self, event: Event) -> list[StreamPart]:
        key = str(event.get("index"))
        delta = object_of(event.get("delta"))
        message = object_of(delta.get("message"))
        match event.get("type"):
            case "content-delta":
                return self._grow(key, object_of(message.get("content")))
            case "content-start":
                return self._begin(key, object_of(message.get("content")))
            case "content-end":
                return self._end(key)
            case "tool-plan-delta":
                return self._plan(text_of(message.get("tool_plan")))
            case "tool-call-start":
                return self._begin_call(key, _first(message.get("tool_calls")))
            case "tool-call-delta":
                return self._grow_call(key, _first(message.get("tool_calls")))
            case "tool-call-end":
                return self._end_call(key)
            case "citation-start":
                return self._cite(_first(message.get("citations")))
            case "message-start":
                return self._described(event)
            case "message-end":
                return self._finish(delta)
            case _:
                return []

    # --- texts ----------------------------------------------------------------------------

    def _begin(self, key: str, content: Event) -> list[StreamPart]:
        if key in self._open or key in self._ended:
            raise _impossible(f"content {key} was started twice")
        kind = text_of(content.get("type")) or "text"
        self._open[key] = kind
        start = ReasoningStart(key) if kind == "thinking" else TextStart(key)
        return [*self._end_plan(), start, *self._grow(key, content)]

    def _grow(self, key: str, content: Event) -> list[StreamPart]:
        kind = self._open.get(key)
        if kind is None:
            raise _impossible(f"a part of content {key} came, which is not open")
        name = "thinking" if kind == "thinking" else "text"
        words = text_of(content.get(name))
        if not words:
            return []
        return [ReasoningDelta(key, words) if name == "thinking" else TextDelta(key, words)]

    def _end(self, key: str) -> list[StreamPart]:
        kind = self._open.pop(key, None)
        if kind is None:
            raise _impossible(f"content {key} ended, which is not open")
        self._ended.add(key)
        return [ReasoningEnd(key) if kind == "thinking" else TextEnd(key)]

    def _plan(self, words: str | None) -> list[StreamPart]:
        if not words:
            return []
        if _PLAN in self._ended:
            raise _impossible("more of the tool plan came after its end")
        parts: list[StreamPart] = [] if _PLAN in self._open else [ReasoningStart(_PLAN)]
        self._open[_PLAN] = _PLAN
        return [*parts, ReasoningDelta(_PLAN, words)]

    def _end_plan(self) -> list[StreamPart]:
        if self._open.pop(_PLAN, None) is None:
            return []
        self._ended.add(_PLAN)
        return [ReasoningEnd(_PLAN, provider_options=self._kept({"tool_plan": True}))]

    def _kept(self, members: Mapping[str, object]) -> JsonText | None:
        return kept_json({self._provider: members})

    def _cite(self, citation: Event) -> list[StreamPart]:
        parts: list[StreamPart] = []
        for source in map(object_of, array_of(citation.get("sources"))):
            document = object_of(source.get("document") or source.get("tool_output"))
            title = text_of(document.get("title")) or text_of(source.get("id")) or "document"
            options = self._kept({**citation, "sources": [source]})
            source_id = f"source-{self._sources}"
            parts.append(DocumentSource(source_id, "text/plain", title, provider_options=options))
            self._sources += 1
        return parts

    # --- calls ----------------------------------------------------------------------------

    def _begin_call(self, key: str, call: Event) -> list[StreamPart]:
        function = object_of(call.get("function"))
        name = text_of(function.get("name"))
        if not name:
            raise _impossible("a tool call without a name came")
        if key in self._calls:
            raise _impossible(f"call {key} was started twice")
        opened = _Call(unused_call_id(text_of(call.get("id")), self._used), name)
        self._calls[key] = opened
        parts = [*self._end_plan(), ToolInputStart(opened.call_id, name)]
        return [*parts, *self._grow_call(key, call)]

    def _grow_call(self, key: str, call: Event) -> list[StreamPart]:
        opened = self._calls.get(key)
        if opened is None:
            raise _impossible(f"a part of call {key} came, which is not open")
        piece = text_of(object_of(call.get("function")).get("arguments"))
        # No arguments at all are `null` in a reply in one piece.
        if not piece or (piece == "null" and not opened.pieces):
            return []
        opened.pieces.append(piece)
        return [ToolInputDelta(opened.call_id, piece)]

    def _end_call(self, key: str) -> list[StreamPart]:
        opened = self._calls.pop(key, None)
        if opened is None:
            raise _impossible(f"call {key} ended, which is not open")
        arguments = "".join(opened.pieces)
        parts: list[StreamPart] = []
        if not arguments.strip():
            arguments = "{}"
            parts.append(ToolInputDelta(opened.call_id, arguments))
        call = ToolCall(opened.call_id, opened.name, arguments)
        return [*parts, ToolInputEnd(opened.call_id), call]

    # --- beginning and end ----------------------------------------------------------------

    def _described(self, event: Event) -> list[StreamPart]:
        if self._start is not None:
            if event != self._start:
                said = text_of(event.get("id"))
                raise _impossible(f"another reply, {said!r}, began before the end")
            return []
        self._start = event
        return [ResponseMetadata(id=text_of(event.get("id")), headers=self._headers)]

    def _finish(self, delta: Event) -> list[StreamPart]:
        error = text_of(delta.get("error"))
        if error:
            raise ModelError(reason_of_error({"message": error}, secrets=self._secrets))
        raw = text_of(delta.get("finish_reason"))
        if raw is None:
            raise _impossible("the message ended without a reason: it may be cut")
        parts = self._end_plan()
        for key in tuple(self._open):
            parts += self._end(key)
        for key in tuple(self._calls):
            parts += self._end_call(key)
        usage = object_of(delta.get("usage"))
        metadata = kept_json({self._provider: {"usage": usage}}) if usage else None
        reason = FinishReason(_FINISH_REASONS.get(raw, "other"), raw)
        self.is_done = True
        return [*parts, Finish(reason, usage_of(usage), provider_metadata=metadata)]


def usage_of(value: Event) -> Usage:
    """Token counts, not those that are billed. What the cache gave is part of the input."""
    tokens = object_of(value.get("tokens"))
    if not tokens:
        return NO_USAGE
    inputs, outputs = _count(tokens.get("input_tokens")), _count(tokens.get("output_tokens"))
    cached = _count(value.get("cached_tokens"))
    fresh = None if inputs is None or cached is None else max(0, inputs - cached)
    return Usage(
        inputs,
        outputs,
        input_token_details=InputTokenDetails(fresh, cached, None),
        output_token_details=OutputTokenDetails(),
    )


def _count(figure: object) -> int | None:
    """Counts come as whole numbers that may be written as floats."""
    is_whole = isinstance(figure, float) and figure.is_integer()
    return count_of(int(figure) if isinstance(figure, float) and is_whole else figure)


def _first(value: object) -> Event:
    """An object, or the first one of a list."""
    return object_of(next(iter(array_of(value)), value))


def _impossible(message: str) -> ModelError:
    return ModelError(violation(message))
