"""What our models of Anthropic send is what Anthropic's own client sends for the same call."""

import json
from collections.abc import Iterator

import pytest

from stepfold.providers import anthropic
from stepfold.values import (
    AssistantMessage,
    CallSettings,
    ErrorTextOutput,
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
    PAPER,
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

KEY = "sk-ant-test-key"
SENT_BACK = Reasoning | Text | ToolCall
CACHED = JsonText.of({"anthropic": {"cache_control": {"type": "ephemeral"}}})
LONGEST = "the protocol wants a bound, and ours is what the model allows"
BOUND = {"max_tokens": LONGEST}
TOOLS: list[Json] = [
    {"name": "weather", "description": "Look up the weather.", "input_schema": SCHEMA}
]
CHOICES: list[tuple[ToolChoice, object]] = [
    ("required", {"type": "any"}),
    ("none", {"type": "none"}),
    (NamedTool("weather"), {"type": "tool", "name": "weather"}),
]


def said(*blocks: Json) -> Json:
    return {"role": "user", "content": list(blocks)}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


ASKED = said(text("Hi"))
CASES = (
    Case(
        "instructions and settings",
        ModelRequest(
            messages=(HELLO,),
            instructions="Be kind.",
            settings=CallSettings(max_output_tokens=100, stop_sequences=("END",)),
        ),
        {
            "system": [text("Be kind.")],
            "messages": [ASKED],
            "max_tokens": 100,
            "stop_sequences": ["END"],
        },
    ),
    Case(
        "a temperature, for a model that takes one",
        ModelRequest(
            messages=(HELLO,), settings=CallSettings(max_output_tokens=100, temperature=0.5)
        ),
        {
            "model": "claude-haiku-4-5",
            "messages": [ASKED],
            "max_tokens": 100,
            "extra_body": {"temperature": 0.5},
        },
    ),
    Case(
        "parallel calls and their results",
        ModelRequest(
            messages=(
                UserMessage("Compare."),
                AssistantMessage(
                    (
                        Text("I look."),
                        ToolCall("toolu_1", "weather", '{"city": "Oslo"}'),
                        ToolCall("toolu_2", "weather", '{"city": "Rome"}'),
                    )
                ),
                ToolMessage(
                    (
                        ToolResult("toolu_1", "weather", TextOutput("3")),
                        ToolResult("toolu_2", "weather", ErrorTextOutput("no such city")),
                    )
                ),
            ),
            tools=(WEATHER,),
        ),
        {
            "messages": [
                said(text("Compare.")),
                {
                    "role": "assistant",
                    "content": [
                        text("I look."),
                        {
                            "type": "tool_use",
                            "id": "toolu_1",
                            "name": "weather",
                            "input": {"city": "Oslo"},
                        },
                        {
                            "type": "tool_use",
                            "id": "toolu_2",
                            "name": "weather",
                            "input": {"city": "Rome"},
                        },
                    ],
                },
                said(
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "3"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_2",
                        "content": "no such city",
                        "is_error": True,
                    },
                ),
            ],
            "tools": TOOLS,
        },
        BOUND,
    ),
    *(
        Case(
            f"tools, {choice}",
            ModelRequest(messages=(HELLO,), tools=(WEATHER,), tool_choice=choice),
            {"messages": [ASKED], "tools": TOOLS, "tool_choice": theirs},
            BOUND,
        )
        for choice, theirs in CHOICES
    ),
    Case(
        "images and a file",
        ModelRequest(messages=(UserMessage((Text("What?"), IMAGE, PHOTO, PAPER)),)),
        {
            "messages": [
                said(
                    text("What?"),
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="},
                    },
                    {
                        "type": "image",
                        "source": {"type": "url", "url": "https://example.com/a.png"},
                    },
                    {
                        "type": "document",
                        "source": {
                            "type": "base64",
                            "media_type": "application/pdf",
                            "data": "JVBERi0xLjc=",
                        },
                        "title": "a.pdf",
                    },
                )
            ]
        },
        BOUND,
    ),
    Case(
        "an answer by a schema",
        ModelRequest(messages=(HELLO,), response_format=JsonFormat(JsonText.of(SCHEMA))),
        {
            "messages": [ASKED],
            "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        },
        BOUND,
    ),
    Case(
        "reasoning",
        ModelRequest(
            messages=(HELLO,),
            settings=CallSettings(max_output_tokens=9_000, reasoning="high"),
        ),
        {
            "messages": [ASKED],
            "max_tokens": 9_000,
            "thinking": {"type": "adaptive"},
            "output_config": {"effort": "high"},
        },
    ),
    Case(
        "options",
        ModelRequest(
            messages=(HELLO,),
            settings=CallSettings(max_output_tokens=100),
            provider_options=JsonText.of(
                {"anthropic": {"metadata": {"user_id": "u"}, "service_tier": "standard_only"}}
            ),
        ),
        {
            "messages": [ASKED],
            "max_tokens": 100,
            "metadata": {"user_id": "u"},
            "service_tier": "standard_only",
        },
    ),
    Case(
        "a prompt that is kept",
        ModelRequest(
            messages=(UserMessage((Text("A long story.", provider_options=CACHED), Text("Why?"))),),
            settings=CallSettings(max_output_tokens=100),
        ),
        {
            "max_tokens": 100,
            "messages": [
                said(
                    {**text("A long story."), "cache_control": {"type": "ephemeral"}}, text("Why?")
                )
            ],
        },
    ),
)
BLOCKS: list[Json] = [
    {"type": "thinking", "thinking": "Greet.", "signature": "signed"},
    {"type": "redacted_thinking", "data": "sealed"},
    text("I look."),
    {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Oslo"}},
]
MESSAGE = json.dumps(
    {
        "id": "i",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": BLOCKS,
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
).encode()


@pytest.fixture(scope="module")
def server() -> Iterator[CapturingServer]:
    with capturing() as started:
        started.will(MESSAGE)
        yield started


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_messages_are_asked_as_by_the_official_client(
    server: CapturingServer, case: Case
) -> None:
    from anthropic import Anthropic

    arguments = {"model": "claude-opus-4-8", "max_tokens": 1_000, **case.theirs}
    with Anthropic(api_key=KEY, base_url=server.url, max_retries=0) as client:
        client.messages.create(**arguments)
    theirs = server.last()
    model = anthropic(str(arguments["model"]), api_key=KEY, base_url=f"{server.url}/v1")
    await model.generate(case.request)

    assert server.paths[-1] == server.paths[-2]
    assert_alike(server.last(), theirs, case.differences)


async def test_what_a_message_said_goes_back_as_by_the_official_client(
    server: CapturingServer,
) -> None:
    """The client's own way is to put the blocks of a message into the next call as they are."""
    from anthropic import Anthropic

    result: Json = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "3"}
    with Anthropic(api_key=KEY, base_url=server.url, max_retries=0) as client:
        first = client.messages.create(
            model="claude-opus-4-8", max_tokens=9_000, messages=[{"role": "user", "content": "Hi"}]
        )
        client.messages.create(
            model="claude-opus-4-8",
            max_tokens=9_000,
            messages=[ASKED, {"role": "assistant", "content": first.content}, said(result)],
        )
    theirs = server.last()
    model = anthropic("claude-opus-4-8", api_key=KEY, base_url=f"{server.url}/v1")
    reply = await model.generate(ModelRequest(messages=(HELLO,)))
    turn = AssistantMessage(part for part in reply.content if isinstance(part, SENT_BACK))
    results = ToolMessage((ToolResult("toolu_1", "weather", TextOutput("3")),))
    settings = CallSettings(max_output_tokens=9_000)
    await model.generate(ModelRequest(messages=(HELLO, turn, results), settings=settings))

    assert_alike(server.last(), theirs, {})
