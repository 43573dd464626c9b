"""A streamed reply of Google: each event is a response that holds a piece of it.

There is no last event: a reply is whole when it has said why it ends, and over with the stream.
"""

from typing import final

from stepfold.providers._events import EventStream
from stepfold.providers.google_generate._reply import ReplyReader
from stepfold.values import StreamPart


@final
class GoogleReader:
    """Reads the events of one reply; an `EventReader`."""

    is_done: bool = False

    def __init__(
        self, provider: str, headers: tuple[tuple[str, str], ...], _: tuple[str, ...]
    ) -> None:
        self._reader = ReplyReader(provider, headers)

    @property
    def is_whole(self) -> bool:
        """Whether the reply has said why it ends."""
        return self._reader.is_whole

    def read(self, parts: list[StreamPart], event: dict[str, object]) -> None:
        """Take an event."""
        parts += self._reader.read(event)

    def end(self, parts: list[StreamPart]) -> None:
        """No more events come."""
        parts += self._reader.end()

    def abandon(self, parts: list[StreamPart]) -> None:
        """Nothing was held back."""


google_decoder: EventStream = EventStream(GoogleReader)
"""Makes the decoder of one streamed reply."""
