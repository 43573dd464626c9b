"""Models of every other protocol against a provider that breaks in every way it knows."""

import gc
from collections.abc import Awaitable, Callable

import pytest

from stepfold.loop import fold_parts
from stepfold.ports import LanguageModel
from stepfold.providers import ConnectionOptions, chat_model, cohere, google
from stepfold.transport import HttpLimits
from stepfold.values import (
    AssistantMessage,
    Finish,
    JsonText,
    ModelError,
    ModelErrorKind,
    ModelErrorReason,
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
)
from tests.wire.conftest import FaultyProvider

pytestmark = pytest.mark.wire

SECOND = 1_000_000_000
HELLO = ModelRequest(messages=(UserMessage("Say hello to everybody here, please."),))
WEATHER = ToolDefinition(
    "weather",
    "Look up the weather.",
    JsonText.of(
        {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    ),
)


def gemini(options: ConnectionOptions) -> LanguageModel:
    return google("gemini-2.5-flash", **options)


def by_cohere(options: ConnectionOptions) -> LanguageModel:
    return cohere("command-a-03-2025", **options)


def by_chat(name: str) -> Callable[[ConnectionOptions], LanguageModel]:
    return lambda options: chat_model(name, "m", **options)


MODELS: dict[str, tuple[str, Callable[[ConnectionOptions], LanguageModel]]] = {
    "cohere": ("cohere/v2", by_cohere),
    "google": ("gemini/v1beta", gemini),
    "groq": ("groq/openai/v1", by_chat("groq")),
    "mistral": ("mistral/v1", by_chat("mistral")),
    "perplexity": ("perplexity/v1", by_chat("perplexity")),
    "together": ("together/v1", by_chat("together")),
    "xai": ("xai/v1", by_chat("xai")),
}
# The mock counts in the streams of this one when it is asked to; the real one always counts, and
# knows no such question.
UNCOUNTED = {"mistral"}
FAILURES: list[tuple[int, ModelErrorKind, bool]] = [
    (400, "bad-request", False),
    (401, "authentication", False),
    (403, "permission", False),
    (404, "not-found", False),
    (429, "rate-limit", True),
    (500, "server", True),
    (503, "overloaded", True),
]
FAULTS: list[tuple[str, ModelErrorKind]] = [
    ("truncate", "protocol"),
    ("disconnect", "protocol"),
    ("malformed", "protocol"),
    ("stall", "timeout"),
]


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest, faulty_provider: FaultyProvider) -> LanguageModel:
    path, make = MODELS[request.param]
    return make(
        {
            "api_key": "test-key-0123456789",
            "base_url": f"{faulty_provider.url}/{path}",
            "limits": HttpLimits(connect=5, read=0.5),
        }
    )


async def parts_of(model: LanguageModel, request: ModelRequest) -> list[StreamPart]:
    async with model.stream(request) as parts:
        return [part async for part in parts]


async def reason_of(attempt: Awaitable[object]) -> ModelErrorReason:
    with pytest.raises(ModelError) as caught:
        await attempt
    gc.collect()  # whatever was left open would be reported now
    return caught.value.reason


async def test_generating_and_streaming_give_one_reply(
    faulty_provider: FaultyProvider, model: LanguageModel
) -> None:
    generated = await model.generate(HELLO)
    streamed = fold_parts(await parts_of(model, HELLO))

    assert generated.content == streamed.content
    assert generated.content
    assert generated.finish_reason.unified == streamed.finish_reason.unified == "stop"
    assert generated.usage.total_tokens
    assert generated.usage == streamed.usage or model.provider in UNCOUNTED
    assert faulty_provider.verdict()["passed"] is True


async def test_calls_and_their_results(
    faulty_provider: FaultyProvider, model: LanguageModel
) -> None:
    arguments = {"city": "Oslo"}
    calls = [{"name": "weather", "arguments": arguments}] * 2
    faulty_provider.behave("reply", tool_calls=calls)
    request = ModelRequest(messages=HELLO.messages, tools=(WEATHER,), tool_choice="required")

    reply = fold_parts(await parts_of(model, request))

    made = [part for part in reply.content if isinstance(part, ToolCall)]
    assert [parse_json(call.input) for call in made] == [Success(arguments)] * 2
    assert reply.finish_reason.unified == "tool-calls"
    results = [ToolResult(call.tool_call_id, "weather", TextOutput("Sunny")) for call in made]
    answered = ModelRequest(
        messages=(*HELLO.messages, AssistantMessage(made), ToolMessage(results)),
        tools=(WEATHER,),
    )
    assert (await model.generate(answered)).finish_reason.unified == "stop"
    assert faulty_provider.verdict()["passed"] is True


@pytest.mark.parametrize(("status", "kind", "retryable"), FAILURES)
async def test_every_refusal_has_its_kind(
    faulty_provider: FaultyProvider,
    model: LanguageModel,
    status: int,
    kind: ModelErrorKind,
    retryable: bool,
) -> None:
    faulty_provider.behave("fail", status=status, times=2)

    reasons = [await reason_of(model.generate(HELLO)), await reason_of(parts_of(model, HELLO))]

    for reason in reasons:
        assert (reason.kind, reason.is_retryable, reason.status) == (kind, retryable, status)
        assert reason.message


async def test_the_wait_that_is_asked_for_is_passed_on(
    faulty_provider: FaultyProvider, model: LanguageModel
) -> None:
    faulty_provider.behave("fail", status=429, retry_after=2)

    assert (await reason_of(model.generate(HELLO))).retry_after == 2 * SECOND


@pytest.mark.parametrize(("fault", "kind"), FAULTS)
@pytest.mark.parametrize("after", [0, 3])
async def test_every_broken_stream_is_an_error_after_what_it_said(
    faulty_provider: FaultyProvider,
    model: LanguageModel,
    fault: str,
    kind: ModelErrorKind,
    after: int,
) -> None:
    faulty_provider.behave("stream_fault", kind=fault, after_chunks=after, stall_seconds=3)
    seen: list[StreamPart] = []

    async def read() -> None:
        async with model.stream(HELLO) as parts:
            async for part in parts:
                seen.append(part)

    reason = await reason_of(read())

    assert (reason.kind, reason.is_retryable) == (kind, True)
    assert any(isinstance(part, TextDelta) for part in seen) == (after > 0)
    assert not any(isinstance(part, Finish) for part in seen)


async def test_a_stream_left_early_leaves_nothing_open(model: LanguageModel) -> None:
    async with model.stream(HELLO) as parts:
        await anext(parts)
    assert (await model.generate(HELLO)).content
    gc.collect()
