from collections.abc import Sequence
from typing import final
from attrs import field, frozen

def _event_tuple(events: Sequence[bytes]) -> tuple[bytes, ...]: ...

@final
@frozen(order=False, kw_only=True)
class ProviderSample:
    name: str
    events: tuple[bytes, ...] = field(default=(), converter=_event_tuple)
    body: bytes = b""
    is_error: bool = False
    status: int = 200
    content_type: str = "text/event-stream"

    def __attrs_post_init__(self) -> None: ...

def sse_events(stream: bytes) -> tuple[bytes, ...]: ...
