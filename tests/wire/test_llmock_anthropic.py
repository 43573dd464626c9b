"""The model of Anthropic's Messages against a provider that breaks in every way it knows."""

import gc
from collections.abc import Coroutine
from typing import Protocol, TypeVar

import pytest

from stepfold.loop import fold_parts
from stepfold.ports import BLOCKING
from stepfold.providers import MessagesModel, anthropic
from stepfold.transport import HttpLimits
from stepfold.values import (
    AssistantMessage,
    JsonText,
    ModelError,
    ModelErrorKind,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamPart,
    Success,
    SystemMessage,
    TextDelta,
    TextOutput,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
    parse_json,
)

T = TypeVar("T")
SECOND = 1_000_000_000
HELLO = ModelRequest(
    messages=(SystemMessage("Be polite."), UserMessage("Say hello to everybody here, please."))
)
WEATHER = ToolDefinition(
    "weather",
    "Look up the weather.",
    JsonText.of(
        {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    ),
)
FAILURES: list[tuple[int, ModelErrorKind, bool]] = [
    (400, "bad-request", False),
    (401, "authentication", False),
    (403, "permission", False),
    (404, "not-found", False),
    (429, "rate-limit", True),
    (500, "server", True),
    (529, "overloaded", True),
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


def model(provider: Provider) -> MessagesModel:
    limits = HttpLimits(connect=5, read=0.5)
    return anthropic(
        "claude-sonnet-4-5",
        api_key="sk-ant-test-key",
        base_url=f"{provider.url}/anthropic",
        limits=limits,
    )


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


async def parts_of(claude: MessagesModel, request: ModelRequest) -> list[StreamPart]:
    async with claude.stream(request) as parts:
        return [part async for part in parts]


async def reason_of(attempt: Coroutine[object, object, object]) -> ModelErrorReason:
    with pytest.raises(ModelError) as caught:
        await attempt
    gc.collect()  # whatever was left open would be reported now
    return caught.value.reason


async def both_replies(provider: Provider, request: ModelRequest) -> tuple[ModelReply, ModelReply]:
    claude = model(provider)
    generated = await claude.generate(request)
    return generated, fold_parts(await parts_of(claude, request))


def same(generated: ModelReply, streamed: ModelReply) -> None:
    """Two exchanges: ids may differ, the reply may not."""
    assert generated.content == streamed.content
    assert generated.finish_reason == streamed.finish_reason
    assert generated.usage == streamed.usage


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


@pytest.mark.parametrize(("status", "kind", "retryable"), FAILURES)
async def test_every_refusal_has_its_kind(
    faulty_provider: Provider, status: int, kind: ModelErrorKind, retryable: bool
) -> None:
    faulty_provider.behave("fail", status=status, times=2)
    claude = model(faulty_provider)

    reasons = [await reason_of(claude.generate(HELLO)), await reason_of(parts_of(claude, HELLO))]

    for reason in reasons:
        assert (reason.kind, reason.is_retryable, reason.status) == (kind, retryable, status)
        assert reason.message


async def test_the_wait_that_is_asked_for_is_passed_on(faulty_provider: Provider) -> None:
    faulty_provider.behave("fail", status=429, retry_after=2)

    reason = await reason_of(model(faulty_provider).generate(HELLO))

    assert reason.retry_after == 2 * SECOND


@pytest.mark.parametrize(("fault", "kind"), FAULTS)
@pytest.mark.parametrize("after", [0, 4])
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


async def test_a_stream_left_early_leaves_nothing_open(faulty_provider: Provider) -> None:
    async with model(faulty_provider) as claude:
        for _ in range(3):
            async with claude.stream(HELLO) as parts:
                await anext(parts)
        assert (await claude.generate(HELLO)).content
    gc.collect()
