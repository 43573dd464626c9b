"""The AI SDK sends the same for the same call, and makes the same of the same answer.

What differs is listed: the SDK names itself in the `headers` of a body, and sends some members of
a tool that say nothing.
"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typing_extensions import TypeIs

from stepfold.loop import fold_parts
from stepfold.ports import EmbeddingRequest, RerankingRequest
from stepfold.providers import ai_gateway, gateway, gateway_embedding, gateway_reranking
from stepfold.providers._failures import reason_of_response
from stepfold.providers.ai_gateway import decode_reply, encode_request, gateway_decoder
from stepfold.shell import AnyTool
from stepfold.transport import HttpResponse
from stepfold.values import (
    AssistantMessage,
    CallSettings,
    File,
    FileUrl,
    JsonFormat,
    JsonOutput,
    JsonText,
    ModelReply,
    ModelRequest,
    NamedTool,
    ProviderTool,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UrlSource,
    UserMessage,
)
from tests.providers.ai_gateway.test_reply import BODY, EVENTS, stream_of
from tests.providers.test_own_tools import DEFINED, HOSTED, asked, on_the_wire
from tests.wire._node import node_with

pytestmark = pytest.mark.wire

Json = dict[str, object]
Run = Callable[[list[Json]], list[Json]]

SCRIPT = Path(__file__).parents[1] / "data" / "ai_sdk" / "calls.mjs"
PACKAGES = (
    *("ai@7.0.173", "@ai-sdk/gateway@4.0.146", "@ai-sdk/openai@4.0.118"),
    *("@ai-sdk/anthropic@4.0.105", "@ai-sdk/google@4.0.121", "@ai-sdk/xai@4.0.59", "zod@4.1.12"),
)
SCHEMA = '{"type":"object","properties":{"a":{"type":"number"}}}'
OPTIONS = '{"gateway":{"order":["azure"]},"openai":{"store":false}}'


def is_object(value: object) -> TypeIs[Json]:
    return isinstance(value, dict)


@pytest.fixture(scope="session")
def ai_sdk() -> Run:
    try:
        node, modules = node_with("ai-sdk", *PACKAGES)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"the AI SDK is not to be had here: {error}")

    def run(jobs: list[Json]) -> list[Json]:
        done = subprocess.run(
            [node, str(SCRIPT), str(modules.parent)],
            input=json.dumps(jobs).encode(),
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        results: list[Json] = json.loads(done.stdout)
        return results

    return run


# --- the gateway ------------------------------------------------------------------------------

CALLS: list[tuple[ModelRequest, Json]] = [
    (ModelRequest(messages=(UserMessage("Hi"),)), {"prompt": "Hi"}),
    (
        ModelRequest(
            messages=(
                UserMessage(
                    (
                        Text("Look."),
                        File(b"%PDF-1", "application/pdf", filename="a.pdf"),
                        File(FileUrl("https://x.test/a.png"), "image/png"),
                        File(b"\x89PNG\r\n\x1a\n", "image"),
                    )
                ),
                AssistantMessage(
                    (
                        Reasoning(
                            "hm", provider_options=JsonText('{"anthropic":{"signature":"s"}}')
                        ),
                        Text("Well."),
                        ToolCall("c1", "t", '{"a":1}'),
                    )
                ),
                ToolMessage((ToolResult("c1", "t", JsonOutput(JsonText('{"b":2}'))),)),
                UserMessage("And?"),
            ),
            instructions="Be brief.",
            tools=(ToolDefinition("t", "It does.", JsonText(SCHEMA)),),
            tool_choice=NamedTool("t"),
            settings=CallSettings(
                max_output_tokens=9,
                temperature=0.5,
                top_p=0.3,
                top_k=4,
                presence_penalty=0.1,
                frequency_penalty=0.2,
                stop_sequences=("#",),
                seed=3,
                reasoning="low",
            ),
            response_format=JsonFormat(JsonText(SCHEMA), name="n", description="d"),
            provider_options=JsonText(OPTIONS),
            headers=(("x-a", "1"),),
        ),
        {
            "instructions": "Be brief.",
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Look."},
                        {
                            "type": "file",
                            "data": {"$bytes": "JVBERi0x"},
                            "mediaType": "application/pdf",
                            "filename": "a.pdf",
                        },
                        {
                            "type": "file",
                            "data": {"$url": "https://x.test/a.png"},
                            "mediaType": "image/png",
                        },
                        {"type": "file", "data": {"$bytes": "iVBORw0KGgo="}, "mediaType": "image"},
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {
                            "type": "reasoning",
                            "text": "hm",
                            "providerOptions": {"anthropic": {"signature": "s"}},
                        },
                        {"type": "text", "text": "Well."},
                        {
                            "type": "tool-call",
                            "toolCallId": "c1",
                            "toolName": "t",
                            "input": {"a": 1},
                        },
                    ],
                },
                {
                    "role": "tool",
                    "content": [
                        {
                            "type": "tool-result",
                            "toolCallId": "c1",
                            "toolName": "t",
                            "output": {"type": "json", "value": {"b": 2}},
                        }
                    ],
                },
                {"role": "user", "content": "And?"},
            ],
            "tools": {
                "t": {"description": "It does.", "inputSchema": {"$schema": json.loads(SCHEMA)}}
            },
            "toolChoice": {"type": "tool", "toolName": "t"},
            "maxOutputTokens": 9,
            "temperature": 0.5,
            "topP": 0.3,
            "topK": 4,
            "presencePenalty": 0.1,
            "frequencyPenalty": 0.2,
            "stopSequences": ["#"],
            "seed": 3,
            "reasoning": "low",
            "providerOptions": json.loads(OPTIONS),
            "headers": {"x-a": "1"},
            "output": {
                "$object": {
                    "schema": {"$schema": json.loads(SCHEMA)},
                    "name": "n",
                    "description": "d",
                }
            },
        },
    ),
]


def test_vectors_and_rankings_are_asked_for_as_by_its_own_client(ai_sdk: Run) -> None:
    """Body, address and headers, and what is made of the answer."""
    vectors: Json = {"embeddings": [[1, 2], [3, 4]], "usage": {"tokens": 5}}
    ranking: Json = {"ranking": [{"index": 1, "relevanceScore": 0.5}]}
    options = json.loads(OPTIONS)
    jobs: list[Json] = [
        {
            "provider": "gateway",
            "kind": "embedding",
            "model": "openai/m",
            "call": {"values": ["a", "b"], "dimensions": 2, "providerOptions": options},
            "answer": json.dumps(vectors),
        },
        {
            "provider": "gateway",
            "kind": "reranking",
            "model": "cohere/m",
            "call": {
                "documents": {"type": "text", "values": ["a", "b"]},
                "query": "b",
                "topN": 1,
                "providerOptions": options,
            },
            "answer": json.dumps(ranking),
        },
    ]
    given = JsonText(OPTIONS)
    calls = (
        ai_gateway.encode_embedding(
            EmbeddingRequest(("a", "b"), dimensions=2, provider_options=given),
            gateway_embedding("openai/m", api_key="key").endpoint,
        ),
        ai_gateway.encode_reranking(
            RerankingRequest("b", ("a", "b"), top_n=1, provider_options=given),
            gateway_reranking("cohere/m", api_key="key").endpoint,
        ),
    )
    embedded, ranked = ai_sdk(jobs)
    for call, result in zip(calls, (embedded, ranked), strict=True):
        sent = result["sent"]
        assert isinstance(sent, list)
        headers = {name: value for name, value in call.request.headers if name != "accept"}

        assert json.loads(call.request.body) == sent[0]["body"]
        assert call.request.url == sent[0]["url"]
        assert headers | {"user-agent": ""} == sent[0]["headers"] | {"user-agent": ""}

    theirs, made = embedded["made"], ranked["made"]
    assert is_object(theirs)
    assert is_object(made)
    ours = ai_gateway.decode_embedding(json.dumps(vectors).encode(), "gateway").unwrap()
    assert [list(vector) for vector in ours.embeddings] == theirs["embeddings"]
    assert {"tokens": ours.usage.input_tokens} == theirs["usage"]
    read = ai_gateway.decode_reranking(json.dumps(ranking).encode(), "gateway").unwrap()
    assert [{"index": one.index, "relevanceScore": one.score} for one in read.ranking] == made[
        "ranking"
    ]


@pytest.mark.parametrize("stream", [False, True])
def test_the_gateway_is_asked_as_its_own_client_asks_it(ai_sdk: Run, stream: bool) -> None:
    """Body, address and headers; but the SDK names itself, and we name ourselves."""
    answer = stream_of([EVENTS[-1]]).decode() if stream else json.dumps(BODY)
    jobs: list[Json] = [
        {
            "provider": "gateway",
            "model": "openai/gpt-5.4",
            "call": call,
            "stream": stream,
            "answer": answer,
            "settings": {"teamIdOrSlug": "us"},
        }
        for _, call in CALLS
    ]
    model = gateway("openai/gpt-5.4", api_key="key", team="us")
    for (request, _), result in zip(CALLS, ai_sdk(jobs), strict=True):
        http = encode_request(request, model.endpoint, stream=stream).request
        ours = json.loads(http.body)
        sent = result["sent"]
        assert isinstance(sent, list)
        theirs = sent[0]
        named = theirs["body"].get("headers", {})
        named.pop("user-agent", None)
        if not named:
            theirs["body"].pop("headers", None)
        headers = {name: value for name, value in http.headers if name != "accept"}

        assert ours == theirs["body"]
        assert http.url == theirs["url"]
        assert headers | {"user-agent": ""} == theirs["headers"] | {"user-agent": ""}


def shown(reply: ModelReply) -> Json:
    """A reply as the SDK sums one up."""
    content = reply.content
    calls = [part for part in content if isinstance(part, ToolCall)]
    pages = [part.url for part in content if isinstance(part, UrlSource)]
    return {
        "text": "".join(part.text for part in content if isinstance(part, Text)),
        "reasoning": "".join(part.text for part in content if isinstance(part, Reasoning)),
        "calls": [[c.tool_call_id, c.tool_name, json.loads(c.input)] for c in calls],
        "sources": pages,
        "reason": [reply.finish_reason.unified, reply.finish_reason.raw],
        "usage": [
            reply.usage.input_tokens,
            reply.usage.output_tokens,
            reply.usage.input_token_details.cache_read_tokens,
            reply.usage.output_token_details.reasoning_tokens,
        ],
        "response": [reply.response.id, reply.response.model_id],
        "metadata": None
        if reply.provider_metadata is None
        else json.loads(reply.provider_metadata.text),
    }


SAID: list[Json] = [
    {"type": "text", "text": "Let me see."},
    {"type": "reasoning", "text": "hm", "providerMetadata": {"anthropic": {"signature": "s"}}},
    {"type": "source", "sourceType": "url", "id": "s0", "url": "https://x.test/", "title": "X"},
    {"type": "tool-call", "toolCallId": "c1", "toolName": "t", "input": '{"a": 1}'},
    {"type": "tool-call", "toolCallId": "c2", "toolName": "t", "input": "{}"},
    {"type": "text", "text": "So."},
]


def test_an_answer_is_understood_as_its_own_client_does(ai_sdk: Run) -> None:
    body = json.dumps({**BODY, "content": SAID})
    events: list[Json] = [EVENTS[0], EVENTS[1]]
    for index, part in enumerate(SAID):
        kind, name = part["type"], str(index)
        if kind in {"text", "reasoning"}:
            rest = {k: v for k, v in part.items() if k == "providerMetadata"}
            events.append({"type": f"{kind}-start", "id": name})
            text = str(part["text"])
            for piece in (text[:1], text[1:]):
                events.append({"type": f"{kind}-delta", "id": name, "delta": piece})
            events.append({"type": f"{kind}-end", "id": name, **rest})
        else:
            events.append(part)
    stream = stream_of([*events, EVENTS[-1]])
    tools = {"t": {"description": "It does.", "inputSchema": {"$schema": json.loads(SCHEMA)}}}
    job: Json = {"provider": "gateway", "model": "m", "call": {"prompt": "Hi", "tools": tools}}

    whole, streamed = ai_sdk(
        [{**job, "answer": body}, {**job, "answer": stream.decode(), "stream": True}]
    )

    ours, theirs = shown(decode_reply(body.encode(), "gateway").unwrap()), whole["made"]
    assert is_object(theirs)
    # Where a reply comes whole, the client loses what the gateway says of the response.
    assert ours | {"response": None} == theirs | {"response": None}
    decoder = gateway_decoder("gateway")
    reply = fold_parts([*decoder.feed(stream), *decoder.end()])
    assert shown(reply) == streamed["made"]


ERRORS = [
    (401, "authentication_error"),
    (400, "invalid_request_error"),
    (429, "rate_limit_exceeded"),
    (404, "model_not_found"),
    (404, "not_found"),
    (500, "internal_server_error"),
    (424, "failed_dependency"),
    (403, "forbidden"),
    (503, "mystery"),
]


def test_what_may_be_tried_again_is_what_its_own_client_tries_again(ai_sdk: Run) -> None:
    """But for a dependency that failed, which the SDK gives up on, and we do not.

    Of a wrong key the SDK tells in an error of another kind, without the generation.
    """
    bodies = [
        json.dumps({"error": {"message": "no", "type": kind}, "generationId": "g"})
        for _, kind in ERRORS
    ]
    jobs: list[Json] = [
        {
            "provider": "gateway",
            "model": "m",
            "call": {"prompt": "Hi"},
            "answer": body,
            "status": status,
        }
        for (status, _), body in zip(ERRORS, bodies, strict=True)
    ]
    for (status, kind), body, result in zip(ERRORS, bodies, ai_sdk(jobs), strict=True):
        reason = reason_of_response(HttpResponse(status, (), body.encode()), now=0)
        error = result["error"]
        assert is_object(error)

        assert reason.request_id == error.get("generationId", "g")
        is_retried = bool(error.get("isRetryable")) or kind == "failed_dependency"
        assert reason.is_retryable is is_retried, kind


# --- tools of providers -----------------------------------------------------------------------

MODELS = {
    "anthropic": "claude-opus-4-8",
    "google": "gemini-3-pro-preview",
    "openai": "gpt-5.4",
    "xai": "grok-4",
}
USER = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]


def said_over_the_gateway(tool: ProviderTool | AnyTool[object, object], owner: str) -> Json:
    """The tool as it goes to the gateway, which speaks the words of the SDK."""
    endpoint = gateway(f"{owner}/m", api_key="key").endpoint
    body: Json = json.loads(encode_request(asked(tool), endpoint).request.body)
    tools = body["tools"]
    assert isinstance(tools, list)
    sent = tools[0]
    assert is_object(sent)
    return sent


def test_tools_of_providers_are_declared_as_the_sdk_declares_them(ai_sdk: Run) -> None:
    """Ours to the gateway, given to the SDK's own providers, become what ours send directly."""
    tools: list[tuple[ProviderTool | AnyTool[object, object], str]] = [
        *((tool, tool.id.partition(".")[0]) for tool, _ in HOSTED),
        *((tool, owner) for tool, owner, _, _ in DEFINED),
    ]
    jobs: list[Json] = [
        {
            "provider": owner,
            "model": MODELS[owner],
            "low": True,
            "answer": "{}",
            "call": {"prompt": USER, "tools": [said_over_the_gateway(tool, owner)]},
        }
        for tool, owner in tools
    ]
    for (tool, owner), result in zip(tools, ai_sdk(jobs), strict=True):
        sent = result["sent"]
        assert isinstance(sent, list)
        assert sent, f"the SDK refused {said_over_the_gateway(tool, owner)}"
        (theirs,) = sent[0]["body"]["tools"]

        assert theirs == on_the_wire(tool, owner)
