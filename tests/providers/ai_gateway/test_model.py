"""The gateway as a model: names, keys, and the laws of models over HTTP."""

import json

import httpx
import pytest

from stepfold.providers import ClientOptions, GatewayModel, gateway, resolve_model
from stepfold.testing.conformance import ProviderSample, check_provider, sse_events
from stepfold.values import ModelError, Text, UsageError
from tests.providers._served import KEY, REQUEST, served

BODY = {
    "content": [{"type": "text", "text": "Hi, Åse."}],
    "finishReason": {"unified": "stop", "raw": "stop"},
    "usage": {"inputTokens": {"total": 3}, "outputTokens": {"total": 2}},
    "warnings": [],
}
EVENTS = (
    {"type": "stream-start", "warnings": []},
    {"type": "response-metadata", "id": "r", "modelId": "m"},
    {"type": "text-start", "id": "0"},
    {"type": "text-delta", "id": "0", "delta": "Hi, "},
    {"type": "text-delta", "id": "0", "delta": "Åse."},
    {"type": "text-end", "id": "0"},
    {"type": "tool-input-start", "id": "c", "toolName": "t"},
    {"type": "tool-input-delta", "id": "c", "delta": "{}"},
    {"type": "tool-input-end", "id": "c"},
    {"type": "tool-call", "toolCallId": "c", "toolName": "t", "input": "{}"},
    {
        "type": "finish",
        "finishReason": {"unified": "tool-calls", "raw": "tool_use"},
        "usage": {"inputTokens": {"total": 3}, "outputTokens": {"total": 2}},
    },
)
REFUSAL = json.dumps({"error": {"message": "slow", "type": "rate_limit_exceeded"}}).encode()


def test_a_model_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AI_GATEWAY_API_KEY", KEY)
    model = resolve_model("gateway/openai/gpt-5.4")

    assert (model.provider, model.model_id) == ("gateway", "openai/gpt-5.4")


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AI_GATEWAY_API_KEY", raising=False)

    with pytest.raises(UsageError, match=r"gateway/openai/m needs a key: .* AI_GATEWAY_API_KEY"):
        gateway("openai/m")


async def test_a_reply_over_http() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=BODY)

    reply = await gateway("openai/m", team="us", **served(answer)).generate(REQUEST)

    assert reply.content == (Text("Hi, Åse."),)
    assert seen[0].headers["x-vercel-ai-gateway-team"] == "us"
    assert seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(seen[0].content)["prompt"][0]["role"] == "user"


async def test_an_error_says_the_name_of_the_model_and_no_key() -> None:
    message = f"Model 'openai/model-x' not found, with {KEY}"
    error = {"error": {"message": message, "type": "model_not_found"}, "generationId": "g"}
    model = gateway("openai/model-x", **served(lambda _: httpx.Response(404, json=error)))

    with pytest.raises(ModelError) as caught:
        await model.generate(REQUEST)

    assert caught.value.reason.kind == "not-found"
    assert caught.value.reason.request_id == "g"
    assert "openai/model-x" in caught.value.reason.message
    assert KEY not in caught.value.reason.message


def test_the_laws_of_models_over_http() -> None:
    def make(options: ClientOptions) -> GatewayModel:
        return gateway("openai/m", base_url="http://x", **options)

    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in EVENTS).encode()
    check_provider(
        make,
        [
            ProviderSample(name="text", body=json.dumps(BODY).encode()),
            ProviderSample(name="calls", events=sse_events(stream)),
            ProviderSample(name="refusal", body=REFUSAL, is_error=True, status=429),
        ],
    )
