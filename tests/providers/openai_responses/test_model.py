import gc
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import TypeVar

import httpx
import pytest
from typing_extensions import override

from stepfold.loop import fold_parts
from stepfold.ports import BLOCKING, LanguageModel
from stepfold.providers import OpenAIResponsesModel, openai_responses, resolve_model
from stepfold.values import (
    FinishReason,
    ModelError,
    ModelReply,
    ModelRequest,
    StreamPart,
    Text,
    TextDelta,
    UsageError,
    UserMessage,
)

T = TypeVar("T")
Handler = Callable[[httpx.Request], httpx.Response]
KEY = "sk-very-secret-key"
REQUEST = ModelRequest(messages=(UserMessage("Hi"),))
ITEM = {"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}
WHOLE = {"id": "i", "status": "completed", "output": [ITEM]}
CHUNK = b'data: {"type":"response.output_text.delta","output_index":0,"delta":"Hello"}\n\n'
STOP = b"data: " + json.dumps({"type": "response.completed", "response": WHOLE}).encode() + b"\n\n"
STREAM = [CHUNK[:10], CHUNK[10:] + STOP[:5], STOP[5:]]
REPLY = (Text("Hello"),)


class Pieces(httpx.AsyncByteStream, httpx.SyncByteStream):
    """A body in pieces, which breaks after the last if it is told to."""

    def __init__(self, pieces: list[bytes], error: Exception | None = None) -> None:
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


def model(handler: Handler) -> OpenAIResponsesModel:
    transport = httpx.MockTransport(handler)
    return openai_responses(
        "m",
        base_url="http://x/v1",
        api_key=KEY,
        client=httpx.AsyncClient(transport=transport),
        blocking_client=httpx.Client(transport=transport),
    )


def streaming(body: Pieces, content_type: str = "text/event-stream") -> Handler:
    return lambda _: httpx.Response(200, headers={"content-type": content_type}, stream=body)


async def parts_of(language_model: LanguageModel) -> list[StreamPart]:
    async with language_model.stream(REQUEST) as parts:
        return [part async for part in parts]


async def fold_of(language_model: LanguageModel) -> ModelReply:
    return fold_parts(await parts_of(language_model))


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


def test_it_is_a_language_model() -> None:
    language_model: LanguageModel = model(streaming(Pieces([])))

    assert (language_model.provider, language_model.model_id) == ("openai", "m")
    assert repr(language_model) == "<OpenAIResponsesModel openai/m at http://x/v1>"


async def test_generating_and_streaming_give_one_reply() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert request.url == "http://x/v1/responses"
        if json.loads(request.content).get("stream"):
            return streaming(Pieces(STREAM))(request)
        return httpx.Response(200, json=WHOLE, headers={"x-request-id": "r"})

    language_model = model(answer)

    reply = await language_model.generate(REQUEST)
    assert reply.content == REPLY
    assert reply.finish_reason == FinishReason("stop", "completed")
    assert reply.response.headers == (("x-request-id", "r"),)
    assert (await fold_of(language_model)).content == REPLY


def test_generating_and_streaming_without_an_event_loop() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if json.loads(request.content).get("stream"):
            return streaming(Pieces(STREAM))(request)
        return httpx.Response(200, json=WHOLE)

    async def both() -> tuple[ModelReply, ModelReply]:
        language_model = model(answer)
        async with language_model:
            return await language_model.generate(REQUEST), await fold_of(language_model)

    generated, streamed = run_blocking(both())

    assert generated == streamed


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8"])
async def test_a_stream_may_be_answered_in_one_piece(content_type: str) -> None:
    body = Pieces([json.dumps(WHOLE).encode()])

    assert (await fold_of(model(streaming(body, content_type)))).content == REPLY


async def test_a_refused_request_is_a_model_error_without_the_key() -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        error = {"message": f"Bad key {KEY}", "code": "invalid_api_key"}
        return httpx.Response(401, json={"error": error}, headers={"x-request-id": "r"})

    for attempt in (model(refuse).generate(REQUEST), parts_of(model(refuse))):
        with pytest.raises(ModelError) as caught:
            await attempt
        reason = caught.value.reason
        assert (reason.kind, reason.status, reason.request_id) == ("authentication", 401, "r")
        assert reason.message == "Bad key [hidden]"


async def test_a_web_page_is_no_stream() -> None:
    with pytest.raises(ModelError) as caught:
        await parts_of(model(streaming(Pieces([b"<html>"]), "text/html")))

    assert caught.value.reason.kind == "protocol"


async def test_an_error_inside_a_stream_is_raised_after_what_came_before_it() -> None:
    body = Pieces([CHUNK, b'data: {"type":"error","message":"Busy","code":"overloaded_error"}\n\n'])
    seen: list[StreamPart] = []

    async def see() -> None:
        async with model(streaming(body)).stream(REQUEST) as parts:
            async for part in parts:
                seen.append(part)

    with pytest.raises(ModelError) as caught:
        await see()

    assert caught.value.reason.kind == "overloaded"
    assert TextDelta("0-part-0", "Hello") in seen
    assert body.was_closed


async def test_a_stream_that_ends_without_its_last_event_is_no_reply() -> None:
    with pytest.raises(ModelError, match="may be cut"):
        await parts_of(model(streaming(Pieces([CHUNK]))))


async def test_a_connection_that_breaks_is_a_model_error_unless_all_was_said() -> None:
    broken = httpx.RemoteProtocolError("peer closed connection")

    with pytest.raises(ModelError, match="peer closed connection") as caught:
        await parts_of(model(streaming(Pieces([CHUNK], broken))))
    assert caught.value.reason.kind == "protocol"
    assert (await fold_of(model(streaming(Pieces([CHUNK, STOP], broken))))).content == REPLY


async def test_a_stream_may_be_left_early() -> None:
    body = Pieces([CHUNK] * 100)

    async with model(streaming(body)).stream(REQUEST) as parts:
        async for part in parts:
            if isinstance(part, TextDelta):
                break
    gc.collect()

    assert body.was_closed


def test_its_key_and_address_are_those_of_the_arguments_or_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        resolve_model("openai-responses/gpt-5.4")
    given = openai_responses("gpt-5.4", api_key=KEY, organization="o", headers={"X-A": "1"})
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    named = resolve_model("openai-responses/gpt-5.4")

    assert given.options.url == "https://api.openai.com/v1/responses"
    assert given.options.headers == (
        ("authorization", f"Bearer {KEY}"),
        ("openai-organization", "o"),
        ("x-a", "1"),
    )
    assert KEY not in repr(given.options)
    assert given.options.dialect.reasons
    assert isinstance(named, OpenAIResponsesModel)
    assert named.options.url == "http://localhost:1/v1/responses"


async def test_a_key_with_a_line_end_inside_is_the_callers_mistake() -> None:
    wrong = openai_responses("m", base_url="http://x", api_key="sk-very\nsecret")

    with pytest.raises(UsageError, match="authorization") as caught:
        await wrong.generate(REQUEST)

    assert "secret" not in str(caught.value)
