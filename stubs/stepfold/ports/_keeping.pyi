from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Protocol, TypeVar

class Kept(Protocol):
    def aclose(self) -> Awaitable[None]: ...

K = TypeVar("K", bound=Kept)

class Keeper(Protocol):
    def keep(self, key: object, make: Callable[[], K], /) -> K | None: ...

KEEPER: ContextVar[Keeper | None] = ...
