"""Send a request, and read what comes back: under bounds, and with typed failures only.

The functions are written once for asyncio, trio and no event loop. Where `BLOCKING` is set they
wait in blocking calls and never suspend, so `coroutine.send(None)` runs them to their end.

A redirect is not followed: it would carry keys and prompts to an address that nobody chose. It
is given back as a response.
"""

import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import final

from typing_extensions import override

from stepfold.ports import BLOCKING
from stepfold.transport._client import BlockingHttpBody, HttpBody
from stepfold.transport._connections import ONE_CLIENT_EACH, HttpConnections
from stepfold.transport._faults import fault_of, too_large
from stepfold.transport._messages import (
    HttpLimits,
    HttpRequest,
    HttpResponse,
    StreamedResponse,
    header_of,
)
from stepfold.values import ModelError, ModelErrorReason, UsageError

# What a client may still hold of a response that was closed: a few chunks, then an error. Those
# that are made for tests go on for longer.
_PULLS_AFTER_CLOSE = 256
_PLAINLY = ("accept-encoding", "identity")


async def send(
    request: HttpRequest, connections: HttpConnections = ONE_CLIENT_EACH
) -> HttpResponse:
    """Send a request and read the whole response, whatever its status.

    Raises:
        ModelError: of kind `connection`, `timeout` or `protocol`, when there is no response.
    """
    async with open_stream(request, connections) as response:
        return await response.read()


@asynccontextmanager
async def open_stream(
    request: HttpRequest, connections: HttpConnections = ONE_CLIENT_EACH
) -> AsyncGenerator[StreamedResponse]:
    """Send a request; its body is read inside the block, and given up when that is left.

    Raises:
        ModelError: of kind `connection`, `timeout` or `protocol`, here or when reading.
    """
    if BLOCKING.get():
        with ExitStack() as stack:
            blocking = _open_blocking(request, connections, stack)
            headers = _headers(blocking.headers)
            meter = _Meter(request, connections.limits, headers)
            source = blocking.iter_raw() if meter.inflates else blocking.iter_bytes()
            chunks = _BlockingChunks(source, meter)
            yield StreamedResponse(blocking.status_code, headers, chunks)
        return
    async with AsyncExitStack() as exits:
        body = await _open(request, connections, exits)
        headers = _headers(body.headers)
        reader = _Chunks(body, _Meter(request, connections.limits, headers))
        exits.push_async_callback(reader.give_up)
        yield StreamedResponse(body.status_code, headers, reader)


def _headers(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name.lower(), value) for name, value in headers.items())


async def _open(
    request: HttpRequest, connections: HttpConnections, exits: AsyncExitStack
) -> HttpBody:
    limits = connections.limits
    client = await exits.enter_async_context(connections.lease())
    try:
        if connections.keeps_timeouts:
            opening = client.stream(
                request.method,
                request.url,
                content=request.body,
                headers=(_PLAINLY, *request.headers),
                follow_redirects=False,
            )
        else:
            opening = client.stream(
                request.method,
                request.url,
                content=request.body,
                headers=(_PLAINLY, *request.headers),
                timeout=(limits.connect, limits.read, limits.read, limits.read),
                follow_redirects=False,
            )
        return await exits.enter_async_context(opening)
    except Exception as error:
        fault = fault_of(error, request, limits)
        if fault is None:
            raise
        raise fault from None


def _open_blocking(
    request: HttpRequest, connections: HttpConnections, exits: ExitStack
) -> BlockingHttpBody:
    limits = connections.limits
    client = exits.enter_context(connections.lease_blocking())
    try:
        if connections.keeps_blocking_timeouts:
            opening = client.stream(
                request.method,
                request.url,
                content=request.body,
                headers=(_PLAINLY, *request.headers),
                follow_redirects=False,
            )
        else:
            opening = client.stream(
                request.method,
                request.url,
                content=request.body,
                headers=(_PLAINLY, *request.headers),
                timeout=(limits.connect, limits.read, limits.read, limits.read),
                follow_redirects=False,
            )
        return exits.enter_context(opening)
    except Exception as error:
        fault = fault_of(error, request, limits)
        if fault is None:
            raise
        raise fault from None


