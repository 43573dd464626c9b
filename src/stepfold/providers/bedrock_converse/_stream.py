"""The events of a streamed reply of Converse.

Rules that are ours to keep, beside those of `EventDecoder`:

* A stream is whole if `messageStop` came, with its reason. `metadata` comes after it, and ends
  the reply; it may be missing, and so may `messageStart`.
* A second `messageStart` like the first one is ignored; another one is an error, and so is
  whatever is said of the content after `messageStop`.
* Texts and reasoning have no start of their own, and their end may be missing. A call is complete
  when its block is, at the latest with the message.
* Events and deltas of unknown types are ignored.
"""

from typing import final

from stepfold.providers._events import EventStream
from stepfold.providers._failures import reason_of_error
from stepfold.providers._json import count_of, object_of
from stepfold.providers._replies import violation
from stepfold.providers.bedrock_converse._blocks import BlockReader
from stepfold.providers.bedrock_converse._frames import ConverseFrames
from stepfold.providers.bedrock_converse._reply import Facts, described
from stepfold.values import ModelError, StreamPart

_EXCEPTION = "Exception"


@final
class ConverseReader:
    """Reads the events of one reply; an `EventReader`."""

    def __init__(
        self, provider: str, headers: tuple[tuple[str, str], ...], secrets: tuple[str, ...]
    ) -> None:
        self._headers = headers
        self._secrets = secrets
        self._blocks = BlockReader(provider)
        self._facts = Facts(provider)
        self._start: dict[str, object] | None = None
        self._is_described = False
        self.is_done: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the reply has said why it ends."""
        return self._facts.stop_reason is not None

    def abandon(self, parts: list[StreamPart]) -> None:
        """Nothing was held back."""

    def read(self, parts: list[StreamPart], event: dict[str, object]) -> None:
        """Take an event."""
        if not self._is_described:
            self._is_described = True
            parts.append(described(self._headers))
        for name, value in event.items():
            if name.endswith(_EXCEPTION):
                code = name[:1].upper() + name[1:]
                error = reason_of_error(object_of(value), code=code, secrets=self._secrets)
                raise ModelError(error)
            self._take(parts, name, object_of(value))

    def end(self, parts: list[StreamPart]) -> None:
        """No more events come."""
        if not self.is_whole:
            message = "the stream ended without messageStop: the reply may be cut"
            raise ModelError(violation(message))
        parts += self._facts.finish()

    def _take(self, parts: list[StreamPart], name: str, value: dict[str, object]) -> None:
        match name:
            case "contentBlockDelta":
                key = self._key(name, value)
                parts += self._blocks.grow(key, object_of(value.get("delta")))
            case "contentBlockStart":
                key = self._key(name, value)
                parts += self._blocks.begin(key, object_of(value.get("start")))
            case "contentBlockStop":
                parts += self._blocks.close(self._key(name, value))
            case "messageStart":
                self._before_the_end(name)
                if self._start is not None and self._start != value:
                    raise ModelError(violation("another reply began before the end"))
                self._start = value
            case "messageStop":
                self._before_the_end(name)
                self._facts.note(value)
                if not self.is_whole:
                    raise ModelError(violation("messageStop came without a reason"))
                parts += self._blocks.close_all()
            case "metadata":
                self._facts.note(value)
            case _:
                return
        if self.is_whole and self._facts.has_usage:
            parts += self._facts.finish()
            self.is_done = True

    def _key(self, name: str, value: dict[str, object]) -> str:
        self._before_the_end(name)
        index = count_of(value.get("contentBlockIndex"))
        if index is None:
            raise ModelError(violation(f"{name} came without the index of its block"))
        return str(index)

    def _before_the_end(self, name: str) -> None:
        if self.is_whole:
            raise ModelError(violation(f"{name} came after messageStop"))


converse_decoder: EventStream = EventStream(ConverseReader, ConverseFrames)
"""Makes the decoder of one streamed reply."""
