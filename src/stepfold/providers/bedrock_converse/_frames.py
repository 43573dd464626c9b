"""The events of a stream: in Amazon's binary messages, or as text where it was written down.

A message becomes a JSON object with one member, named by its type, as the events are written in
the protocol's own description: `{"contentBlockDelta": {…}}`, `{"throttlingException": {…}}`.
"""

import json
from typing import final

from stepfold.providers._replies import violation
from stepfold.transport import AwsMessage, AwsMessageDecoder, SseDecoder
from stepfold.values import ModelError


@final
class ConverseFrames:
    """Finds the events; a `Framing`. The first byte tells: a binary message begins with a zero."""

    def __init__(self) -> None:
        self._messages: AwsMessageDecoder | None = None
        self._text: SseDecoder | None = None

    def feed_data(self, chunk: bytes) -> list[str]:
        """The events that this chunk completes.

        Raises:
            ModelError: of kind `protocol`, where the stream is damaged or an event is too long.
        """
        if self._messages is None and self._text is None and chunk:
            if chunk[0] == 0:
                self._messages = AwsMessageDecoder()
            else:
                self._text = SseDecoder()
        if self._messages is not None:
            return [_event(message) for message in self._messages.feed(chunk)]
        return [] if self._text is None else self._text.feed_data(chunk)

    def end_data(self) -> list[str]:
        """The last events, when no more bytes come.

        Raises:
            ModelError: of kind `protocol`, where the stream ends inside of a message.
        """
        if self._messages is not None:
            self._messages.end()
        return [] if self._text is None else self._text.end_data()


def _event(message: AwsMessage) -> str:
    kind = message.text(":message-type")
    if kind == "error":
        code, words = message.text(":error-code"), message.text(":error-message")
        return json.dumps({"error": {"code": code, "message": words}})
    name = message.text(":exception-type" if kind == "exception" else ":event-type")
    if name is None:
        raise ModelError(violation(f"the message at byte {message.offset} does not say its type"))
    return f"{{{json.dumps(name)}:{message.payload.decode('utf-8', 'replace') or '{}'}}}"