@final
class _Meter:
    """Counts the bytes of a body up to the limit, and inflates what a server compressed.

    Compression is not asked for, since it delays events; a server that uses it nevertheless is
    understood. Never more is inflated than may still come. Inflating here, not in the client,
    also keeps garbled bytes from leaving the client's generators suspended.
    """

    def __init__(
        self, request: HttpRequest, limits: HttpLimits, headers: tuple[tuple[str, str], ...]
    ) -> None:
        self._request = request
        self._limits = limits
        self._left = limits.response_bytes
        coding = (header_of(headers, "content-encoding") or "identity").strip().lower()
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32) if coding in _DEFLATED else None
        self.inflates: bool = self._inflate is not None
        if not self.inflates and coding != "identity":
            raise _violation(f"the server compressed its response as {coding[:40]!r}")

    def take(self, chunk: bytes) -> bytes:
        """The bytes of the body in this chunk of the response."""
        if self._inflate is not None:
            try:
                chunk = self._inflate.decompress(chunk, self._left + 1)
            except zlib.error:
                raise _violation("the server's compressed response is garbled") from None
        self._left -= len(chunk)
        if self._left < 0:
            raise too_large(self._request, self._limits)
        return chunk

    def end(self) -> None:
        """Check that what was compressed has come whole."""
        if self._inflate is not None and not self._inflate.eof:
            raise _violation("the server's compressed response is cut")

    def fault(self, error: Exception) -> ModelError | UsageError | None:
        """What to raise for an exception of the client."""
        return fault_of(error, self._request, self._limits)


_DEFLATED = frozenset({"gzip", "x-gzip", "deflate"})


def _violation(message: str) -> ModelError:
    return ModelError(ModelErrorReason("protocol", message))


@final
class _Chunks(AsyncIterator[bytes]):
    """The body of an async client's response. A class: an abandoned generator would leak."""

    def __init__(self, body: HttpBody, meter: _Meter) -> None:
        self._body = body
        self._source: AsyncIterator[bytes] | None = None
        self._meter = meter
        self._is_done = False

    @override
    async def __anext__(self) -> bytes:
        if self._is_done:
            raise StopAsyncIteration
        if self._source is None:
            body = self._body
            self._source = body.aiter_raw() if self._meter.inflates else body.aiter_bytes()
        try:
            chunk = await self._source.__anext__()
        except StopAsyncIteration:
            self._is_done = True
            self._meter.end()
            raise
        except Exception as error:
            self._is_done = True
            fault = self._meter.fault(error)
            if fault is None:
                raise
            raise fault from None
        return self._meter.take(chunk)

    async def give_up(self) -> None:
        """Close what was left early, and run the generators inside the client to their ends.

        A client such as httpx nests half a dozen of them; those that are still suspended would
        be left to the garbage collector, about which trio complains with reason. After `aclose`
        the next pull fails in the innermost one, and that ends them all.
        """
        if self._is_done or self._source is None:
            return
        self._is_done = True
        try:
            await self._body.aclose()
            for _ in range(_PULLS_AFTER_CLOSE):
                await self._source.__anext__()
        except Exception:  # noqa: BLE001 - whatever a closed response says
            return


@final
class _BlockingChunks(AsyncIterator[bytes]):
    """The body of a sync client's response; never suspends."""

    def __init__(self, source: Iterator[bytes], meter: _Meter) -> None:
        self._source = source
        self._meter = meter

    @override
    async def __anext__(self) -> bytes:
        try:
            chunk = next(self._source, None)
        except Exception as error:
            fault = self._meter.fault(error)
            if fault is None:
                raise
            raise fault from None
        if chunk is None:
            self._meter.end()
            raise StopAsyncIteration
        return self._meter.take(chunk)
