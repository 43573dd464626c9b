"""A streamed reply, decoded without I/O: bytes in, parts out, whatever the chunks.

Rules that are ours to keep:

* Nothing raises. What is wrong with a stream is its last part, a `StreamError`; whatever comes
  after it, or after `[DONE]`, is not read.
* A stream is whole if some chunk gave a reason for its end; `[DONE]` may be missing. Without
  such a reason the reply may be cut, however whole it looks: that is a `protocol` error.
* Reasoning ends where text starts; text ends with the reply. Calls are completed by the end of
  the stream only, in order of their index.
"""

from typing import final

from stepfold.providers._failures import reason_of_error
from stepfold.providers._json import array_of, is_array, is_object, object_of, read_json, text_of
from stepfold.providers._replies import instant_of, shown_headers, violation
from stepfold.providers.openai_chat._reply import (
    Facts,
    call_items,
    finish_reason_of,
    pieces_of,
    reasoning_of,
    refusal_mark,
    sources_of,
    usage_of,
)
from stepfold.providers.openai_chat._tool_calls import ToolCallTracker
from stepfold.transport import SseDecoder, without_secrets
from stepfold.values import (
    NO_USAGE,
    Finish,
    ModelError,
    ModelErrorReason,
    ModelWarning,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseMetadata,
    StreamError,
    StreamPart,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    without_lone_surrogates,
)

_TEXT = "text-0"
_REFUSAL = "refusal-0"


