from collections.abc import Callable
from types import TracebackType
from typing import final
from stepfold.ports import LanguageModel

def _silent(_: str) -> None: ...
def local_model(
    name: str = "smollm2",
    *,
    threads: int | None = None,
    context: int = 4096,
    seed: int = 0,
    on_progress: Callable[[str], object] = _silent,
) -> "LocalModel": ...

@final
class LocalModel:
    def __init__(
        self,
        name: str,
        threads: int | None,
        context: int,
        seed: int,
        on_progress: Callable[[str], object],
    ) -> None: ...
    def __enter__(self) -> LanguageModel: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    async def __aenter__(self) -> LanguageModel: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

def local_smollm2() -> LanguageModel: ...
