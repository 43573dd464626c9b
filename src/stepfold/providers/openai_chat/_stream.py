"""The events of a streamed reply of chat completions.

Rules that are ours to keep, beside those of `EventDecoder`:

* A stream is whole if some chunk gave a reason for its end; `[DONE]` may be missing.
* Reasoning ends where text starts; text ends with the reply. Calls are completed by the end of
  the stream only, in order of their index.
"""

from typing import final

from stepfold.providers._events import EventStream
from stepfold.providers._json import array_of, is_array, is_object, object_of, text_of
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
from stepfold.values import (
    NO_USAGE,
    Finish,
    ModelError,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseMetadata,
    StreamPart,
    TextDelta,
    TextEnd,
    TextStart,
    without_lone_surrogates,
)

_TEXT = "text-0"
_REFUSAL = "refusal-0"


@final
class ChatReader:
    """Reads the events of one reply; an `EventReader`."""

    is_done: bool = False

    def __init__(
        self, provider: str, headers: tuple[tuple[str, str], ...], _: tuple[str, ...]
    ) -> None:
        self._provider = provider
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

    @property
    def is_whole(self) -> bool:
        """Whether the reply has said why it ends: all that may still come is figures."""
        return self._finish is not None

    def abandon(self, parts: list[StreamPart]) -> None:
        """Nothing was held back."""

    def read(self, parts: list[StreamPart], event: dict[str, object]) -> None:
        """Take an event."""
        if not self._is_described:
            self._describe(parts, event)
        choices = event.get("choices")
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
                self._facts.note(event, choice)
        usage = event.get("usage")
        if usage is None and "x_groq" in event:
            usage = object_of(event["x_groq"]).get("usage")
        if is_object(usage):
            self._usage = usage_of(usage)
            self._facts.note(event, {})

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

    def end(self, parts: list[StreamPart]) -> None:
        """No more events come."""
        if self._finish is None:
            message = "the stream ended without a reason: the reply may be cut"
            raise ModelError(violation(message))
        if self._headers and not self._is_described:
            parts.append(ResponseMetadata(headers=self._headers))
        self._end_reasoning(parts)
        if self._has_text:
            parts.append(TextEnd(_TEXT))
        if self._has_refusal:
            parts.append(TextEnd(_REFUSAL, provider_options=refusal_mark(self._provider)))
        ends = self._calls.finish()
        if ends is None:
            raise ModelError(violation("the stream holds a tool call without a name"))
        parts += ends
        finish_reason = finish_reason_of(self._finish, refused=self._has_refusal)
        metadata = self._facts.metadata(self._provider)
        parts.append(Finish(finish_reason, self._usage, provider_metadata=metadata))


chat_decoder: EventStream = EventStream(ChatReader)
"""Makes the decoder of one streamed reply."""
