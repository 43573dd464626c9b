from collections.abc import Awaitable, Callable
from typing import Literal, Protocol, TypeVar, final
from stepfold.ports import Clock
from stepfold.values import Instant

T = TypeVar("T")

class Waiting(Protocol):
    async def in_thread(self, function: Callable[[], T], /) -> T: ...
    async def for_code(self, work: Awaitable[T], /) -> T: ...
    async def until(
        self, deadline: Instant | None, clock: Clock, work: Callable[[], Awaitable[T]], /
    ) -> T | Literal["timeout"]: ...

@final
class SpuriousCancellationError(Exception): ...

@final
class LoopWaiting:
    async def in_thread(self, function: Callable[[], T], /) -> T: ...
    async def for_code(self, work: Awaitable[T], /) -> T: ...
    async def until(
        self, deadline: Instant | None, clock: Clock, work: Callable[[], Awaitable[T]], /
    ) -> T | Literal["timeout"]: ...
