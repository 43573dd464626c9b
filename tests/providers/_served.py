"""A server that is a function: what tests of models over HTTP share."""

import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import TypeVar

import httpx
from typing_extensions import override

from stepfold.loop import fold_parts
from stepfold.ports import BLOCKING, LanguageModel
from stepfold.providers import ConnectionOptions
from stepfold.values import ModelReply, ModelRequest, StreamPart, UserMessage

T = TypeVar("T")
Handler = Callable[[httpx.Request], httpx.Response]
KEY = "sk-very-secret-key"
REQUEST = ModelRequest(messages=(UserMessage("Hi"),))


class Pieces(httpx.AsyncByteStream, httpx.SyncByteStream):
    """A body in pieces, which breaks after the last if it is told to."""

    def __init__(self, *pieces: bytes, error: Exception | None = None) -> None:
        self.pieces = pieces
        self.error = error
        self.was_closed = False

    @override
    def __iter__(self) -> Iterator[bytes]:
        yield from self.pieces
        if self.error is not None:
            raise self.error

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        if self.error is not None:
            raise self.error

    @override
    def close(self) -> None:
        self.was_closed = True

    @override
    async def aclose(self) -> None:
        self.was_closed = True


class Server:
    """Keeps what it was asked, and says the same to everything."""

    def __init__(
        self, answer: object, status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        self.answer = answer
        self.status = status
        self.told = {"x-request-id": "r-1", **(headers or {})}
        self.asked: list[tuple[str, object]] = []
        self.headers: list[dict[str, str]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append((str(request.url), json.loads(request.content)))
        self.headers.append(dict(request.headers))
        return httpx.Response(self.status, json=self.answer, headers=self.told)


def served(handler: Handler, base_url: str = "http://x/v1") -> ConnectionOptions:
    """The way to a server, with a key."""
    transport = httpx.MockTransport(handler)
    return {
        "base_url": base_url,
        "api_key": KEY,
        "client": httpx.AsyncClient(transport=transport),
        "blocking_client": httpx.Client(transport=transport),
    }


def streaming(body: Pieces, content_type: str = "text/event-stream") -> Handler:
    return lambda _: httpx.Response(200, headers={"content-type": content_type}, stream=body)


async def parts_of(model: LanguageModel, request: ModelRequest = REQUEST) -> list[StreamPart]:
    async with model.stream(request) as parts:
        return [part async for part in parts]


async def fold_of(model: LanguageModel) -> ModelReply:
    return fold_parts(await parts_of(model))


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
