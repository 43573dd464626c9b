"""The clients that requests go through: what is asked of one.

The async and the sync client of httpx fit, and so do those of httpx2; no type of theirs stands
in a signature, and none is imported here.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Protocol, TypeAlias

HttpTimeout: TypeAlias = tuple[float, float, float, float]
"""Seconds to connect, to wait for bytes, to send some, and to wait for a free connection."""


class HttpBody(Protocol):
    """A response of an async client, its body still to come."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, without regard to case."""
        ...

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body as it comes, decompressed."""
        ...

    def aiter_raw(self) -> AsyncIterator[bytes]:
        """The body as it comes, compressed if it was."""
        ...

    async def aclose(self) -> None:
        """Give up what has not been read."""
        ...


class HttpClient(Protocol):
    """An async client, such as `httpx.AsyncClient` or `httpx2.AsyncClient`."""

    def stream(
        self,
        method: str,
        url: str,
        *,
        content: bytes,
        headers: Sequence[tuple[str, str]],
        timeout: HttpTimeout = ...,
        follow_redirects: bool,
    ) -> AbstractAsyncContextManager[HttpBody]:
        """Send a request, and give the response as soon as its headers are there."""
        ...


class BlockingHttpBody(Protocol):
    """A response of a sync client, its body still to come."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, without regard to case."""
        ...

    def iter_bytes(self) -> Iterator[bytes]:
        """The body as it comes, decompressed."""
        ...

    def iter_raw(self) -> Iterator[bytes]:
        """The body as it comes, compressed if it was."""
        ...


class BlockingHttpClient(Protocol):
    """A sync client, such as `httpx.Client` or `httpx2.Client`, for runs without an event loop."""

    def stream(
        self,
        method: str,
        url: str,
        *,
        content: bytes,
        headers: Sequence[tuple[str, str]],
        timeout: HttpTimeout = ...,
        follow_redirects: bool,
    ) -> AbstractContextManager[BlockingHttpBody]:
        """Send a request, and give the response as soon as its headers are there."""
        ...
