from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from types import TracebackType
from typing import Self, final
from stepfold.transport._client import BlockingHttpClient, HttpClient
from stepfold.transport._messages import HttpLimits

@final
class HttpConnections:
    def __init__(
        self,
        client: HttpClient | None = None,
        *,
        blocking_client: BlockingHttpClient | None = None,
        limits: HttpLimits | None = None,
    ) -> None: ...
    limits: HttpLimits
    keeps_timeouts: bool
    keeps_blocking_timeouts: bool

    @asynccontextmanager
    def lease(self) -> AsyncGenerator[HttpClient]: ...
    @contextmanager
    def lease_blocking(self) -> Generator[BlockingHttpClient]: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

ONE_CLIENT_EACH = HttpConnections()
