"""What our models of OpenAI send is what OpenAI's own client sends for the same call."""

import json
from collections.abc import Iterator

import pytest

from stepfold.providers import openai, openai_responses
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
    SystemMessage,
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

KEY = "sk-test-key"
SENT_BACK = Reasoning | Text | ToolCall
ASKED: Json = {"role": "user", "content": "Hi"}
TURNS = (
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
    UserMessage("So?"),
)

# --- chat completions -------------------------------------------------------------------------

FUNCTION: Json = {
    "name": "weather",
    "description": "Look up the weather.",
    "parameters": SCHEMA,
}
TOOLS: list[Json] = [{"type": "function", "function": FUNCTION}]
IMAGE_URL = "data:image/png;base64,iVBORw=="
PAPER_URL = "data:application/pdf;base64,JVBERi0xLjc="


def call(call_id: str, city: str) -> Json:
    function = {"name": "weather", "arguments": json.dumps({"city": city})}
    return {"id": call_id, "type": "function", "function": function}


CHAT_CHOICES: list[tuple[ToolChoice, object]] = [
    ("required", "required"),
    ("none", "none"),
    (NamedTool("weather"), {"type": "function", "function": {"name": "weather"}}),
]
CHAT = (
    Case(
        "instructions and settings",
        ModelRequest(
            messages=(SystemMessage("In verse."), HELLO),
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
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "system", "content": "In verse."},
                ASKED,
            ],
            "max_completion_tokens": 100,
            "temperature": 0.5,
            "top_p": 0.9,
            "presence_penalty": 0.1,
            "frequency_penalty": 0.2,
            "stop": ["END"],
            "seed": 7,
        },
    ),
    Case(
        "parallel calls and their results",
        ModelRequest(messages=TURNS, tools=(WEATHER,)),
        {
            "messages": [
                {"role": "user", "content": "Compare."},
                {
                    "role": "assistant",
                    "content": "I look.",
                    "tool_calls": [call("call_1", "Oslo"), call("call_2", "Rome")],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "3"},
                {"role": "tool", "tool_call_id": "call_2", "content": "no such city"},
                {"role": "user", "content": "So?"},
            ],
            "tools": TOOLS,
        },
    ),
    *(
        Case(
            f"tools, {choice}",
            ModelRequest(messages=(HELLO,), tools=(WEATHER,), tool_choice=choice),
            {"messages": [ASKED], "tools": TOOLS, "tool_choice": theirs},
        )
        for choice, theirs in CHAT_CHOICES
    ),
    Case(
        "images and a file",
        ModelRequest(messages=(UserMessage((Text("What?"), IMAGE, PHOTO, PAPER)),)),
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "What?"},
                        {"type": "image_url", "image_url": {"url": IMAGE_URL}},
                        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
                        {"type": "file", "file": {"filename": "a.pdf", "file_data": PAPER_URL}},
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
    Case(
        "reasoning",
        ModelRequest(
            messages=(HELLO,),
            instructions="Be kind.",
            settings=CallSettings(max_output_tokens=9_000, reasoning="high"),
        ),
        {
            "model": "gpt-5.4",
            "messages": [{"role": "developer", "content": "Be kind."}, ASKED],
            "max_completion_tokens": 9_000,
            "reasoning_effort": "high",
        },
    ),
    Case(
        "options",
        ModelRequest(
            messages=(HELLO,),
            provider_options=JsonText.of(
                {"openai": {"service_tier": "flex", "prompt_cache_key": "k", "store": True}}
            ),
        ),
        {"messages": [ASKED], "service_tier": "flex", "prompt_cache_key": "k", "store": True},
    ),
)

CHAT_REPLY = json.dumps(
    {
        "id": "i",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
        ],
    }
).encode()


@pytest.fixture(scope="module")
def server() -> Iterator[CapturingServer]:
    with capturing() as started:
        yield started


@pytest.mark.parametrize("case", CHAT, ids=str)
async def test_chat_completions_are_asked_as_by_the_official_client(
    server: CapturingServer, case: Case
) -> None:
    from openai import OpenAI

    server.will(CHAT_REPLY)
    arguments = {"model": "gpt-4o", **case.theirs}
    with OpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0) as client:
        client.chat.completions.create(**arguments)
    theirs = server.last()
    model = openai(str(arguments["model"]), api_key=KEY, base_url=f"{server.url}/v1")
    await model.generate(case.request)

    assert server.paths[-1] == server.paths[-2]
    assert_alike(server.last(), theirs, case.differences)


async def test_a_stream_of_chat_completions_is_asked_for_alike(server: CapturingServer) -> None:
    from openai import OpenAI

    chunk = {"id": "i", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    server.will(b"data: %b\n\ndata: [DONE]\n\n" % json.dumps(chunk).encode(), "text/event-stream")
    with OpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0) as client:
        stream = client.chat.completions.create(
            model="gpt-4o",
            messages=[{"role": "user", "content": "Hi"}],
            stream=True,
            stream_options={"include_usage": True},
        )
        list(stream)
    theirs = server.last()
    model = openai("gpt-4o", api_key=KEY, base_url=f"{server.url}/v1")
    async with model.stream(ModelRequest(messages=(HELLO,))) as parts:
        assert [part async for part in parts]

    assert_alike(server.last(), theirs, {})


# --- Responses --------------------------------------------------------------------------------

TOOL: Json = {"type": "function", **FUNCTION}
ENCRYPTED = "nothing is kept by the server, so what was thought has to come back to us"
OURS = {"include": ENCRYPTED, "store": "the history is kept here"}

