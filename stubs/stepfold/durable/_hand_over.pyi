from collections.abc import Generator
from contextlib import contextmanager
from typing import final
from typing_extensions import override
from stepfold.shell import CancelHandle
from stepfold.values import StepfoldError

@final
class HandedOver(StepfoldError):
    __module__ = "stepfold.durable"

    def __init__(self, run: str) -> None: ...
    run: str

    @override
    def __reduce__(self) -> tuple[type["HandedOver"], tuple[str]]: ...

@final
class HandOver:
    def __init__(self) -> None: ...
    is_asked: bool

    def __call__(self) -> None: ...
    @contextmanager
    def covering(self, handle: CancelHandle) -> Generator[None]: ...
