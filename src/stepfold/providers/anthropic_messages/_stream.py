"""The events of a streamed reply of Anthropic.

Rules that are ours to keep, beside those of `EventDecoder`:

* A stream is whole if `message_stop` came, a reason for the end before it, and every block had
  ended.
* `message_start` comes first. The same one again is ignored; another one is the start of
  another reply in the middle of this one, an error.
* A call is complete when its block is. Events and deltas of unknown types are ignored.
"""

from typing import final

from stepfold.providers._events import EventStream
from stepfold.providers._json import object_of, text_of
from stepfold.providers._replies import violation
from stepfold.providers.anthropic_messages._blocks import BlockReader
from stepfold.providers.anthropic_messages._reply import Facts, described, whole_blocks
from stepfold.values import ModelError, Ping, StreamPart


@final
class MessagesReader:
    """Reads the events of one reply; an `EventReader`."""

    def __init__(
        self, provider: str, headers: tuple[tuple[str, str], ...], _: tuple[str, ...]
    ) -> None:
        self._headers = headers
        self._blocks = BlockReader(provider)
        self._facts = Facts(provider)
        self._message: dict[str, object] | None = None
        self.is_done: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the reply has come to its end, which only its last event says."""
        return self.is_done

    def abandon(self, parts: list[StreamPart]) -> None:
        """Nothing was held back."""

    def end(self, parts: list[StreamPart]) -> None:
        """No more events come."""
        message = "the stream ended without message_stop: the reply may be cut"
        raise ModelError(violation(message))

    def read(self, parts: list[StreamPart], event: dict[str, object]) -> None:
        """Take an event."""
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


messages_decoder: EventStream = EventStream(MessagesReader)
"""Makes the decoder of one streamed reply."""
