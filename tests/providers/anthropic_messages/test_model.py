import gc
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import TypeVar

import httpx
import pytest
from typing_extensions import override

import stepfold as sf
from stepfold.loop import fold_parts
from stepfold.ports import BLOCKING, LanguageModel
from stepfold.providers import AnthropicModel, anthropic, resolve_model
from stepfold.values import (
    ModelError,
    ModelReply,
    ModelRequest,
    StreamPart,
    TextDelta,
    UsageError,
    UserMessage,
)

T = TypeVar("T")
Handler = Callable[[httpx.Request], httpx.Response]
KEY = "sk-ant-very-secret-key"
REQUEST = ModelRequest(messages=(UserMessage("Hi"),))
SAMPLES = Path(__file__).parents[2] / "data" / "anthropic_messages"
STREAM = (SAMPLES / "thinking_and_calls.sse").read_bytes()
WHOLE = (SAMPLES / "thinking_and_calls.json").read_bytes()


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


def model(handler: Handler) -> AnthropicModel:
    transport = httpx.MockTransport(handler)
    return anthropic(
        "claude-sonnet-4-5",
        base_url="http://x",
        api_key=KEY,
        client=httpx.AsyncClient(transport=transport),
        blocking_client=httpx.Client(transport=transport),
    )


def streaming(body: Pieces, content_type: str = "text/event-stream") -> Handler:
    return lambda _: httpx.Response(200, headers={"content-type": content_type}, stream=body)


def answer(request: httpx.Request) -> httpx.Response:
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.url == "http://x/v1/messages"
    headers = {"request-id": "r"}
    if json.loads(request.content).get("stream"):
        stream = Pieces(STREAM[:300], STREAM[300:])
        return httpx.Response(
            200, headers={**headers, "content-type": "text/event-stream"}, stream=stream
        )
    return httpx.Response(200, content=WHOLE, headers=headers)


async def parts_of(language_model: LanguageModel) -> list[StreamPart]:
    async with language_model.stream(REQUEST) as parts:
        return [part async for part in parts]


async def both(language_model: AnthropicModel) -> tuple[ModelReply, ModelReply]:
    async with language_model:
        generated = await language_model.generate(REQUEST)
        return generated, fold_parts(await parts_of(language_model))


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
    language_model: LanguageModel = model(answer)

    assert (language_model.provider, language_model.model_id) == ("anthropic", "claude-sonnet-4-5")
    assert repr(language_model) == "<AnthropicModel anthropic/claude-sonnet-4-5 at http://x/v1>"


async def test_generating_and_streaming_give_one_reply() -> None:
    generated, streamed = await both(model(answer))

    assert generated == streamed
    assert generated.response.headers == (("request-id", "r"),)


def test_generating_and_streaming_without_an_event_loop() -> None:
    with model(answer) as language_model:
        generated, streamed = run_blocking(both(language_model))

    assert generated == streamed


async def test_a_stream_may_be_answered_in_one_piece() -> None:
    whole = model(streaming(Pieces(WHOLE), "application/json"))

    assert fold_parts(await parts_of(whole)).finish_reason.unified == "tool-calls"


async def test_a_refused_request_is_a_model_error_without_the_key() -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        error = {"type": "authentication_error", "message": f"invalid x-api-key {KEY}"}
        body = {"type": "error", "error": error}
        return httpx.Response(401, json=body, headers={"request-id": "r"})

    for attempt in (model(refuse).generate(REQUEST), parts_of(model(refuse))):
        with pytest.raises(ModelError) as caught:
            await attempt
        reason = caught.value.reason
        assert (reason.kind, reason.status, reason.request_id) == ("authentication", 401, "r")
        assert reason.message == "invalid x-api-key [hidden]"


async def test_an_overloaded_server() -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        return httpx.Response(529, json=body, headers={"retry-after": "3"})

    with pytest.raises(ModelError) as caught:
        await model(refuse).generate(REQUEST)

    reason = caught.value.reason
    assert (reason.kind, reason.is_retryable) == ("overloaded", True)
    assert reason.retry_after == 3_000_000_000


async def test_a_reply_that_is_none_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="no content"):
        await model(lambda _: httpx.Response(200, json={})).generate(REQUEST)


