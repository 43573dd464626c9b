"""A streamed reply over loopback, one HTTP chunk an event: what reading it costs, beside httpx.

The server is a process of its own and sends bytes that were made before, so that all CPU time is
the reader's. Three read the same bytes by the same client library: one that only counts them, one
as written by hand (split, `json.loads`, take the words), and a chat model. The fourth is OpenAI's
own client, with its own library.
"""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio
import httpx

import stepfold as sf
from tests.bench.measure import Figure, best_of, timed

EVENTS = 20_000
REQUEST = sf.ModelRequest(messages=(sf.UserMessage("go"),))
TIMEOUT = 60.0
MOST_OF_RAW, MOST_BY_HAND, LEAST_OF_OFFICIAL = 2.5, 1.6, 4


def report() -> None:
    """Print microseconds of CPU an event, and the ratios."""
    readers = (count_bytes, read_by_hand, read_by_model, read_by_official_client)
    with _server() as url:
        figures = best_of(3, *(partial(_timed, reader, url) for reader in readers))
    raw, by_hand, ours, official = (figure.cpu for figure in figures)
    each = [f"{cpu / EVENTS * 1e6:.1f}" for cpu in (raw, by_hand, ours, official)]
    print(
        f"an event over the wire, of {EVENTS:,}: httpx alone {each[0]}, by hand {each[1]}, "
        f"chat model {each[2]}, OpenAI's client {each[3]} µs CPU\n"
        f"the chat model takes {ours / raw:.2f} x httpx (aim: at most {MOST_OF_RAW}), "
        f"{ours / by_hand:.2f} x by hand (at most {MOST_BY_HAND}), "
        f"and OpenAI's client {official / ours:.1f} x the model (at least {LEAST_OF_OFFICIAL})\n"
    )


def _timed(reader: Callable[[str], Coroutine[object, object, None]], url: str) -> Figure:
    return timed(lambda: anyio.run(reader, url))


# --- the readers ------------------------------------------------------------------------------


async def count_bytes(url: str) -> None:
    """Read, and understand nothing."""
    size = 0
    async with (
        httpx.AsyncClient(timeout=TIMEOUT) as client,
        client.stream("POST", url + "/chat/completions", content=b"{}") as response,
    ):
        async for chunk in response.aiter_bytes():
            size += len(chunk)
    _check(size, len(BODY))


async def read_by_hand(url: str) -> None:
    """Read as one would without a library, and check nothing."""
    said: list[str] = []
    rest = b""
    async with (
        httpx.AsyncClient(timeout=TIMEOUT) as client,
        client.stream("POST", url + "/chat/completions", content=b"{}") as response,
    ):
        async for chunk in response.aiter_bytes():
            *events, rest = (rest + chunk).split(b"\n\n")
            for event in events:
                if event != b"data: [DONE]":
                    words = json.loads(event[6:])["choices"][0]["delta"].get("content")
                    if words:
                        said.append(words)
    _check(len(said), EVENTS)


async def read_by_model(url: str) -> None:
    """Read as a run does."""
    said: list[str] = []
    model = sf.openai_compatible("m", base_url=url)
    async with model.stream(REQUEST) as parts:
        async for part in parts:
            if isinstance(part, sf.TextDelta):
                said.append(part.delta)
    _check(len(said), EVENTS)


async def read_by_official_client(url: str) -> None:
    """Read as OpenAI's client does."""
    from openai import AsyncOpenAI

    said: list[str] = []
    async with AsyncOpenAI(api_key="none", base_url=url, max_retries=0) as client:
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "go"}], stream=True
        )
        async for chunk in stream:
            words = chunk.choices[0].delta.content
            if words:
                said.append(words)
    _check(len(said), EVENTS)


def _check(found: int, expected: int) -> None:
    if found != expected:
        raise AssertionError(f"expected {expected}, got {found}")


# --- the server -------------------------------------------------------------------------------


def _event(delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_741_570_283,
        "model": "m",
        "choices": [choice],
    }
    return b"data: " + json.dumps(chunk, separators=(",", ":")).encode() + b"\n\n"


LAST = (_event({}, "stop"), b"data: [DONE]\n\n")
PIECES = (*[_event({"content": "tokn"})] * EVENTS, *LAST)
BODY = b"".join(PIECES)


@contextmanager
def _server() -> Generator[str]:
    command = [sys.executable, "-m", "tests.bench.wire"]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                raise AssertionError("no pipe")
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
        finally:
            process.terminate()


def serve() -> None:
    """Answer every request with the same stream, until the process is ended."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
    chunks = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in PIECES]
    answer = b"".join((head, b"connection: close\r\n\r\n", *chunks, b"0\r\n\r\n"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            with connection:
                _read_request(connection)
                connection.sendall(answer)


def _read_request(connection: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65_536)
    head, _, body = data.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        name, _, value = line.partition(b":")
        while name == b"content-length" and len(body) < int(value):
            body += connection.recv(65_536)


if __name__ == "__main__":
    serve()
