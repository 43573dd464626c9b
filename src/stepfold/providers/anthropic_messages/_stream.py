"""A streamed reply, decoded without I/O: bytes in, parts out, whatever the chunks.

Rules that are ours to keep:

* Nothing raises. What is wrong with a stream is its last part, a `StreamError`; whatever comes
  after it, or after `message_stop`, is not read.
* A stream is whole if `message_stop` came, a reason for the end before it, and every block had
  ended. Anything else may be cut, however whole it looks: that is a `protocol` error.
* `message_start` comes first. The same one again is ignored; another one is the start of
  another reply in the middle of this one, an error.
* A call is complete when its block is. Events and deltas of unknown types are ignored.
"""

from typing import final

from stepfold.providers._failures import reason_of_error
from stepfold.providers._json import is_object, object_of, read_json, text_of
from stepfold.providers._replies import violation
from stepfold.providers.anthropic_messages._blocks import BlockReader
from stepfold.providers.anthropic_messages._reply import Facts, described, whole_blocks
from stepfold.transport import SseDecoder, without_secrets
from stepfold.values import (
    ModelError,
    ModelErrorReason,
    ModelWarning,
    Ping,
    StreamError,
    StreamPart,
    StreamStart,
    without_lone_surrogates,
)


@final
class MessagesStreamDecoder:
    """Decodes one streamed reply; `is_done` once its last part has been given."""

    def __init__(
        self,
        provider: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        warnings: tuple[ModelWarning, ...] = (),
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._secrets = secrets
        self._sse = SseDecoder()
        self._start: tuple[StreamPart, ...] = (StreamStart(warnings),)
        self._headers = headers
        self._blocks = BlockReader(provider)
        self._facts = Facts(provider)
        self._message: dict[str, object] | None = None
        self.is_done: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the reply has come to its end, which only its last event says."""
        return self.is_done

    def feed(self, chunk: bytes) -> tuple[StreamPart, ...]:
        """The parts that this chunk completes."""
        if self.is_done:
            return ()
        parts: list[StreamPart] = [*self._start]
        self._start = ()
        try:
            for data in self._sse.feed_data(chunk):
                self._read(parts, data)
                if self.is_whole:
                    break
        except ModelError as error:
            self._fail(parts, error.reason)
        return tuple(parts)

    def end(self) -> tuple[StreamPart, ...]:
        """The last parts, when no more bytes come."""
        parts = [*self.feed(b"\n\n")]  # which ends an event that lacks its last empty line
        if not self.is_done:
            message = "the stream ended without message_stop: the reply may be cut"
            self._fail(parts, violation(message))
        return tuple(parts)

    def _read(self, parts: list[StreamPart], data: str) -> None:
        is_json, value = read_json(data)
        if is_json and is_object(value):
            if value.get("type") == "error" or value.get("error"):
                self._fail(parts, reason_of_error(value, secrets=self._secrets))
            else:
                self._take(parts, value)
        elif data.strip() and data.strip() != "[DONE]":
            shown = without_secrets(without_lone_surrogates(data[:100]), *self._secrets)
            self._fail(parts, violation(f"the stream holds what is not JSON: {shown!r}"))

    def _take(self, parts: list[StreamPart], event: dict[str, object]) -> None:
        kind = text_of(event.get("type"))
        if kind == "ping":
            parts.append(Ping())
            return
        if kind == "message_start":
            self._begin(parts, object_of(event.get("message")))
            return
        key = str(event.get("index"))
        match kind:
            case "content_block_delta":
                self._started(kind)
                parts += self._blocks.grow(key, object_of(event.get("delta")))
            case "content_block_start":
                self._started(kind)
                parts += self._blocks.open(key, object_of(event.get("content_block")))
            case "content_block_stop":
                parts += self._blocks.close(key)
            case "message_delta":
                self._started(kind)
                self._facts.note({**event, **object_of(event.get("delta"))})
            case "message_stop":
                self._complete(parts)
            case _:
                pass

    def _begin(self, parts: list[StreamPart], message: dict[str, object]) -> None:
        if self._message is not None:
            if message != self._message:
                said = text_of(message.get("id"))
                raise ModelError(violation(f"another reply, {said!r}, began before the end"))
            return
        self._message = message
        self._facts.note(message)
        parts.append(described(message, self._headers))
        parts += whole_blocks(self._blocks, message, "start-")

    def _started(self, kind: str) -> None:
        if self._message is None:
            raise ModelError(violation(f"{kind} came before message_start"))

    def _complete(self, parts: list[StreamPart]) -> None:
        if self._blocks.is_open:
            raise ModelError(violation("message_stop came while a block was open"))
        if self._facts.stop_reason is None:
            raise ModelError(violation("the stream stopped without a reason"))
        parts.append(self._facts.finish())
        self.is_done = True

    def _fail(self, parts: list[StreamPart], reason: ModelErrorReason) -> None:
        parts.append(StreamError(reason))
        self.is_done = True
