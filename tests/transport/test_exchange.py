import gc
import gzip
from collections.abc import Coroutine
from typing import Protocol, TypeVar

import anyio
import httpx
import pytest

from stepfold.ports import BLOCKING
from stepfold.transport import (
    BlockingHttpClient,
    HttpClient,
    HttpConnections,
    HttpLimits,
    HttpRequest,
    HttpResponse,
    open_stream,
    send,
)
from stepfold.values import ModelError, UsageError

T = TypeVar("T")
WHOLE = b"HTTP/1.1 200 OK\r\nX-Request-Id: r1\r\ncontent-length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


class Server(Protocol):
    requests: list[bytes]
    connections: int

    @property
    def url(self) -> str: ...
    def says(self, *pieces: bytes, then: str = "close") -> None: ...


def post(url: str) -> HttpRequest:
    return HttpRequest("POST", url, (("authorization", "Bearer secret-word"),), b"{}")


def run_blocking(coroutine: Coroutine[object, object, T]) -> T:
    """Run as a driver without an event loop does: one `send`, and it must be over."""
    token = BLOCKING.set(True)
    try:
        coroutine.send(None)
    except StopIteration as ended:
        value: T = ended.value
        return value
    finally:
        BLOCKING.reset(token)
    coroutine.close()
    raise AssertionError("the coroutine suspended")


async def reason_kind(request: HttpRequest, connections: HttpConnections) -> str:
    with pytest.raises(ModelError) as caught:
        await send(request, connections)
    assert "secret-word" not in str(caught.value)
    return caught.value.reason.kind


async def first_chunk(request: HttpRequest, connections: HttpConnections) -> bytes:
    async with open_stream(request, connections) as response:
        return await anext(response.chunks)


async def test_a_response_comes_whole(server: Server) -> None:
    server.says(WHOLE)

    response = await send(post(server.url))

    assert response == HttpResponse(
        200, (("x-request-id", "r1"), ("content-length", "5")), b"hello"
    )
    assert server.requests[0].startswith(b"POST /v1 HTTP/1.1\r\n")
    assert server.requests[0].endswith(b"\r\n\r\n{}")


def test_a_response_comes_whole_without_an_event_loop(server: Server) -> None:
    server.says(WHOLE)

    assert run_blocking(send(post(server.url))).body == b"hello"


async def test_a_body_is_read_as_it_comes(server: Server) -> None:
    server.says(CHUNKED, b"2\r\nab\r\n", b"1\r\nc\r\n0\r\n\r\n")

    async with open_stream(post(server.url)) as response:
        body = b"".join([chunk async for chunk in response.chunks])
        assert await anext(response.chunks, None) is None

    assert body == b"abc"


async def test_a_body_may_be_left_early(server: Server) -> None:
    server.says(CHUNKED, b"2\r\nab\r\n", then="stall")

    assert await first_chunk(post(server.url), HttpConnections()) == b"ab"
    gc.collect()  # what was left open would be reported now


async def test_a_body_may_be_left_in_a_cancelled_scope(server: Server) -> None:
    server.says(CHUNKED, b"2\r\nab\r\n", then="stall")

    with anyio.CancelScope() as scope:
        async with open_stream(post(server.url)) as response:
            await anext(response.chunks)
            scope.cancel()
            await anyio.sleep(1)
    gc.collect()

    assert scope.cancelled_caught


async def test_a_wait_for_bytes_may_be_cancelled(server: Server) -> None:
    server.says(CHUNKED, then="stall")

    with anyio.move_on_after(0.2) as scope:
        await send(post(server.url))
    gc.collect()

    assert scope.cancelled_caught


def test_a_body_may_be_left_early_without_an_event_loop(server: Server) -> None:
    server.says(CHUNKED, b"2\r\nab\r\n", then="stall")

    assert run_blocking(first_chunk(post(server.url), HttpConnections())) == b"ab"


