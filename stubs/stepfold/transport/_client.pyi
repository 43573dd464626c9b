from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol, TypeAlias

HttpTimeout: TypeAlias = tuple[float, float, float, float]

class HttpBody(Protocol):
    @property
    def status_code(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    def aiter_bytes(self) -> AsyncIterator[bytes]: ...
    def aiter_raw(self) -> AsyncIterator[bytes]: ...
    async def aclose(self) -> None: ...

class HttpClient(Protocol):
    def stream(
        self,
        method: str,
        url: str,
        *,
        content: bytes,
        headers: Sequence[tuple[str, str]],
        timeout: HttpTimeout = ...,
        follow_redirects: bool,
    ) -> AbstractAsyncContextManager[HttpBody]: ...

class BlockingHttpBody(Protocol):
    @property
    def status_code(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    def iter_bytes(self) -> Iterator[bytes]: ...
    def iter_raw(self) -> Iterator[bytes]: ...

class BlockingHttpClient(Protocol):
    def stream(
        self,
        method: str,
        url: str,
        *,
        content: bytes,
        headers: Sequence[tuple[str, str]],
        timeout: HttpTimeout = ...,
        follow_redirects: bool,
    ) -> AbstractContextManager[BlockingHttpBody]: ...