@final
class ChatStreamDecoder:
    """Decodes one streamed reply; `is_done` once its last part has been given."""

    def __init__(
        self,
        provider: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        warnings: tuple[ModelWarning, ...] = (),
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._provider = provider
        self._secrets = secrets
        self._sse = SseDecoder()
        self._start: tuple[StreamPart, ...] = (StreamStart(warnings),)
        self._headers = shown_headers(headers)
        self._calls = ToolCallTracker(provider)
        self._facts = Facts()
        self._usage = NO_USAGE
        self._finish: str | None = None
        self._has_text = False
        self._has_refusal = False
        self._reasoning: str | None = None
        self._reasonings = 0
        self._sources = 0
        self._is_described = False
        self.is_done: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the reply has said why it ends: all that may still come is figures."""
        return self._finish is not None

    def feed(self, chunk: bytes) -> tuple[StreamPart, ...]:
        """The parts that this chunk completes."""
        if self.is_done:
            return ()
        parts: list[StreamPart] = [*self._start]
        self._start = ()
        try:
            events = self._sse.feed_data(chunk)
        except ModelError as error:
            self._fail(parts, error.reason)
        else:
            self._read(parts, events)
        return tuple(parts)

    def end(self) -> tuple[StreamPart, ...]:
        """The last parts, when no more bytes come."""
        parts = [*self.feed(b"\n\n")]  # which ends an event that lacks its last empty line
        if not self.is_done:
            if self._finish is None:
                message = "the stream ended without a reason: the reply may be cut"
                self._fail(parts, violation(message))
            else:
                self._complete(parts)
        return tuple(parts)

    def _read(self, parts: list[StreamPart], events: list[str]) -> None:
        for data in events:
            if data == "[DONE]" or data.strip() == "[DONE]":
                if self._finish is None:
                    self._fail(parts, violation("the stream was done without a finish reason"))
                else:
                    self._complete(parts)
                return
            is_json, value = read_json(data)
            if is_json and is_object(value):
                if value.get("error"):
                    self._fail(parts, reason_of_error(value, secrets=self._secrets))
                else:
                    self._take(parts, value)
            elif data.strip():
                shown = without_secrets(without_lone_surrogates(data[:100]), *self._secrets)
                self._fail(parts, violation(f"the stream holds what is not JSON: {shown!r}"))
            if self.is_done:
                return

    def _take(self, parts: list[StreamPart], value: dict[str, object]) -> None:
        if not self._is_described:
            self._describe(parts, value)
        choices = value.get("choices")
        choice = choices[0] if is_array(choices) and choices else None
        if is_object(choice) and not choice.get("index"):
            delta = choice.get("delta")
            if is_object(delta):
                content = delta.get("content")
                if content and len(delta) == 1 and isinstance(content, str):
                    self._say(parts, content)
                else:
                    self._take_delta(parts, delta)
            finish = choice.get("finish_reason")
            if finish or choice.get("logprobs"):
                self._finish = text_of(finish) or self._finish
                self._facts.note(value, choice)
        usage = value.get("usage")
        if usage is None and "x_groq" in value:
            usage = object_of(value["x_groq"]).get("usage")
        if is_object(usage):
            self._usage = usage_of(usage)
            self._facts.note(value, {})

    def _take_delta(self, parts: list[StreamPart], delta: dict[str, object]) -> None:
        for kind, words in (*reasoning_of(delta), *pieces_of(delta.get("content"))):
            if not words:
                continue
            if kind == "text":
                self._say(parts, words)
            else:
                self._think(parts, words)
        refusal = text_of(delta.get("refusal"))
        if refusal:
            if not self._has_refusal:
                self._has_refusal = True
                parts.append(TextStart(_REFUSAL, provider_options=refusal_mark(self._provider)))
            parts.append(TextDelta(_REFUSAL, refusal))
        if "annotations" in delta:
            sources = sources_of(delta["annotations"], self._sources)
            self._sources += len(sources)
            parts += sources
        if "tool_calls" in delta or "function_call" in delta:
            for item in call_items(delta):
                parts += self._calls.add(item)

    def _describe(self, parts: list[StreamPart], value: dict[str, object]) -> None:
        response_id, model_id = text_of(value.get("id")), text_of(value.get("model"))
        timestamp = instant_of(value.get("created"))
        if response_id or model_id or array_of(value.get("choices")):
            self._is_described = True
            self._facts.note(value, {})
            parts.append(
                ResponseMetadata(
                    id=response_id, model_id=model_id, timestamp=timestamp, headers=self._headers
                )
            )

    def _say(self, parts: list[StreamPart], words: str) -> None:
        if self._reasoning is not None:
            self._end_reasoning(parts)
        if not self._has_text:
            self._has_text = True
            parts.append(TextStart(_TEXT))
        parts.append(TextDelta(_TEXT, without_lone_surrogates(words)))

    def _think(self, parts: list[StreamPart], words: str) -> None:
        if self._reasoning is None:
            self._reasoning = f"reasoning-{self._reasonings}"
            self._reasonings += 1
            parts.append(ReasoningStart(self._reasoning))
        parts.append(ReasoningDelta(self._reasoning, without_lone_surrogates(words)))

    def _end_reasoning(self, parts: list[StreamPart]) -> None:
        if self._reasoning is not None:
            parts.append(ReasoningEnd(self._reasoning))
            self._reasoning = None

    def _complete(self, parts: list[StreamPart]) -> None:
        if self._headers and not self._is_described:
            parts.append(ResponseMetadata(headers=self._headers))
        self._end_reasoning(parts)
        if self._has_text:
            parts.append(TextEnd(_TEXT))
        if self._has_refusal:
            parts.append(TextEnd(_REFUSAL, provider_options=refusal_mark(self._provider)))
        ends = self._calls.finish()
        if ends is None:
            self._fail(parts, violation("the stream holds a tool call without a name"))
            return
        parts += ends
        finish_reason = finish_reason_of(self._finish, refused=self._has_refusal)
        metadata = self._facts.metadata(self._provider)
        parts.append(Finish(finish_reason, self._usage, provider_metadata=metadata))
        self.is_done = True

    def _fail(self, parts: list[StreamPart], reason: ModelErrorReason) -> None:
        parts.append(StreamError(reason))
        self.is_done = True
