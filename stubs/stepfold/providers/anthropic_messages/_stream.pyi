from typing import final
from stepfold.providers._events import EventStream
from stepfold.values import StreamPart

@final
class MessagesReader:
    def __init__(
        self, provider: str, headers: tuple[tuple[str, str], ...], _: tuple[str, ...]
    ) -> None: ...
    is_done: bool

    @property
    def is_whole(self) -> bool: ...
    def abandon(self, parts: list[StreamPart]) -> None: ...
    def end(self, parts: list[StreamPart]) -> None: ...
    def read(self, parts: list[StreamPart], event: dict[str, object]) -> None: ...

messages_decoder = EventStream(MessagesReader)
