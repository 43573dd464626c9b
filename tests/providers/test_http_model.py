"""What holds for every protocol: each is told by what its server says."""

import gc
import json
from collections.abc import Callable
from typing import final

import httpx
import pytest
from attrs import frozen

from stepfold.ports import LanguageModel
from stepfold.providers import anthropic, google, openai, openai_compatible, openai_responses
from stepfold.values import (
    ModelError,
    ModelReply,
    StreamPart,
    Text,
    TextDelta,
    UsageError,
)
from tests.providers._served import (
    KEY,
    REQUEST,
    Handler,
    Pieces,
    fold_of,
    parts_of,
    run_blocking,
    served,
    streaming,
)


@final
@frozen(order=False)
class Protocol:
    """A protocol, and one reply of it: in one piece, and as events."""

    name: str
    make: Callable[[Handler], LanguageModel]
    url: str
    whole: bytes
    said: bytes
    """Events up to a text."""
    rest: bytes
    """The events from there to the end."""
    error: bytes
    """An event that tells of a server too busy."""


def event(kind: str, **more: object) -> bytes:
    return b"data: " + json.dumps({"type": kind, **more}).encode() + b"\n\n"


def choice(**more: object) -> bytes:
    return b"data: " + json.dumps({"id": "i", "choices": [{"index": 0, **more}]}).encode() + b"\n\n"


def candidate(**more: object) -> dict[str, object]:
    return {"candidates": [{"content": {"parts": [{"text": "Hello"}]}, **more}]}


ITEM = {"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}
RESPONSE = {"id": "i", "status": "completed", "output": [ITEM]}
BUSY = {"type": "overloaded_error", "message": "Busy"}
MESSAGE = {"id": "i", "model": "m", "role": "assistant"}

PROTOCOLS = (
    Protocol(
        "chat completions",
        lambda handler: openai("m", **served(handler)),
        "http://x/v1/chat/completions",
        json.dumps(
            {"id": "i", "choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}
        ).encode(),
        choice(delta={"content": "Hello"}),
        choice(delta={}, finish_reason="stop") + b"data: [DONE]\n\n",
        b"data: " + json.dumps({"error": BUSY}).encode() + b"\n\n",
    ),
    Protocol(
        "responses",
        lambda handler: openai_responses("m", **served(handler)),
        "http://x/v1/responses",
        json.dumps(RESPONSE).encode(),
        event("response.output_text.delta", output_index=0, delta="Hello"),
        event("response.completed", response=RESPONSE),
        event("error", message="Busy", code="overloaded_error"),
    ),
    Protocol(
        "messages",
        lambda handler: anthropic("m", **served(handler)),
        "http://x/v1/messages",
        json.dumps(
            {**MESSAGE, "content": [{"type": "text", "text": "Hello"}], "stop_reason": "end_turn"}
        ).encode(),
        event("message_start", message={**MESSAGE, "content": []})
        + event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        + event("content_block_delta", index=0, delta={"type": "text_delta", "text": "Hello"}),
        event("content_block_stop", index=0)
        + event("message_delta", delta={"stop_reason": "end_turn"})
        + event("message_stop"),
        event("error", error=BUSY),
    ),
    Protocol(
        "generateContent",
        lambda handler: google("m", **served(handler)),
        "http://x/v1/models/m:generateContent",
        json.dumps(candidate(finishReason="STOP")).encode(),
        b"data: " + json.dumps(candidate()).encode() + b"\n\n",
        b'data: {"candidates":[{"finishReason":"STOP"}]}\n\n',
        b'data: {"error":{"code":503,"message":"Busy","status":"UNAVAILABLE"}}\n\n',
    ),
)


@pytest.fixture(params=PROTOCOLS, ids=lambda protocol: protocol.name)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    given: object = request.param
    assert isinstance(given, Protocol)
    return given


def answering(protocol: Protocol) -> Handler:
    def answer(request: httpx.Request) -> httpx.Response:
        assert str(request.url).startswith(protocol.url.removesuffix("generateContent"))
        assert any(KEY in value for value in request.headers.values())
        headers = {"x-request-id": "r"}
        is_stream = json.loads(request.content).get("stream") or request.url.query
        if not is_stream:
            return httpx.Response(200, content=protocol.whole, headers=headers)
        events = protocol.said + protocol.rest
        body = Pieces(events[:10], events[10:-5], events[-5:])
        headers["content-type"] = "text/event-stream"
        return httpx.Response(200, headers=headers, stream=body)

    return answer


def seen_of(reply: ModelReply) -> tuple[object, ...]:
    return reply.content, reply.finish_reason.unified, reply.response.headers


SEEN = (Text("Hello"),), "stop", (("x-request-id", "r"),)


def test_it_is_a_language_model(protocol: Protocol) -> None:
    model: LanguageModel = protocol.make(answering(protocol))

    assert repr(model) == f"<HttpModel {model.provider}/m at http://x/v1>"
    assert model.model_id == "m"


async def test_generating_and_streaming_give_one_reply(protocol: Protocol) -> None:
    model = protocol.make(answering(protocol))

    assert seen_of(await model.generate(REQUEST)) == SEEN
    assert seen_of(await fold_of(model)) == SEEN


def test_generating_and_streaming_without_an_event_loop(protocol: Protocol) -> None:
    model = protocol.make(answering(protocol))

    async def both() -> tuple[ModelReply, ModelReply]:
        return await model.generate(REQUEST), await fold_of(model)

    generated, streamed = run_blocking(both())

    assert seen_of(generated) == seen_of(streamed) == SEEN


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8"])
async def test_a_stream_may_be_answered_in_one_piece(protocol: Protocol, content_type: str) -> None:
    model = protocol.make(streaming(Pieces(protocol.whole), content_type))

    assert (await fold_of(model)).content == (Text("Hello"),)


async def test_a_refused_request_is_a_model_error_without_the_key(protocol: Protocol) -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        error = {"message": f"Bad key {KEY}", "type": "authentication_error"}
        return httpx.Response(401, json={"error": error}, headers={"x-request-id": "r"})

    model = protocol.make(refuse)
    for attempt in (model.generate(REQUEST), parts_of(model)):
        with pytest.raises(ModelError) as caught:
            await attempt
        reason = caught.value.reason
        assert (reason.kind, reason.status, reason.request_id) == ("authentication", 401, "r")
        assert reason.message == "Bad key [hidden]"


async def test_a_server_that_is_too_busy_says_when_to_come_again(protocol: Protocol) -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        return httpx.Response(529, json={"error": BUSY}, headers={"retry-after": "3"})

    with pytest.raises(ModelError) as caught:
        await protocol.make(refuse).generate(REQUEST)

    reason = caught.value.reason
    assert (reason.kind, reason.is_retryable) == ("overloaded", True)
    assert reason.retry_after == 3_000_000_000


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"<html>", b'{"content":7}', b"\xff"])
async def test_a_reply_that_is_none_is_a_model_error(protocol: Protocol, body: bytes) -> None:
    model = protocol.make(lambda _: httpx.Response(200, content=body))

    with pytest.raises(ModelError) as caught:
        await model.generate(REQUEST)

    assert caught.value.reason.kind == "protocol"


