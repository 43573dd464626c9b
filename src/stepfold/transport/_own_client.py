"""The clients that are made here, when nobody gave one: httpx, and one thing more.

Importing this imports httpx and is left to the first request, as is reading the root certificates;
both take a tenth of a second once a process. A client then costs a quarter of a millisecond.

A server may close an idle connection at the very moment when the next request is sent on it. A
request that met this, and whose response never began, is sent once more by a client of its own,
whose connection is new. What fails on a new connection is not sent again here.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from functools import cache
from ssl import SSLContext
from typing import Final, final

import httpx
from typing_extensions import override

from stepfold.transport._client import BlockingHttpBody, HttpBody, HttpTimeout

_TIMEOUT: Final = (10.0, 300.0, 300.0, 300.0)
# Longer than most tools take, and shorter than what sits between us and a server forgets in.
_LIMITS: Final = httpx.Limits(
    max_connections=100, max_keepalive_connections=20, keepalive_expiry=60.0
)
_UNANSWERED: Final = "disconnected without sending a response"


@cache
def _certificates() -> SSLContext:
    return httpx.create_ssl_context()


def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(verify=_certificates(), limits=_LIMITS)


def _blocking_client() -> httpx.Client:
    return httpx.Client(verify=_certificates(), limits=_LIMITS)


@final
class _Attempt:
    """Whether a request went out on a connection of its own; told by httpx."""

    def __init__(self) -> None:
        self._is_fresh = False

    def note(self, what: str, how: object) -> None:
        """Take what a sync client does."""
        if what.startswith("connection.connect_"):
            self._is_fresh = True

    async def note_async(self, what: str, how: object) -> None:
        """Take what an async client does."""
        self.note(what, how)

    def was_unanswered(self, error: Exception) -> bool:
        """Whether a connection that had served before was closed instead of an answer."""
        if self._is_fresh:
            return False
        if isinstance(error, httpx.RemoteProtocolError):
            return _UNANSWERED in str(error)
        return isinstance(error, httpx.ReadError | httpx.WriteError)


@final
class _Body(httpx.AsyncByteStream):
    """The body of a request. A class: httpx's own generator would leak when sending it fails."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    @override
    def __aiter__(self) -> AsyncIterator[bytes]:
        return _Once(self._content)


@final
class _Once(AsyncIterator[bytes]):
    def __init__(self, content: bytes) -> None:
        self._content: bytes | None = content

    @override
    async def __anext__(self) -> bytes:
        content, self._content = self._content, None
        if content is None:
            raise StopAsyncIteration
        return content


@final
class OwnClient:
    """An `HttpClient` that is ours to close."""

    def __init__(self) -> None:
        self._client = _client()

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        *,
        content: bytes,
        headers: Sequence[tuple[str, str]],
        timeout: HttpTimeout = _TIMEOUT,
        follow_redirects: bool,
    ) -> AsyncGenerator[HttpBody]:
        """Send a request, and give the response as soon as its headers are there."""
        attempt = _Attempt()
        request = self._client.build_request(
            method,
            url,
            content=content,
            headers=headers,
            timeout=timeout,
            extensions={"trace": attempt.note_async},
        )
        request.stream = _Body(content)
        async with AsyncExitStack() as exits:
            try:
                response = await self._client.send(
                    request, stream=True, follow_redirects=follow_redirects
                )
            except Exception as error:
                if not attempt.was_unanswered(error):
                    raise
                again = _client()
                exits.push_async_callback(again.aclose)
                response = await again.send(request, stream=True, follow_redirects=follow_redirects)
            exits.push_async_callback(response.aclose)
            yield response

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()


@final
class OwnBlockingClient:
    """A `BlockingHttpClient` that is ours to close."""

    def __init__(self) -> None:
        self._client = _blocking_client()

    @contextmanager
    def stream(
        self,
        method: str,
        url: str,
        *,
        content: bytes,
        headers: Sequence[tuple[str, str]],
        timeout: HttpTimeout = _TIMEOUT,
        follow_redirects: bool,
    ) -> Generator[BlockingHttpBody]:
        """Send a request, and give the response as soon as its headers are there."""
        attempt = _Attempt()
        request = self._client.build_request(
            method,
            url,
            content=content,
            headers=headers,
            timeout=timeout,
            extensions={"trace": attempt.note},
        )
        with ExitStack() as exits:
            try:
                response = self._client.send(
                    request, stream=True, follow_redirects=follow_redirects
                )
            except Exception as error:
                if not attempt.was_unanswered(error):
                    raise
                again = exits.enter_context(_blocking_client())
                response = again.send(request, stream=True, follow_redirects=follow_redirects)
            exits.callback(response.close)
            yield response

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    async def aclose(self) -> None:
        """Close all connections, without suspending."""
        self._client.close()
