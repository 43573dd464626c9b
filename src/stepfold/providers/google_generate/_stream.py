"""A streamed reply of Google: each event is a response that holds a piece of it.

There is no last event: a reply is whole when it has said why it ends, and over with the stream.
"""

from typing import final

from stepfold.providers._failures import reason_of_error
from stepfold.providers._json import is_object, read_json
from stepfold.providers._replies import violation
from stepfold.providers.google_generate._reply import ReplyReader
from stepfold.transport import SseDecoder, without_secrets
from stepfold.values import (
    ModelError,
    ModelErrorReason,
    ModelWarning,
    StreamError,
    StreamPart,
    StreamStart,
    without_lone_surrogates,
)


@final
class GoogleStreamDecoder:
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
        self._reader = ReplyReader(provider, headers)
        self.is_done: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the reply has said why it ends."""
        return self._reader.is_whole

    def feed(self, chunk: bytes) -> tuple[StreamPart, ...]:
        """The parts that this chunk completes."""
        if self.is_done:
            return ()
        parts: list[StreamPart] = [*self._start]
        self._start = ()
        try:
            for data in self._sse.feed_data(chunk):
                if not self._read(parts, data):
                    break
        except ModelError as error:
            self._fail(parts, error.reason)
        return tuple(parts)

    def end(self) -> tuple[StreamPart, ...]:
        """The last parts, when no more bytes come."""
        parts = [*self.feed(b"\n\n")]  # which ends an event that lacks its last empty line
        if not self.is_done:
            try:
                parts += self._reader.end()
            except ModelError as error:
                self._fail(parts, error.reason)
            self.is_done = True
        return tuple(parts)

    def _read(self, parts: list[StreamPart], data: str) -> bool:
        """Take an event; whether there may be others."""
        is_json, value = read_json(data)
        if is_json and is_object(value):
            if value.get("error"):
                return self._fail(parts, reason_of_error(value, secrets=self._secrets))
            parts += self._reader.read(value)
        elif data.strip() and data.strip() != "[DONE]":
            shown = without_secrets(without_lone_surrogates(data[:100]), *self._secrets)
            return self._fail(parts, violation(f"the stream holds what is not JSON: {shown!r}"))
        return True

    def _fail(self, parts: list[StreamPart], reason: ModelErrorReason) -> bool:
        parts.append(StreamError(reason))
        self.is_done = True
        return False
