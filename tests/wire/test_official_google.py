"""What our models of Google send is what Google's own client sends for the same call."""

import json
import re
from collections.abc import Iterator

import pytest

from stepfold.ports import EmbeddingRequest
from stepfold.providers import google, google_embedding
from stepfold.values import (
    AssistantMessage,
    CallSettings,
    ErrorTextOutput,
    File,
    JsonFormat,
    JsonText,
    ModelRequest,
    NamedTool,
    Reasoning,
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
    PHOTO,
    SCHEMA,
    WEATHER,
    CapturingServer,
    Case,
    Json,
    assert_alike,
    capturing,
)

pytestmark = pytest.mark.wire

KEY = "AIza-test-key"
SENT_BACK = Reasoning | Text | ToolCall
DECLARED: Json = {
    "name": "weather",
    "description": "Look up the weather.",
    "parameters_json_schema": SCHEMA,
}
TOOLS: list[Json] = [{"function_declarations": [DECLARED]}]
EMPTY = {"generationConfig": "theirs is an empty object"}
CHOICES: list[tuple[ToolChoice, Json]] = [
    ("required", {"mode": "ANY"}),
    ("none", {"mode": "NONE"}),
    (NamedTool("weather"), {"mode": "ANY", "allowed_function_names": ["weather"]}),
]


def said(*parts: Json) -> Json:
    return {"role": "user", "parts": list(parts)}


def in_camel_case(body: Json) -> Json:
    """The client leaves names as Python has them where the server takes both forms."""
    found = re.sub(r'"[a-z]+(?:_[a-z]+)+":', camel, json.dumps(body))
    value: Json = json.loads(found)
    return value


def camel(name: re.Match[str]) -> str:
    first, *rest = name[0].split("_")
    return first + "".join(word.capitalize() for word in rest)


ASKED = said({"text": "Hi"})
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
                top_k=40,
                presence_penalty=0.1,
                frequency_penalty=0.2,
                stop_sequences=("END",),
                seed=7,
            ),
        ),
        {
            "contents": "Hi",
            "config": {
                "system_instruction": "Be kind.",
                "max_output_tokens": 100,
                "temperature": 0.5,
                "top_p": 0.9,
                "top_k": 40,
                "presence_penalty": 0.1,
                "frequency_penalty": 0.2,
                "stop_sequences": ["END"],
                "seed": 7,
            },
        },
        {"systemInstruction.role": "an instruction is nobody's turn"},
    ),
    Case(
        "parallel calls and their results",
        ModelRequest(
            messages=(
                UserMessage("Compare."),
                AssistantMessage(
                    (
                        Text("I look."),
                        ToolCall("call_1", "weather", '{"city": "Oslo"}'),
                        ToolCall("call_2", "weather", '{"city": "Rome"}'),
                    )
                ),
                ToolMessage(
                    (
                        ToolResult("call_1", "weather", TextOutput("3")),
                        ToolResult("call_2", "weather", ErrorTextOutput("no such city")),
                    )
                ),
            ),
            tools=(WEATHER,),
        ),
        {
            "contents": [
                said({"text": "Compare."}),
                {
                    "role": "model",
                    "parts": [
                        {"text": "I look."},
                        {
                            "function_call": {
                                "id": "call_1",
                                "name": "weather",
                                "args": {"city": "Oslo"},
                            }
                        },
                        {
                            "function_call": {
                                "id": "call_2",
                                "name": "weather",
                                "args": {"city": "Rome"},
                            }
                        },
                    ],
                },
                said(
                    {
                        "function_response": {
                            "id": "call_1",
                            "name": "weather",
                            "response": {"output": "3"},
                        }
                    },
                    {
                        "function_response": {
                            "id": "call_2",
                            "name": "weather",
                            "response": {"error": "no such city"},
                        }
                    },
                ),
            ],
            "config": {"tools": TOOLS},
        },
        EMPTY,
    ),
    *(
        Case(
            f"tools, {choice}",
            ModelRequest(messages=(HELLO,), tools=(WEATHER,), tool_choice=choice),
            {
                "contents": [ASKED],
                "config": {"tools": TOOLS, "tool_config": {"function_calling_config": theirs}},
            },
            EMPTY,
        )
        for choice, theirs in CHOICES
    ),
    Case(
        "images",
        ModelRequest(messages=(UserMessage((Text("What?"), IMAGE, PHOTO)),)),
        {
            "contents": [
                said(
                    {"text": "What?"},
                    {"inline_data": {"mime_type": "image/png", "data": b"\x89PNG"}},
                    {
                        "file_data": {
                            "mime_type": "image/png",
                            "file_uri": "https://example.com/a.png",
                        }
                    },
                )
            ]
        },
        EMPTY,
    ),
    Case(
        "an answer by a schema",
        ModelRequest(messages=(HELLO,), response_format=JsonFormat(JsonText.of(SCHEMA))),
        {
            "contents": [ASKED],
            "config": {
                "response_mime_type": "application/json",
                "response_json_schema": SCHEMA,
            },
        },
    ),
    Case(
        "reasoning",
        ModelRequest(messages=(HELLO,), settings=CallSettings(reasoning="high")),
        {
            "contents": [ASKED],
            "config": {"thinking_config": {"thinking_level": "high", "include_thoughts": True}},
        },
        {"generationConfig.thinkingConfig.thinkingLevel": "the server knows no case here"},
    ),
    Case(
        "options",
        ModelRequest(
            messages=(HELLO,),
            provider_options=JsonText.of(
                {
                    "google": {
                        "cachedContent": "cachedContents/c",
                        "safetySettings": [
                            {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}
                        ],
                    }
                }
            ),
        ),
        {
            "contents": [ASKED],
            "config": {
                "cached_content": "cachedContents/c",
                "safety_settings": [
                    {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}
                ],
            },
        },
        EMPTY,
    ),
    Case(
        "options of a part",
        ModelRequest(
            messages=(
                UserMessage(
                    (
                        File(
                            "https://youtu.be/a",
                            "video/mp4",
                            provider_options=JsonText(
                                '{"google":{"videoMetadata":{"startOffset":"1s"}}}'
                            ),
                        ),
                    )
                ),
            )
        ),
        {
            "contents": [
                said(
                    {
                        "file_data": {"mime_type": "video/mp4", "file_uri": "https://youtu.be/a"},
                        "video_metadata": {"start_offset": "1s"},
                    }
                )
            ]
        },
        EMPTY,
    ),
)
ANSWER = json.dumps(
    {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Greet.", "thought": True},
                        {"text": "I look.", "thoughtSignature": "c2lnbmVk"},
                        {
                            "functionCall": {
                                "id": "call_1",
                                "name": "weather",
                                "args": {"city": "Oslo"},
                            },
                            "thoughtSignature": "c2lnbmVk",
                        },
                    ],
                },
                "finishReason": "STOP",
            }
        ]
    }
).encode()


