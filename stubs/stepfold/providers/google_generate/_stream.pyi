from typing import final
from stepfold.values import ModelWarning, StreamPart

@final
class GoogleStreamDecoder:
    def __init__(
        self,
        provider: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        warnings: tuple[ModelWarning, ...] = (),
        secrets: tuple[str, ...] = (),
    ) -> None: ...
    is_done: bool

    @property
    def is_whole(self) -> bool: ...
    def feed(self, chunk: bytes) -> tuple[StreamPart, ...]: ...
    def end(self) -> tuple[StreamPart, ...]: ...
