from types import TracebackType
from typing import Self, final
from stepfold.values import UsageError

@final
class NetworkBlocked(UsageError):
    __module__ = "stepfold.testing"

    def __init__(self, address: str, *, loopback: bool = True) -> None: ...
    address: str

@final
class NetworkGuard:
    def __init__(self, *, loopback: bool) -> None: ...
    @property
    def blocked(self) -> tuple[str, ...]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...

def no_network(*, loopback: bool = True) -> NetworkGuard: ...
