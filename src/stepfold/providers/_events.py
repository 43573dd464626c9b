"""Streamed replies: bytes in, parts out, whatever the chunks. What all protocols have in common.

A protocol is an `EventReader`, which makes parts of one JSON event after another. Around it:

* Nothing raises. What is wrong with a stream is its last part, a `StreamError`; whatever comes
  after it, or after the end of the reply, is not read.
* An event is a JSON object. What is none is a violation, and so is whatever the reader says.
* An event that reports an error (`error`, or the type of that name) ends the stream with it.
* `[DONE]` is the end of the stream; it may be missing. Whether the reply is whole by then is for
  the reader to say: one that may be cut, however whole it looks, is a violation.
"""

from collections.abc import Callable
from typing import Protocol, final

from attrs import frozen

from stepfold.loop import fold_parts
from stepfold.providers._failures import excerpt, reason_of_error
from stepfold.providers._json import is_object, read_json
from stepfold.providers._replies import reply_object, violation
from stepfold.transport import SseDecoder
from stepfold.values import (
    Failure,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelWarning,
    Outcome,
    StreamError,
    StreamPart,
    StreamStart,
    Success,
)


class EventReader(Protocol):
    """Makes parts of the events of one reply, and adds them to those that it is given.

    `read` and `end` raise `ModelError` where the events make no sense; what they had added
    before that stands.
    """

    @property
    def is_done(self) -> bool:
        """Whether the reply has come to its end: no event after it is read."""
        ...

    @property
    def is_whole(self) -> bool:
        """Whether the reply has said why it ends: all that may still come is figures."""
        ...

    def read(self, parts: list[StreamPart], event: dict[str, object]) -> None:
        """Take an event."""
        ...

    def end(self, parts: list[StreamPart]) -> None:
        """No more events come."""
        ...

    def abandon(self, parts: list[StreamPart]) -> None:
        """The stream has failed: give what was held back."""
        ...


class Framing(Protocol):
    """Finds the events in bytes; raises `ModelError` where there are none to be found."""

    def feed_data(self, chunk: bytes) -> list[str]:
        """The events that this chunk completes."""
        ...

    def end_data(self) -> list[str]:
        """The last events, when no more bytes come."""
        ...


class MakeReader(Protocol):
    """Makes the reader of one reply; `headers` are those of the response."""

    def __call__(
        self, provider: str, headers: tuple[tuple[str, str], ...], secrets: tuple[str, ...], /
    ) -> EventReader: ...


@final
class EventDecoder:
    """Decodes one streamed reply; a `WireDecoder`."""

    __slots__ = ("_frames", "_reader", "_secrets", "_start", "is_done")

    def __init__(
        self,
        reader: EventReader,
        frames: Framing,
        warnings: tuple[ModelWarning, ...],
        secrets: tuple[str, ...],
    ) -> None:
        self._reader = reader
        self._frames = frames
        self._secrets = secrets
        self._start: tuple[StreamPart, ...] = (StreamStart(warnings),)
        self.is_done: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the reply has said why it ends: all that may still come is figures."""
        return self.is_done or self._reader.is_whole

    def feed(self, chunk: bytes) -> tuple[StreamPart, ...]:
        """The parts that this chunk completes."""
        if self.is_done:
            return ()
        parts: list[StreamPart] = [*self._start]
        self._start = ()
        try:
            self._read(parts, self._frames.feed_data(chunk))
        except ModelError as error:
            self._fail(parts, error.reason)
        return tuple(parts)

    def end(self) -> tuple[StreamPart, ...]:
        """The last parts, when no more bytes come."""
        if self.is_done:
            return ()
        parts: list[StreamPart] = [*self._start]
        self._start = ()
        try:
            self._read(parts, self._frames.end_data())
            if not self.is_done:
                self._reader.end(parts)
                self.is_done = True
        except ModelError as error:
            self._fail(parts, error.reason)
        return tuple(parts)

    def _read(self, parts: list[StreamPart], events: list[str]) -> None:
        reader = self._reader
        for data in events:
            is_json, value = read_json(data)
            if is_json and is_object(value):
                if value.get("error") or value.get("type") == "error":
                    raise ModelError(reason_of_error(value, secrets=self._secrets))
                reader.read(parts, value)
                if reader.is_done:
                    self.is_done = True
                    return
            elif data.strip() == "[DONE]":
                reader.end(parts)
                self.is_done = True
                return
            elif data.strip():
                shown = excerpt(data, self._secrets)
                raise ModelError(violation(f"the stream holds what is not JSON: {shown!r}"))

    def _fail(self, parts: list[StreamPart], reason: ModelErrorReason) -> None:
        self._reader.abandon(parts)
        parts.append(StreamError(reason))
        self.is_done = True


@final
@frozen(eq=False)
class EventStream:
    """How the streams of a protocol are read: makes a decoder for each; a `MakeDecoder`."""

    make_reader: MakeReader
    make_frames: Callable[[], Framing] = SseDecoder

    def __call__(
        self,
        provider: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        warnings: tuple[ModelWarning, ...] = (),
        secrets: tuple[str, ...] = (),
    ) -> EventDecoder:
        """The decoder of one reply."""
        reader = self.make_reader(provider, headers, secrets)
        return EventDecoder(reader, self.make_frames(), warnings, secrets)

    def decode_body(
        self,
        body: bytes,
        provider: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        warnings: tuple[ModelWarning, ...] = (),
        secrets: tuple[str, ...] = (),
    ) -> Outcome[ModelReply, ModelErrorReason]:
        """A reply in one piece, where its body has the form of an event; a `DecodeReply`."""
        document = reply_object(body, secrets)
        if isinstance(document, Failure):
            return document
        event = document.unwrap()
        if event.get("error") or event.get("type") == "error":
            return Failure(reason_of_error(event, secrets=secrets))
        reader = self.make_reader(provider, headers, secrets)
        parts: list[StreamPart] = [StreamStart(warnings)]
        try:
            reader.read(parts, event)
            if not reader.is_done:
                reader.end(parts)
            return Success(fold_parts(parts))
        except ModelError as error:
            return Failure(error.reason)