RESPONSES_CHOICES: list[tuple[ToolChoice, object]] = [
    ("required", "required"),
    ("none", "none"),
    (NamedTool("weather"), {"type": "function", "name": "weather"}),
]
RESPONSES = (
    Case(
        "instructions and settings",
        ModelRequest(
            messages=(SystemMessage("In verse."), HELLO),
            instructions="Be kind.",
            settings=CallSettings(max_output_tokens=100, temperature=0.5, top_p=0.9),
        ),
        {
            "model": "gpt-4o",
            "instructions": "Be kind.",
            "input": [{"role": "system", "content": "In verse."}, ASKED],
            "max_output_tokens": 100,
            "temperature": 0.5,
            "top_p": 0.9,
            "store": False,
        },
    ),
    Case(
        "parallel calls and their results",
        ModelRequest(messages=TURNS, tools=(WEATHER,)),
        {
            "input": [
                {"role": "user", "content": "Compare."},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
                },
                {
                    "type": "function_call",
                    "call_id": "call_1",
                    "name": "weather",
                    "arguments": '{"city": "Oslo"}',
                },
                {
                    "type": "function_call",
                    "call_id": "call_2",
                    "name": "weather",
                    "arguments": '{"city": "Rome"}',
                },
                {"type": "function_call_output", "call_id": "call_1", "output": "3"},
                {"type": "function_call_output", "call_id": "call_2", "output": "no such city"},
                {"role": "user", "content": "So?"},
            ],
            "tools": [{**TOOL, "strict": False}],
            "include": ["reasoning.encrypted_content"],
            "store": False,
        },
    ),
    *(
        Case(
            f"tools, {choice}",
            ModelRequest(messages=(HELLO,), tools=(WEATHER,), tool_choice=choice),
            {"input": [ASKED], "tools": [{**TOOL, "strict": False}], "tool_choice": theirs},
            OURS,
        )
        for choice, theirs in RESPONSES_CHOICES
    ),
    Case(
        "images and a file",
        ModelRequest(messages=(UserMessage((Text("What?"), IMAGE, PHOTO, PAPER)),)),
        {
            "input": [
                {
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "What?"},
                        {"type": "input_image", "image_url": IMAGE_URL},
                        {"type": "input_image", "image_url": "https://example.com/a.png"},
                        {"type": "input_file", "filename": "a.pdf", "file_data": PAPER_URL},
                    ],
                }
            ]
        },
        OURS,
    ),
    Case(
        "an answer by a schema",
        ModelRequest(
            messages=(HELLO,), response_format=JsonFormat(JsonText.of(SCHEMA), name="place")
        ),
        {
            "input": [ASKED],
            "text": {
                "format": {
                    "type": "json_schema",
                    "name": "place",
                    "schema": SCHEMA,
                    "strict": True,
                }
            },
        },
        OURS,
    ),
    Case(
        "reasoning",
        ModelRequest(messages=(HELLO,), settings=CallSettings(reasoning="high")),
        {"input": [ASKED], "reasoning": {"effort": "high"}},
        OURS,
    ),
    Case(
        "options",
        ModelRequest(
            messages=(HELLO,),
            provider_options=JsonText.of(
                {"openai": {"service_tier": "flex", "prompt_cache_key": "k", "truncation": "auto"}}
            ),
        ),
        {
            "input": [ASKED],
            "service_tier": "flex",
            "prompt_cache_key": "k",
            "truncation": "auto",
        },
        OURS,
    ),
    Case(
        "options of a part",
        ModelRequest(
            messages=(
                UserMessage(
                    (
                        File(
                            "https://example.com/a.png",
                            "image/png",
                            provider_options=JsonText('{"openai":{"image_detail":"low"}}'),
                        ),
                    )
                ),
            )
        ),
        {
            "input": [
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "input_image",
                            "image_url": "https://example.com/a.png",
                            "detail": "low",
                        }
                    ],
                }
            ]
        },
        OURS,
    ),
)
SAID: list[Json] = [
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Greet."}],
        "encrypted_content": "sealed",
    },
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
    },
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "weather",
        "arguments": '{"city": "Oslo"}',
        "status": "completed",
    },
]
RESPONSE = json.dumps(
    {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": SAID,
    }
).encode()


@pytest.mark.parametrize("case", RESPONSES, ids=str)
async def test_responses_are_asked_as_by_the_official_client(
    server: CapturingServer, case: Case
) -> None:
    from openai import OpenAI

    server.will(RESPONSE)
    arguments = {"model": "gpt-5.4", **case.theirs}
    with OpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0) as client:
        client.responses.create(**arguments)
    theirs = server.last()
    model = openai_responses(str(arguments["model"]), api_key=KEY, base_url=f"{server.url}/v1")
    await model.generate(case.request)

    assert server.paths[-1] == server.paths[-2]
    assert_alike(server.last(), theirs, case.differences)


async def test_what_a_response_said_goes_back_as_by_the_official_client(
    server: CapturingServer,
) -> None:
    """The client's own way is to put the items of a response into the next call as they are."""
    from openai import OpenAI

    server.will(RESPONSE)
    with OpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0) as client:
        first = client.responses.create(model="gpt-5.4", input="Hi")
        answer = {"type": "function_call_output", "call_id": "call_1", "output": "3"}
        items = [ASKED, *first.output, answer]
        client.responses.create(model="gpt-5.4", input=items)
    theirs = server.last()
    model = openai_responses("gpt-5.4", api_key=KEY, base_url=f"{server.url}/v1")
    reply = await model.generate(ModelRequest(messages=(HELLO,)))
    said = AssistantMessage(part for part in reply.content if isinstance(part, SENT_BACK))
    results = ToolMessage((ToolResult("call_1", "weather", TextOutput("3")),))
    await model.generate(ModelRequest(messages=(HELLO, said, results)))

    assert_alike(server.last(), theirs, OURS)