@pytest.mark.parametrize(
    ("pieces", "then", "kind"),
    [
        ([], "close", "protocol"),
        ([b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort"], "close", "protocol"),
        ([CHUNKED, b"2\r\nab\r\n"], "close", "protocol"),
        ([b"not HTTP at all\r\n\r\n"], "close", "protocol"),
        ([b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nnot gzip"], "close", "protocol"),
        ([], "stall", "timeout"),
        ([CHUNKED, b"2\r\nab\r\n"], "stall", "timeout"),
    ],
)
async def test_every_break_has_a_kind(
    server: Server, pieces: list[bytes], then: str, kind: str
) -> None:
    server.says(*pieces, then=then)
    connections = HttpConnections(limits=HttpLimits(read=0.2))

    assert await reason_kind(post(server.url), connections) == kind


@pytest.mark.parametrize(
    ("pieces", "then", "kind"),
    [([], "close", "protocol"), ([CHUNKED, b"2\r\nab\r\n"], "stall", "timeout")],
)
def test_every_break_has_a_kind_without_an_event_loop(
    server: Server, pieces: list[bytes], then: str, kind: str
) -> None:
    server.says(*pieces, then=then)
    connections = HttpConnections(limits=HttpLimits(read=0.2))

    assert run_blocking(reason_kind(post(server.url), connections)) == kind


async def test_nobody_listens() -> None:
    request = post("http://127.0.0.1:1/v1")

    with pytest.raises(ModelError, match=r"127\.0\.0\.1") as caught:
        await send(request)

    assert caught.value.reason.kind == "connection"
    assert caught.value.__suppress_context__


async def test_an_address_that_is_none_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError, match="not an address"):
        await send(post("http://[::1/v1?key=secret-word"))


async def test_a_response_is_bounded(server: Server) -> None:
    server.says(WHOLE)
    server.says(WHOLE)
    connections = HttpConnections(limits=HttpLimits(response_bytes=4))

    assert await reason_kind(post(server.url), connections) == "protocol"


def test_a_response_is_bounded_without_an_event_loop(server: Server) -> None:
    server.says(WHOLE)
    connections = HttpConnections(limits=HttpLimits(response_bytes=4))

    assert run_blocking(reason_kind(post(server.url), connections)) == "protocol"


@pytest.mark.parametrize("cut", [0, 6])
@pytest.mark.parametrize("limit", [999, 1000])
async def test_a_compressed_response_is_understood_within_bounds(
    server: Server, limit: int, cut: int
) -> None:
    body = gzip.compress(b"x" * 1000)
    body = body[: len(body) - cut]
    server.says(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n" + body)
    connections = HttpConnections(limits=HttpLimits(response_bytes=limit))

    if limit == 1000 and cut == 0:
        assert (await send(post(server.url), connections)).body == b"x" * 1000
    else:
        assert await reason_kind(post(server.url), connections) == "protocol"
    assert b"accept-encoding: identity" in server.requests[0]


async def test_an_unknown_compression_is_refused(server: Server) -> None:
    server.says(b"HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\ncontent-length: 1\r\n\r\nx")

    assert await reason_kind(post(server.url), HttpConnections()) == "protocol"


async def test_a_redirect_is_not_followed(server: Server) -> None:
    server.says(b"HTTP/1.1 307 Elsewhere\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n")

    assert (await send(post(server.url))).status == 307
    assert len(server.requests) == 1


async def test_each_exchange_has_its_own_connection(server: Server) -> None:
    for _ in range(3):
        server.says(WHOLE)
        await send(post(server.url))

    assert server.connections == 3


async def test_inside_a_block_the_connection_lives_on(server: Server) -> None:
    for _ in range(4):
        server.says(WHOLE)
    connections = HttpConnections()

    async with connections, connections:
        await send(post(server.url), connections)
        async with connections:
            await send(post(server.url), connections)
        await send(post(server.url), connections)
    assert server.connections == 1
    await send(post(server.url), connections)

    assert server.connections == 2


def test_inside_a_block_the_connection_lives_on_without_an_event_loop(server: Server) -> None:
    for _ in range(3):
        server.says(WHOLE)
    connections = HttpConnections()

    async def twice() -> None:
        async with connections:
            await send(post(server.url), connections)
            await send(post(server.url), connections)

    with connections:
        run_blocking(twice())
    assert server.connections == 1
    run_blocking(send(post(server.url), connections))

    assert server.connections == 2


async def test_a_client_that_was_given_is_used_and_left_open(server: Server) -> None:
    server.says(WHOLE)
    server.says(WHOLE)
    async with httpx.AsyncClient(headers={"x-mine": "yes"}) as mine:
        client: HttpClient = mine
        connections = HttpConnections(client)
        async with connections:
            await send(post(server.url), connections)
        await send(post(server.url), connections)

    assert server.connections == 1
    assert b"x-mine: yes" in server.requests[1]


async def test_the_timeouts_of_a_given_client_hold_unless_limits_are_given(server: Server) -> None:
    server.says(then="stall")
    server.says(then="stall")
    async with httpx.AsyncClient(timeout=0.2) as client:
        assert await reason_kind(post(server.url), HttpConnections(client)) == "timeout"
    async with httpx.AsyncClient(timeout=30) as client:
        limits = HttpLimits(read=0.2)
        assert await reason_kind(post(server.url), HttpConnections(client, limits=limits)) == (
            "timeout"
        )


def test_a_blocking_client_that_was_given_is_used(server: Server) -> None:
    server.says(WHOLE)
    with httpx.Client(headers={"x-mine": "yes"}) as mine:
        client: BlockingHttpClient = mine
        connections = HttpConnections(blocking_client=client)
        with connections:
            run_blocking(send(post(server.url), connections))

    assert b"x-mine: yes" in server.requests[0]


async def test_an_async_client_is_not_replaced_behind_the_users_back() -> None:
    async with httpx.AsyncClient() as client:
        connections = HttpConnections(client)

        with connections, pytest.raises(UsageError, match="blocking_client="):
            run_blocking(send(post("http://127.0.0.1:1"), connections))


async def test_what_a_client_does_wrong_itself_is_not_dressed_up() -> None:
    def broken(_: httpx.Request) -> httpx.Response:
        raise KeyError("mine")

    async with httpx.AsyncClient(transport=httpx.MockTransport(broken)) as client:
        with pytest.raises(KeyError):
            await send(post("http://x"), HttpConnections(client))
    with (
        httpx.Client(transport=httpx.MockTransport(broken)) as blocking,
        pytest.raises(KeyError),
    ):
        run_blocking(send(post("http://x"), HttpConnections(blocking_client=blocking)))
