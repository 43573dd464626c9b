"""What a provider sends when all is well, as the user of a check gives it."""

import re
from collections.abc import Sequence
from typing import Final, final

from attrs import field, frozen

from stepfold.values import UsageError

_END_OF_EVENT: Final = re.compile(rb"(?<=\n\n)|(?<=\r\n\r\n)|(?<=\r\r)")


def _event_tuple(events: Sequence[bytes]) -> tuple[bytes, ...]:
    return tuple(events)


@final
@frozen(order=False, kw_only=True)
class ProviderSample:
    """One reply, or one error, as a provider sends it.

    `events` are the pieces of a stream, each with all its framing, and `body` is a response in
    one piece; where both are given they are to say the same. `is_error` marks an error: one
    inside a stream, in a body, or, with `status`, in the body of a refusal.
    """

    name: str
    events: tuple[bytes, ...] = field(default=(), converter=_event_tuple)
    body: bytes = b""
    is_error: bool = False
    status: int = 200
    content_type: str = "text/event-stream"
    """The type of the stream."""

    def __attrs_post_init__(self) -> None:
        if not any(self.events) and not self.body:
            raise UsageError(f"the sample {self.name!r} holds neither events nor a body")
        if self.status >= 400 and not self.is_error:
            raise UsageError(
                f"the sample {self.name!r} has status {self.status}: say is_error=True"
            )


def sse_events(stream: bytes) -> tuple[bytes, ...]:
    """Cut server-sent events after each event, framing included; joined they are the stream."""
    return tuple(piece for piece in _END_OF_EVENT.split(stream) if piece)
