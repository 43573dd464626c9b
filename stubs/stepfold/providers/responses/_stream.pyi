from typing import final
from stepfold.providers._events import EventStream
from stepfold.values import StreamPart

@final
class ResponsesReader:
    def __init__(
        self, provider: str, headers: tuple[tuple[str, str], ...], secrets: tuple[str, ...]
    ) -> None: ...
    is_done: bool

    @property
    def is_whole(self) -> bool: ...
    def end(self, parts: list[StreamPart]) -> None: ...
    def abandon(self, parts: list[StreamPart]) -> None: ...
    def read(self, parts: list[StreamPart], event: dict[str, object]) -> None: ...

responses_decoder = EventStream(ResponsesReader)
