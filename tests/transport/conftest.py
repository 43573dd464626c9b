"""A server on this machine that says exactly the bytes that a test gives it."""

import socket
import threading
from collections.abc import Callable, Iterator
from typing import final

import pytest


@final
class ByteServer:
    """Answers each connection with the next script, then as the script says."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self._scripts: list[Callable[[socket.socket], None]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"

    def says(self, *pieces: bytes, then: str = "close") -> None:
        """Answer a request with these bytes, then `close` the connection or `stall`."""

        def play(connection: socket.socket) -> None:
            for piece in pieces:
                connection.sendall(piece)
            if then == "stall":
                self.released.wait(10)

        self._scripts.append(play)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while request := _read_request(connection):
                    self.requests.append(request)
                    if not self._scripts:
                        return
                    script = self._scripts.pop(0)
                    script(connection)
                    if not self._scripts:
                        return
            except OSError:
                return

    def close(self) -> None:
        self.released.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in (self._accepting, *self._threads):
            thread.join(5)


def _read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return b""
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            while len(body) < int(value):
                body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


@pytest.fixture
def server() -> Iterator[ByteServer]:
    running = ByteServer()
    yield running
    running.close()
