from types import TracebackType
from typing import final
from rich.console import Console
from stepfold.pipeline.notes import Note

@final
class PipelineProgress:
    def __init__(self, console: Console | None = None) -> None: ...
    def __enter__(self) -> "PipelineProgress": ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    @property
    def shown(self) -> tuple[str, ...]: ...
    def __call__(self, note: Note) -> None: ...
