"""A request that a kept connection swallowed is sent once more; no other is."""

import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import TypeVar, final

import pytest

from stepfold.ports import BLOCKING
from stepfold.transport import HttpConnections, HttpRequest, send
from stepfold.values import ModelError

T = TypeVar("T")
WHOLE = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
CUT = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello"
# How a connection takes its next request: an answer, or a close that came before it was read.
Act = Callable[[socket.socket], bool]


def answer(connection: socket.socket) -> bool:
    is_asked = _read(connection)
    if is_asked:
        connection.sendall(WHOLE)
    return is_asked


def hang_up(connection: socket.socket) -> bool:
    _read(connection)
    return False


def reset(connection: socket.socket) -> bool:
    """Close with the request unread, which the client sees as a reset."""
    return connection.recv(1) == b""


def cut_short(connection: socket.socket) -> bool:
    _read(connection)
    connection.sendall(CUT)
    return False


def talk_nonsense(connection: socket.socket) -> bool:
    _read(connection)
    connection.sendall(b"not HTTP at all\r\n\r\n")
    return False


def _read(connection: socket.socket) -> bool:
    data = b""
    while not data.endswith(b"\r\n\r\n{}"):
        piece = connection.recv(65536)
        if not piece:
            return False
        data += piece
    return True


@final
class Line:
    """A server whose connections act in turns: each entry is what one connection does."""

    def __init__(self, *connections: tuple[Act, ...]) -> None:
        self.accepted = 0
        self._plan = list(connections)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def request(self) -> HttpRequest:
        return HttpRequest("POST", f"http://127.0.0.1:{self._port}/v1", (), b"{}")

    def _serve(self) -> None:
        with self._listener:  # nobody is left waiting for a connection that is not planned
            for acts in self._plan:
                try:
                    connection, _ = self._listener.accept()
                except OSError:
                    return
                self.accepted += 1
                with connection:
                    for act in acts:
                        if not act(connection):
                            break

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)


@pytest.fixture
def lines() -> Iterator[Callable[..., Line]]:
    made: list[Line] = []

    def make(*connections: tuple[Act, ...]) -> Line:
        made.append(Line(*connections))
        return made[-1]

    yield make
    for line in made:
        line.close()


def run_blocking(coroutine: Coroutine[object, object, T]) -> T:
    token = BLOCKING.set(True)
    try:
        coroutine.send(None)
    except StopIteration as ended:
        value: T = ended.value
        return value
    finally:
        BLOCKING.reset(token)
    raise AssertionError("the coroutine suspended")


async def bodies(line: Line, count: int) -> list[bytes]:
    connections = HttpConnections()
    async with connections:
        return [(await send(line.request, connections)).body for _ in range(count)]


SWALLOWED = [((answer, hang_up), (answer,)), ((answer, reset), (answer,))]


@pytest.mark.parametrize("plan", SWALLOWED)
async def test_what_a_kept_connection_swallowed_is_sent_once_more(
    lines: Callable[..., Line], plan: tuple[tuple[Act, ...], ...]
) -> None:
    line = lines(*plan)

    assert await bodies(line, 2) == [b"hello", b"hello"]
    assert line.accepted == 2


@pytest.mark.parametrize("plan", SWALLOWED)
def test_what_a_kept_connection_swallowed_is_sent_once_more_without_an_event_loop(
    lines: Callable[..., Line], plan: tuple[tuple[Act, ...], ...]
) -> None:
    line = lines(*plan)

    assert run_blocking(bodies(line, 2)) == [b"hello", b"hello"]
    assert line.accepted == 2


FAILING = [
    pytest.param(((hang_up,), (answer,)), 1, id="a new connection is not tried again"),
    pytest.param(((answer, hang_up), (hang_up,), (answer,)), 2, id="once more, and no more"),
    pytest.param(((answer, cut_short), (answer,)), 1, id="a response had begun"),
    pytest.param(((answer, talk_nonsense), (answer,)), 1, id="something had come"),
]


@pytest.mark.parametrize(("plan", "accepted"), FAILING)
async def test_nothing_else_is_sent_again(
    lines: Callable[..., Line], plan: tuple[tuple[Act, ...], ...], accepted: int
) -> None:
    line = lines(*plan)

    with pytest.raises(ModelError) as caught:
        await bodies(line, 2)

    assert caught.value.reason.kind == "protocol"
    assert line.accepted == accepted


@pytest.mark.parametrize(("plan", "accepted"), FAILING)
def test_nothing_else_is_sent_again_without_an_event_loop(
    lines: Callable[..., Line], plan: tuple[tuple[Act, ...], ...], accepted: int
) -> None:
    line = lines(*plan)

    with pytest.raises(ModelError) as caught:
        run_blocking(bodies(line, 2))

    assert caught.value.reason.kind == "protocol"
    assert line.accepted == accepted
