from typing import final
from stepfold.providers._events import EventStream
from stepfold.values import StreamPart

@final
class GoogleReader:
    is_done: bool = False

    def __init__(
        self, provider: str, headers: tuple[tuple[str, str], ...], _: tuple[str, ...]
    ) -> None: ...
    @property
    def is_whole(self) -> bool: ...
    def read(self, parts: list[StreamPart], event: dict[str, object]) -> None: ...
    def end(self, parts: list[StreamPart]) -> None: ...
    def abandon(self, parts: list[StreamPart]) -> None: ...

google_decoder = EventStream(GoogleReader)
