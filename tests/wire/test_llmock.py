"""The chat-completions model against a provider that breaks in every way it knows."""

import gc
from collections.abc import Coroutine
from typing import Protocol, TypeVar

import pytest

from stepfold.loop import fold_parts
from stepfold.ports import BLOCKING
from stepfold.providers import ChatModel, openai
from stepfold.transport import HttpLimits
from stepfold.values import (
    AssistantMessage,
    CallSettings,
    JsonFormat,
    JsonText,
    ModelError,
    ModelErrorKind,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamPart,
    Success,
    TextDelta,
    TextOutput,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
    parse_json,
    succeeded,
)

T = TypeVar("T")
SECOND = 1_000_000_000
HELLO = ModelRequest(messages=(UserMessage("Say hello to everybody here, please."),))
WEATHER = ToolDefinition(
    "weather",
    "Look up the weather.",
    JsonText.of(
        {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    ),
)
FAILURES: list[tuple[dict[str, object], ModelErrorKind, bool]] = [
    ({"status": 400}, "bad-request", False),
    ({"status": 400, "code": "context_length_exceeded"}, "context-length", False),
    ({"status": 401}, "authentication", False),
    ({"status": 403}, "permission", False),
    ({"status": 404}, "not-found", False),
    ({"status": 429}, "rate-limit", True),
    ({"status": 429, "code": "insufficient_quota"}, "quota", False),
    ({"status": 500}, "server", True),
    ({"status": 503}, "overloaded", True),
    ({"status": 529}, "overloaded", True),
]
FAULTS: list[tuple[str, ModelErrorKind]] = [
    ("truncate", "protocol"),
    ("disconnect", "protocol"),
    ("malformed", "protocol"),
    ("stall", "timeout"),
]


class Provider(Protocol):
    url: str

    def behave(self, behavior: str, /, **how: object) -> None: ...
    def verdict(self) -> dict[str, object]: ...


def model(provider: Provider) -> ChatModel:
    limits = HttpLimits(connect=5, read=0.5)
    return openai("gpt-4o", api_key="sk-test-key", base_url=f"{provider.url}/v1", limits=limits)


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


async def parts_of(chat: ChatModel, request: ModelRequest) -> list[StreamPart]:
    async with chat.stream(request) as parts:
        return [part async for part in parts]


async def reason_of(attempt: Coroutine[object, object, object]) -> ModelErrorReason:
    with pytest.raises(ModelError) as caught:
        await attempt
    gc.collect()  # whatever was left open would be reported now
    return caught.value.reason


async def both_replies(provider: Provider, request: ModelRequest) -> tuple[ModelReply, ModelReply]:
    chat = model(provider)
    generated = await chat.generate(request)
    return generated, fold_parts(await parts_of(chat, request))


def same(generated: ModelReply, streamed: ModelReply) -> None:
    """Two exchanges: ids and times may differ, the reply may not."""
    assert generated.content == streamed.content
    assert generated.finish_reason == streamed.finish_reason
    assert generated.usage == streamed.usage
    assert generated.response.model_id == streamed.response.model_id


async def test_generating_and_streaming_give_one_reply(faulty_provider: Provider) -> None:
    generated, streamed = await both_replies(faulty_provider, HELLO)

    same(generated, streamed)
    assert generated.finish_reason.unified == "stop"
    assert generated.usage.total_tokens
    assert faulty_provider.verdict()["passed"] is True


def test_generating_and_streaming_without_an_event_loop(faulty_provider: Provider) -> None:
    same(*run_blocking(both_replies(faulty_provider, HELLO)))


async def test_calls_and_their_results(faulty_provider: Provider) -> None:
    arguments = {"city": "Oslo"}
    reply = {"tool_calls": [{"name": "weather", "arguments": arguments}] * 2, "times": 2}
    faulty_provider.behave("reply", **reply)
    request = ModelRequest(messages=HELLO.messages, tools=(WEATHER,), tool_choice="required")

    generated, streamed = await both_replies(faulty_provider, request)

    calls = [part for part in streamed.content if isinstance(part, ToolCall)]
    assert [call.tool_name for call in calls] == ["weather", "weather"]
    assert [parse_json(call.input) for call in calls] == [Success(arguments)] * 2
    assert streamed.finish_reason.unified == generated.finish_reason.unified == "tool-calls"
    results = [ToolResult(call.tool_call_id, "weather", TextOutput("Sunny")) for call in calls]
    answered = ModelRequest(
        messages=(*HELLO.messages, AssistantMessage(calls), ToolMessage(results)),
        tools=(WEATHER,),
    )
    last, _ = await both_replies(faulty_provider, answered)
    assert last.finish_reason.unified == "stop"


async def test_a_reply_in_the_form_that_was_asked_for(faulty_provider: Provider) -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    request = ModelRequest(
        messages=HELLO.messages,
        response_format=JsonFormat(JsonText.of(schema)),
        settings=CallSettings(temperature=0, max_output_tokens=100, stop_sequences=("#",)),
    )

    _, streamed = await both_replies(faulty_provider, request)

    assert succeeded(parse_json("".join(getattr(p, "text", "") for p in streamed.content)))


@pytest.mark.parametrize(("how", "kind", "retryable"), FAILURES)
async def test_every_refusal_has_its_kind(
    faulty_provider: Provider, how: dict[str, object], kind: ModelErrorKind, retryable: bool
) -> None:
    faulty_provider.behave("fail", **how, times=2)
    chat = model(faulty_provider)

    reasons = [await reason_of(chat.generate(HELLO)), await reason_of(parts_of(chat, HELLO))]

    for reason in reasons:
        assert (reason.kind, reason.is_retryable, reason.status) == (
            kind,
            retryable,
            how["status"],
        )
        assert reason.message


async def test_the_wait_that_is_asked_for_is_passed_on(faulty_provider: Provider) -> None:
    faulty_provider.behave("fail", status=429, retry_after=2)

    reason = await reason_of(model(faulty_provider).generate(HELLO))

    assert reason.retry_after == 2 * SECOND


@pytest.mark.parametrize(("fault", "kind"), FAULTS)
@pytest.mark.parametrize("after", [0, 3])
async def test_every_broken_stream_is_an_error_after_what_it_said(
    faulty_provider: Provider, fault: str, kind: ModelErrorKind, after: int
) -> None:
    faulty_provider.behave("stream_fault", kind=fault, after_chunks=after, stall_seconds=3)
    seen: list[StreamPart] = []

    async def read() -> None:
        async with model(faulty_provider).stream(HELLO) as parts:
            async for part in parts:
                seen.append(part)

    reason = await reason_of(read())

    assert (reason.kind, reason.is_retryable) == (kind, True)
    assert any(isinstance(part, TextDelta) for part in seen) == (after > 0)
    assert not any(type(part).__name__ == "Finish" for part in seen)


@pytest.mark.parametrize(("fault", "kind"), FAULTS)
def test_every_broken_stream_is_an_error_without_an_event_loop(
    faulty_provider: Provider, fault: str, kind: ModelErrorKind
) -> None:
    faulty_provider.behave("stream_fault", kind=fault, after_chunks=3, stall_seconds=3)

    assert run_blocking(reason_of(parts_of(model(faulty_provider), HELLO))).kind == kind


def test_a_refusal_has_its_kind_without_an_event_loop(faulty_provider: Provider) -> None:
    faulty_provider.behave("fail", status=429, retry_after=1)

    reason = run_blocking(reason_of(model(faulty_provider).generate(HELLO)))

    assert (reason.kind, reason.retry_after) == ("rate-limit", SECOND)


async def test_a_stream_left_early_leaves_nothing_open(faulty_provider: Provider) -> None:
    async with model(faulty_provider) as chat:
        for _ in range(3):
            async with chat.stream(HELLO) as parts:
                await anext(parts)
        assert (await chat.generate(HELLO)).content
    gc.collect()


async def test_slowness_within_the_limit_is_none(faulty_provider: Provider) -> None:
    faulty_provider.behave("slow_first_token", seconds=0.2)

    assert fold_parts(await parts_of(model(faulty_provider), HELLO)).content


async def test_silence_beyond_the_limit_is_a_timeout(faulty_provider: Provider) -> None:
    faulty_provider.behave("delay", seconds=2)

    assert (await reason_of(model(faulty_provider).generate(HELLO))).kind == "timeout"
