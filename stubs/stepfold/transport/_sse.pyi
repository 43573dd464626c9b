from typing import final
from attrs import frozen

DEFAULT_EVENT_LIMIT = 8388608

@final
@frozen(order=False)
class SseEvent:
    data: str
    event: str = "message"
    id: str = ""

@final
class SseDecoder:
    def __init__(self, limit: int = DEFAULT_EVENT_LIMIT) -> None: ...
    @property
    def retry(self) -> int | None: ...
    def feed(self, chunk: bytes) -> tuple[SseEvent, ...]: ...
    def feed_data(self, chunk: bytes) -> list[str]: ...
    def end_data(self) -> list[str]: ...
    def end(self) -> tuple[SseEvent, ...]: ...