async def test_a_web_page_is_no_stream(protocol: Protocol) -> None:
    with pytest.raises(ModelError) as caught:
        await parts_of(protocol.make(streaming(Pieces(b"<html>"), "text/html")))

    assert caught.value.reason.kind == "protocol"


async def test_an_error_inside_a_stream_is_raised_after_what_came_before_it(
    protocol: Protocol,
) -> None:
    body = Pieces(protocol.said, protocol.error)
    seen: list[StreamPart] = []

    async def see() -> None:
        async with protocol.make(streaming(body)).stream(REQUEST) as parts:
            async for part in parts:
                seen.append(part)

    with pytest.raises(ModelError) as caught:
        await see()

    assert caught.value.reason.kind == "overloaded"
    assert [part.delta for part in seen if isinstance(part, TextDelta)] == ["Hello"]
    assert body.was_closed


async def test_a_stream_that_ends_too_soon_is_no_reply(protocol: Protocol) -> None:
    with pytest.raises(ModelError, match="may be cut"):
        await parts_of(protocol.make(streaming(Pieces(protocol.said))))


async def test_a_connection_that_breaks_is_a_model_error_unless_all_was_said(
    protocol: Protocol,
) -> None:
    broken = httpx.RemoteProtocolError("peer closed connection")
    cut = Pieces(protocol.said, error=broken)
    whole = Pieces(protocol.said + protocol.rest, error=broken)

    with pytest.raises(ModelError, match="peer closed connection") as caught:
        await parts_of(protocol.make(streaming(cut)))
    assert caught.value.reason.kind == "protocol"
    assert (await fold_of(protocol.make(streaming(whole)))).content == (Text("Hello"),)


async def test_a_stream_may_be_left_early(protocol: Protocol) -> None:
    body = Pieces(protocol.said, *[b": still here\n\n"] * 100)

    async with protocol.make(streaming(body)).stream(REQUEST) as parts:
        async for part in parts:
            if isinstance(part, TextDelta):
                break
    gc.collect()

    assert body.was_closed


@pytest.mark.parametrize("make", [openai, openai_compatible, openai_responses, anthropic, google])
async def test_a_key_with_a_line_end_inside_is_the_callers_mistake(
    make: Callable[..., LanguageModel],
) -> None:
    wrong = make("m", base_url="http://x", api_key="sk-very\nsecret")

    with pytest.raises(UsageError, match=r"authorization|x-api-key|x-goog-api-key") as caught:
        await wrong.generate(REQUEST)

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("make", [openai, openai_compatible, openai_responses, anthropic, google])
def test_an_address_is_one_of_http(make: Callable[..., LanguageModel]) -> None:
    with pytest.raises(UsageError, match="https://"):
        make("m", base_url="localhost:8080/v1", api_key=KEY)
