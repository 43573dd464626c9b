from collections.abc import Callable
from typing import Protocol, final
from attrs import frozen
from stepfold.transport import SseDecoder
from stepfold.values import ModelErrorReason, ModelReply, ModelWarning, Outcome, StreamPart

class EventReader(Protocol):
    @property
    def is_done(self) -> bool: ...
    @property
    def is_whole(self) -> bool: ...
    def read(self, parts: list[StreamPart], event: dict[str, object]) -> None: ...
    def end(self, parts: list[StreamPart]) -> None: ...
    def abandon(self, parts: list[StreamPart]) -> None: ...

class Framing(Protocol):
    def feed_data(self, chunk: bytes) -> list[str]: ...
    def end_data(self) -> list[str]: ...

class MakeReader(Protocol):
    def __call__(
        self, provider: str, headers: tuple[tuple[str, str], ...], secrets: tuple[str, ...], /
    ) -> EventReader: ...

@final
class EventDecoder:
    def __init__(
        self,
        reader: EventReader,
        frames: Framing,
        warnings: tuple[ModelWarning, ...],
        secrets: tuple[str, ...],
    ) -> None: ...
    is_done: bool

    @property
    def is_whole(self) -> bool: ...
    def feed(self, chunk: bytes) -> tuple[StreamPart, ...]: ...
    def end(self) -> tuple[StreamPart, ...]: ...

@final
@frozen(eq=False)
class EventStream:
    make_reader: MakeReader
    make_frames: Callable[[], Framing] = SseDecoder

    def __call__(
        self,
        provider: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        warnings: tuple[ModelWarning, ...] = (),
        secrets: tuple[str, ...] = (),
    ) -> EventDecoder: ...
    def decode_body(
        self,
        body: bytes,
        provider: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        warnings: tuple[ModelWarning, ...] = (),
        secrets: tuple[str, ...] = (),
    ) -> Outcome[ModelReply, ModelErrorReason]: ...
