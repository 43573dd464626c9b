"""What our models of Mistral send is what Mistral's own client sends for the same call."""

import json
from collections.abc import Iterator

import pytest

from stepfold.ports import EmbeddingRequest
from stepfold.providers import chat_model, embedding_model
from stepfold.values import (
    AssistantMessage,
    CallSettings,
    JsonFormat,
    JsonText,
    ModelRequest,
    NamedTool,
    Text,
    TextOutput,
    ToolCall,
    ToolChoice,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from tests.wire._official import (
    HELLO,
    IMAGE,
    SCHEMA,
    WEATHER,
    CapturingServer,
    Case,
    Json,
    assert_alike,
    capturing,
)

pytestmark = pytest.mark.wire

KEY = "mistral-test-key"
ASKED: Json = {"role": "user", "content": "Hi"}
FUNCTION: Json = {"name": "weather", "description": "Look up the weather.", "parameters": SCHEMA}
TOOLS: list[Json] = [{"type": "function", "function": FUNCTION}]
WRITTEN_OUT = {"stream": "theirs writes what is so by default"}
CHOICES: list[tuple[ToolChoice, object]] = [
    ("required", "any"),
    ("none", "none"),
    (NamedTool("weather"), {"type": "function", "function": {"name": "weather"}}),
]
CASES = (
    Case(
        "instructions and settings",
        ModelRequest(
            messages=(HELLO,),
            instructions="Be kind.",
            settings=CallSettings(
                max_output_tokens=100,
                temperature=0.5,
                top_p=0.9,
                presence_penalty=0.1,
                frequency_penalty=0.2,
                stop_sequences=("END",),
                seed=7,
            ),
        ),
        {
            "messages": [{"role": "system", "content": "Be kind."}, ASKED],
            "max_tokens": 100,
            "temperature": 0.5,
            "top_p": 0.9,
            "presence_penalty": 0.1,
            "frequency_penalty": 0.2,
            "stop": ["END"],
            "random_seed": 7,
        },
    ),
    Case(
        "calls and their results",
        ModelRequest(
            messages=(
                HELLO,
                AssistantMessage(
                    (Text("I look."), ToolCall("abcdefgh1", "weather", '{"city": "Oslo"}'))
                ),
                ToolMessage((ToolResult("abcdefgh1", "weather", TextOutput("3")),)),
            ),
            tools=(WEATHER,),
        ),
        {
            "messages": [
                ASKED,
                {
                    "role": "assistant",
                    "content": "I look.",
                    "tool_calls": [
                        {
                            "id": "abcdefgh1",
                            "type": "function",
                            "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "abcdefgh1", "content": "3"},
            ],
            "tools": TOOLS,
        },
        {
            "messages.1.prefix": WRITTEN_OUT["stream"],
            "messages.1.tool_calls.0.index": WRITTEN_OUT["stream"],
        },
    ),
    *(
        Case(
            f"tools, {choice}",
            ModelRequest(messages=(HELLO,), tools=(WEATHER,), tool_choice=choice),
            {"messages": [ASKED], "tools": TOOLS, "tool_choice": theirs},
        )
        for choice, theirs in CHOICES
    ),
    Case(
        "an image",
        ModelRequest(messages=(UserMessage((Text("What?"), IMAGE)),)),
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "What?"},
                        {
                            "type": "image_url",
                            "image_url": {"url": "data:image/png;base64,iVBORw=="},
                        },
                    ],
                }
            ]
        },
    ),
    Case(
        "an answer by a schema",
        ModelRequest(
            messages=(HELLO,), response_format=JsonFormat(JsonText.of(SCHEMA), name="place")
        ),
        {
            "messages": [ASKED],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "place", "schema": SCHEMA, "strict": True},
            },
        },
    ),
)
REPLY = json.dumps(
    {
        "id": "i",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
        ],
    }
).encode()


VECTORS = json.dumps(
    {
        "id": "e",
        "object": "list",
        "model": "codestral-embed",
        "data": [
            {"object": "embedding", "index": 0, "embedding": [1, 0]},
            {"object": "embedding", "index": 1, "embedding": [0, 1]},
        ],
        "usage": {"prompt_tokens": 4, "completion_tokens": 0, "total_tokens": 4},
    }
).encode()


@pytest.fixture
def server() -> Iterator[CapturingServer]:
    with capturing() as started:
        started.will(REPLY)
        yield started


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_mistral_is_asked_as_by_the_official_client(
    server: CapturingServer, case: Case
) -> None:
    from mistralai.client import Mistral

    with Mistral(api_key=KEY, server_url=server.url) as client:
        client.chat.complete(model="mistral-large-latest", **case.theirs)
    theirs = server.last()
    model = chat_model("mistral", "mistral-large-latest", api_key=KEY, base_url=f"{server.url}/v1")
    await model.generate(case.request)

    assert server.paths[-1] == server.paths[-2]
    assert_alike(server.last(), theirs, {**WRITTEN_OUT, **case.differences})


async def test_mistral_is_asked_for_vectors_as_by_the_official_client(
    server: CapturingServer,
) -> None:
    from mistralai.client import Mistral

    server.will(VECTORS)
    with Mistral(api_key=KEY, server_url=server.url) as client:
        client.embeddings.create(
            model="codestral-embed", inputs=["Hi", "Ho"], output_dimension=2, output_dtype="float"
        )
    theirs = server.last()
    model = embedding_model("mistral", "codestral-embed", api_key=KEY, base_url=f"{server.url}/v1")
    reply = await model.embed(
        EmbeddingRequest(
            ("Hi", "Ho"),
            dimensions=2,
            provider_options=JsonText.of({"mistral": {"output_dtype": "float"}}),
        )
    )

    assert server.paths[-1] == server.paths[-2]
    assert_alike(server.last(), theirs, {"encoding_format": "ours writes what is so by default"})
    assert reply.embeddings == ((1.0, 0.0), (0.0, 1.0))