@pytest.fixture(scope="module")
def server() -> Iterator[CapturingServer]:
    with capturing() as started:
        started.will(ANSWER)
        yield started


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_content_is_asked_as_by_the_official_client(
    server: CapturingServer, case: Case
) -> None:
    from google.genai import Client, types

    with Client(
        api_key=KEY, http_options={"base_url": server.url, "api_version": "v1beta"}
    ) as client:
        contents = case.theirs["contents"]
        if isinstance(contents, list):
            contents = [types.Content.model_validate(content) for content in contents]
        config = types.GenerateContentConfig.model_validate(case.theirs.get("config", {}))
        client.models.generate_content(model="gemini-3-pro", contents=contents, config=config)
    theirs = in_camel_case(server.last())
    model = google("gemini-3-pro", api_key=KEY, base_url=f"{server.url}/v1beta")
    await model.generate(case.request)

    assert server.paths[-1] == server.paths[-2]
    assert_alike(server.last(), theirs, case.differences)


async def test_what_a_model_said_goes_back_as_by_the_official_client(
    server: CapturingServer,
) -> None:
    """The client's own way is to put the content of a candidate into the next call as it is."""
    from google.genai import Client

    answer = {"id": "call_1", "name": "weather", "response": {"output": "3"}}
    with Client(
        api_key=KEY, http_options={"base_url": server.url, "api_version": "v1beta"}
    ) as client:
        first = client.models.generate_content(model="gemini-3-pro", contents="Hi")
        client.models.generate_content(
            model="gemini-3-pro",
            contents=[ASKED, first.candidates[0].content, said({"function_response": answer})],
        )
    theirs = in_camel_case(server.last())
    model = google("gemini-3-pro", api_key=KEY, base_url=f"{server.url}/v1beta")
    reply = await model.generate(ModelRequest(messages=(HELLO,)))
    turn = AssistantMessage(part for part in reply.content if isinstance(part, SENT_BACK))
    results = ToolMessage((ToolResult("call_1", "weather", TextOutput("3")),))
    await model.generate(ModelRequest(messages=(HELLO, turn, results)))

    assert_alike(server.last(), theirs, {})


async def test_vectors_are_asked_for_as_by_the_official_client(server: CapturingServer) -> None:
    from google.genai import Client, types

    options = {"taskType": "RETRIEVAL_DOCUMENT", "title": "Weather"}
    with Client(
        api_key=KEY, http_options={"base_url": server.url, "api_version": "v1beta"}
    ) as client:
        client.models.embed_content(
            model="gemini-embedding-001",
            contents=["Hi", "Ho"],
            config=types.EmbedContentConfig(
                task_type="RETRIEVAL_DOCUMENT", title="Weather", output_dimensionality=256
            ),
        )
    theirs = server.last()
    model = google_embedding("gemini-embedding-001", api_key=KEY, base_url=f"{server.url}/v1beta")
    await model.embed(
        EmbeddingRequest(
            ("Hi", "Ho"),
            dimensions=256,
            provider_options=JsonText.of({"google": options}),
        )
    )

    assert server.paths[-1] == server.paths[-2]
    assert_alike(server.last(), theirs, {})