async def test_an_error_inside_a_stream_is_raised_after_what_came_before_it() -> None:
    said = STREAM.partition(b"event: message_delta")[0]
    error = b'data: {"type":"error","error":{"type":"overloaded_error","message":"Busy"}}\n\n'
    body = Pieces(said, error)
    seen: list[StreamPart] = []

    async def see() -> None:
        async with model(streaming(body)).stream(REQUEST) as parts:
            async for part in parts:
                seen.append(part)

    with pytest.raises(ModelError) as caught:
        await see()

    assert caught.value.reason.kind == "overloaded"
    assert any(isinstance(part, TextDelta) for part in seen)
    assert body.was_closed


async def test_a_stream_that_is_cut_is_no_reply() -> None:
    cut = STREAM.partition(b"event: message_stop")[0]

    with pytest.raises(ModelError, match="may be cut"):
        await parts_of(model(streaming(Pieces(cut))))


async def test_a_connection_that_breaks_is_a_model_error_unless_all_was_said() -> None:
    broken = httpx.RemoteProtocolError("peer closed connection")

    with pytest.raises(ModelError, match="peer closed connection"):
        await parts_of(model(streaming(Pieces(STREAM[:-60], error=broken))))
    whole = model(streaming(Pieces(STREAM, error=broken)))
    assert fold_parts(await parts_of(whole)).content


async def test_a_stream_may_be_left_early() -> None:
    body = Pieces(STREAM[:900], STREAM[900:])

    async with model(streaming(body)).stream(REQUEST) as parts:
        await anext(parts)
    gc.collect()

    assert body.was_closed


def test_key_and_address_come_from_the_arguments_or_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        anthropic("claude-opus-4-8")
    given = anthropic("claude-opus-4-8", api_key=f" {KEY}\n", headers={"X-A": "1"})
    assert given.options.url == "https://api.anthropic.com/v1/messages"
    assert given.options.headers == (
        ("x-api-key", KEY),
        ("anthropic-version", "2023-06-01"),
        ("x-a", "1"),
    )
    assert given.options.dialect.thinking == "adaptive"
    assert KEY not in repr(given.options) + repr(given)

    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://localhost:1/v1/")
    named = resolve_model("anthropic/claude-opus-4-8")
    assert isinstance(named, AnthropicModel)
    assert named.options.url == "http://localhost:1/v1/messages"
    with pytest.raises(UsageError, match="https://"):
        anthropic("claude-opus-4-8", base_url="localhost:1")


def scripted(*bodies: bytes) -> tuple[AnthropicModel, list[dict[str, object]]]:
    """A model that gives these replies, and what it was sent."""
    left = list(bodies)
    sent: list[dict[str, object]] = []

    def reply(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(200, content=left.pop(0))

    return model(reply), sent


def content_of(request: dict[str, object], turn: int) -> object:
    messages = request["messages"]
    assert isinstance(messages, list)
    content: object = messages[turn]["content"]
    return content


async def test_thoughts_and_calls_go_back_in_the_next_step() -> None:
    @sf.tool
    def weather(city: str) -> str:
        """Look up the weather."""
        return f"Snow in {city}"

    @sf.tool
    def now() -> str:
        """Say what time it is."""
        raise sf.ToolFault("no clock")

    last = json.dumps({"content": [{"type": "text", "text": "Snow."}], "stop_reason": "end_turn"})
    claude, sent = scripted(WHOLE, last.encode())

    run = await sf.Agent(model=claude, tools=[weather, now]).generate("Hi")

    assert run.unwrap() == "Snow."
    assert content_of(sent[1], 1) == json.loads(WHOLE)["content"]
    assert content_of(sent[1], 2) == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Snow in Oslo"},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no clock", "is_error": True},
    ]


async def test_a_paused_turn_goes_on_with_all_that_the_server_did() -> None:
    paused = (SAMPLES / "web_search.json").read_bytes()
    last = json.dumps({"content": [{"type": "text", "text": "Snow."}], "stop_reason": "end_turn"})
    claude, sent = scripted(paused, last.encode())
    agent = sf.Agent(model=claude)

    first = await agent.generate("Hi")
    assert isinstance(first.end, sf.Stopped)
    assert first.steps[-1].finish_reason.raw == "pause_turn"
    second = await agent.generate(first.messages)

    assert second.unwrap() == "Snow."
    given = json.loads(paused)["content"]
    del given[0]["caller"], given[2]["citations"][1]["file_id"]
    assert content_of(sent[1], 1) == given
