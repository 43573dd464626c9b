"""A server that is a client: an HTTP client that answers by itself, and breaks on demand.

It fits where `httpx.AsyncClient` and `httpx.Client` do, and needs no network.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Literal, TypeAlias, final

from anyio import Event, fail_after, sleep_forever
from anyio.lowlevel import checkpoint
from attrs import field, frozen
from typing_extensions import override

from stepfold.transport import BlockingHttpBody, HttpBody, HttpTimeout

Ending: TypeAlias = Literal["end", "break", "stall", "repeat"]
"""After the last chunk: the response ends, the connection breaks, nothing, or that chunk again."""

_DEFAULT_TIMEOUT: HttpTimeout = (0.05, 0.05, 0.05, 0.05)


@final
@frozen(order=False, kw_only=True)
class Answer:
    """What comes of the next request."""

    chunks: tuple[bytes, ...]
    ending: Ending = "end"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "text/event-stream"),)


@final
@frozen(order=False, kw_only=True)
class SentRequest:
    """What came in."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    content: bytes


@final
class FakeServer:
    """Answers every request with the same answer, and keeps count."""

    def __init__(self) -> None:
        self.answer: Answer = Answer(chunks=())
        self.requests: list[SentRequest] = []
        self.pulled: int = 0
        self.open_bodies: int = 0
        self.pulls_after_cancel: int = 0
        self.stalled: Event | None = None

    def will(self, answer: Answer) -> None:
        """Answer so from now on, with all counts at zero."""
        self.answer = answer
        self.requests.clear()
        self.pulled = self.open_bodies = self.pulls_after_cancel = 0

    def take(
        self, method: str, url: str, content: bytes, headers: Sequence[tuple[str, str]]
    ) -> "_Script":
        """Note a request, and say what is sent back."""
        self.requests.append(
            SentRequest(method=method, url=url, headers=tuple(headers), content=content)
        )
        return _Script(self, self.answer)


@final
class _Headers(Mapping[str, str]):
    """Headers, without regard to case."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._values = {name.lower(): value for name, value in pairs}

    @override
    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    @override
    def __len__(self) -> int:
        return len(self._values)


@final
class _Script:
    """How far one response has come."""

    def __init__(self, server: FakeServer, answer: Answer) -> None:
        self._server = server
        self._answer = answer
        self._sent = 0
        self.is_closed: bool = False
        self.was_cancelled: bool = False

    def next(self) -> bytes | Ending:
        """The next chunk, or what happens instead of one."""
        if self.was_cancelled and not self.is_closed:
            self._server.pulls_after_cancel += 1
        if self.is_closed or self.was_cancelled:
            raise BrokenPipeError("the response was closed")
        chunks, ending = self._answer.chunks, self._answer.ending
        if self._sent < len(chunks):
            chunk = chunks[self._sent]
            self._sent += 1
        elif ending == "repeat" and chunks:
            chunk = chunks[-1]
        else:
            return ending
        self._server.pulled += len(chunk)
        return chunk

    @property
    def status_code(self) -> int:
        return self._answer.status

    @property
    def headers(self) -> Mapping[str, str]:
        return _Headers(self._answer.headers)


def _broken() -> ConnectionResetError:
    return ConnectionResetError("the connection was reset by the server")


@final
class _Chunks(AsyncIterator[bytes]):
    """The chunks of a response, as an async client gives them."""

    def __init__(self, server: FakeServer, script: _Script, patience: float) -> None:
        self._server = server
        self._script = script
        self._patience = patience

    @override
    async def __anext__(self) -> bytes:
        match self._script.next():
            case bytes(chunk):
                await checkpoint()
                return chunk
            case "break":
                raise _broken()
            case "stall":
                await self._stall()
                raise AssertionError("nothing wakes a server that stalls")
            case _:
                raise StopAsyncIteration

    async def _stall(self) -> None:
        if self._server.stalled is not None:
            self._server.stalled.set()
        try:
            with fail_after(self._patience):
                await sleep_forever()
        except TimeoutError:
            raise
        except BaseException:
            self._script.was_cancelled = True
            raise


@final
class _Body:
    """A response of the async client."""

    def __init__(self, server: FakeServer, script: _Script, patience: float) -> None:
        self._server = server
        self._script = script
        self._patience = patience

    @property
    def status_code(self) -> int:
        return self._script.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        return self._script.headers

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        return _Chunks(self._server, self._script, self._patience)

    def aiter_raw(self) -> AsyncIterator[bytes]:
        return self.aiter_bytes()

    async def aclose(self) -> None:
        self._script.is_closed = True


@final
class _BlockingBody:
    """A response of the sync client."""

    def __init__(self, script: _Script) -> None:
        self._script = script

    @property
    def status_code(self) -> int:
        return self._script.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        return self._script.headers

    def iter_bytes(self) -> Iterator[bytes]:
        while True:
            match self._script.next():
                case bytes(chunk):
                    yield chunk
                case "break":
                    raise _broken()
                case "stall":
                    raise TimeoutError("the server is silent")
                case _:
                    return

    def iter_raw(self) -> Iterator[bytes]:
        return self.iter_bytes()


@final
class FakeClient:
    """An async client; fits where `httpx.AsyncClient` does."""

    def __init__(self, server: FakeServer) -> None:
        self._server = server

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        *,
        content: bytes,
        headers: Sequence[tuple[str, str]],
        timeout: HttpTimeout = _DEFAULT_TIMEOUT,
        follow_redirects: bool,
    ) -> AsyncGenerator[HttpBody]:
        """Answer a request."""
        script = self._server.take(method, url, content, headers)
        self._server.open_bodies += 1
        try:
            yield _Body(self._server, script, timeout[1])
        finally:
            self._server.open_bodies -= 1
            script.is_closed = True


@final
class FakeBlockingClient:
    """A sync client; fits where `httpx.Client` does. A stall is a timeout at once."""

    def __init__(self, server: FakeServer) -> None:
        self._server = server

    @contextmanager
    def stream(
        self,
        method: str,
        url: str,
        *,
        content: bytes,
        headers: Sequence[tuple[str, str]],
        timeout: HttpTimeout = _DEFAULT_TIMEOUT,
        follow_redirects: bool,
    ) -> Generator[BlockingHttpBody]:
        """Answer a request."""
        script = self._server.take(method, url, content, headers)
        self._server.open_bodies += 1
        try:
            yield _BlockingBody(script)
        finally:
            self._server.open_bodies -= 1
            script.is_closed = True
