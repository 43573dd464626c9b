from collections.abc import Sequence
from pathlib import Path
from typing import final
from stepfold.durable._channel import StreamedPart

@final
class FileChannel:
    def __init__(self, folder: str | Path) -> None: ...
    async def publish(self, run: str, parts: Sequence[StreamedPart], /) -> None: ...
    async def read(self, run: str, place: int, /) -> tuple[Sequence[StreamedPart], int]: ...
