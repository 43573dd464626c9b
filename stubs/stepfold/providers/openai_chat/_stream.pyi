from typing import final
from stepfold.providers._events import EventStream
from stepfold.values import StreamPart

@final
class ChatReader:
    is_done: bool = False

    def __init__(
        self, provider: str, headers: tuple[tuple[str, str], ...], _: tuple[str, ...]
    ) -> None: ...
    @property
    def is_whole(self) -> bool: ...
    def abandon(self, parts: list[StreamPart]) -> None: ...
    def read(self, parts: list[StreamPart], event: dict[str, object]) -> None: ...
    def end(self, parts: list[StreamPart]) -> None: ...

chat_decoder = EventStream(ChatReader)
