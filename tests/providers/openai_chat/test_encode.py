import json
import time
from base64 import b64encode

import pytest

from stepfold.providers import Endpoint
from stepfold.providers._strict import fits_strict_mode
from stepfold.providers.openai_chat import ChatDialect, encode_request, openai_dialect
from stepfold.values import (
    ApprovalRequest,
    AssistantMessage,
    CallSettings,
    ContentOutput,
    Custom,
    DeniedOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    File,
    FileBytes,
    FileReference,
    FileText,
    FileUrl,
    JsonFormat,
    JsonOutput,
    JsonText,
    Message,
    ModelRequest,
    ModelWarning,
    NamedTool,
    ProviderTool,
    Reasoning,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    ToolMessage,
    ToolOutput,
    ToolResult,
    UsageError,
    UserMessage,
    UserPart,
)

OPTIONS = Endpoint(
    model_id="m",
    base_url="http://x/v1/",
    headers=(("authorization", "Bearer k"),),
    dialect=ChatDialect(),
)
PNG = b"\x89PNG\r\n\x1a\n..."


def options(dialect: ChatDialect) -> Endpoint[ChatDialect]:
    return Endpoint(model_id="m", base_url="http://x", dialect=dialect)


def encoded(
    request: ModelRequest, given: Endpoint[ChatDialect] = OPTIONS, *, stream: bool = False
) -> dict[str, object]:
    body: dict[str, object] = json.loads(encode_request(request, given, stream=stream).request.body)
    return body


def prompt(*messages: Message, given: Endpoint[ChatDialect] = OPTIONS) -> object:
    return encoded(ModelRequest(messages=messages), given)["messages"]


def warnings(
    request: ModelRequest, given: Endpoint[ChatDialect] = OPTIONS
) -> list[tuple[str, str]]:
    return [(w.kind, w.subject) for w in encode_request(request, given).warnings]


def json_of(value: object) -> JsonText:
    return JsonText.of(value)


# --- the request ------------------------------------------------------------------------------


def test_the_smallest_request() -> None:
    call = encode_request(ModelRequest(messages=(UserMessage("Hi"),)), OPTIONS)

    assert call.request.url == "http://x/v1/chat/completions"
    assert call.request.body == b'{"messages":[{"role":"user","content":"Hi"}],"model":"m"}'
    assert dict(call.request.headers)["authorization"] == "Bearer k"
    assert call.warnings == ()


def test_a_stream_asks_for_usage_unless_the_server_knows_none() -> None:
    request = ModelRequest(messages=())

    assert encoded(request, stream=True) == {
        "messages": [],
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert "stream_options" not in encoded(
        request, options(ChatDialect(sends_usage=False)), stream=True
    )


def test_headers_of_the_request_win() -> None:
    request = ModelRequest(messages=(), headers=(("Authorization", "Bearer mine"), ("x-a", "1")))

    headers = encode_request(request, OPTIONS).request.headers

    assert [v for n, v in headers if n == "authorization"] == ["Bearer mine"]
    assert ("x-a", "1") in headers


def test_instructions_come_first_in_the_role_that_the_model_knows() -> None:
    request = ModelRequest(messages=(SystemMessage("b"),), instructions="a")

    assert encoded(request)["messages"] == [
        {"role": "system", "content": "a"},
        {"role": "system", "content": "b"},
    ]
    developer = options(openai_dialect("gpt-5.4"))
    assert prompt(SystemMessage("a"), given=developer) == [{"role": "developer", "content": "a"}]


def test_all_settings() -> None:
    settings = CallSettings(
        max_output_tokens=5,
        temperature=0.5,
        top_p=0.9,
        top_k=3,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        stop_sequences=("a", "b"),
        seed=7,
        reasoning="max",
    )
    request = ModelRequest(messages=(), settings=settings)

    assert encoded(request) == {
        "messages": [],
        "model": "m",
        "max_tokens": 5,
        "temperature": 0.5,
        "top_p": 0.9,
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "stop": ["a", "b"],
        "seed": 7,
        "reasoning_effort": "max",
    }
    assert warnings(request) == [("unsupported", "top_k")]


def test_models_that_reason_refuse_sampling_settings() -> None:
    settings = CallSettings(max_output_tokens=5, temperature=0.0, top_p=1.0, reasoning="max")
    request = ModelRequest(messages=(), settings=settings)
    reasoning = options(openai_dialect("gpt-5.4"))

    assert encoded(request, reasoning) == {
        "messages": [],
        "model": "m",
        "max_completion_tokens": 5,
        "reasoning_effort": "xhigh",
    }
    assert warnings(request, reasoning) == [
        ("compatibility", "reasoning"),
        ("unsupported", "temperature"),
        ("unsupported", "top_p"),
    ]


@pytest.mark.parametrize(
    ("model_id", "role", "sampling"),
    [
        ("gpt-4o", "system", "free"),
        ("gpt-5-chat-latest", "system", "free"),
        ("gpt-5", "developer", "fixed"),
        ("gpt-5-mini", "developer", "fixed"),
        ("gpt-5.4", "developer", "fixed-when-reasoning"),
        ("o3-mini", "developer", "fixed"),
        ("omni-x", "system", "free"),
    ],
)
def test_models_of_openai_are_known_by_name(model_id: str, role: str, sampling: str) -> None:
    dialect = openai_dialect(model_id)

    assert (dialect.system_role, dialect.sampling) == (role, sampling)


def test_a_model_that_does_not_reason_says_so() -> None:
    request = ModelRequest(messages=(), settings=CallSettings(temperature=1, reasoning="high"))
    given = options(openai_dialect("gpt-4o"))

    assert "reasoning_effort" not in encoded(request, given)
    assert warnings(request, given) == [("unsupported", "reasoning")]
    idle = ModelRequest(messages=(), settings=CallSettings(temperature=1, reasoning="none"))
    assert warnings(idle, given) == []
    assert encoded(idle, options(openai_dialect("gpt-5.4")))["temperature"] == 1


def test_provider_options_are_members_of_the_body_and_win() -> None:
    request = ModelRequest(
        messages=(),
        settings=CallSettings(seed=1),
        provider_options=json_of(
            {"openai-compatible": {"seed": 2, "tools": [{"type": "x"}]}, "other": {"y": 1}}
        ),
    )

    assert encoded(request) == {"messages": [], "model": "m", "seed": 2, "tools": [{"type": "x"}]}


@pytest.mark.parametrize("value", [[], {"openai-compatible": 1}, "x"])
def test_provider_options_are_objects(value: object) -> None:
    with pytest.raises(UsageError, match="object"):
        encoded(ModelRequest(messages=(), provider_options=json_of(value)))


@pytest.mark.parametrize("name", ["messages", "stream"])
def test_provider_options_leave_the_protocol_alone(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        encoded(
            ModelRequest(messages=(), provider_options=json_of({"openai-compatible": {name: 1}}))
        )


# --- tools and formats ------------------------------------------------------------------------

TOOL = ToolDefinition("t", "d", json_of({"type": "object", "properties": {}}))


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", None),
        ("none", "none"),
        ("required", "required"),
        (NamedTool("t"), {"type": "function", "function": {"name": "t"}}),
    ],
)
def test_tools_and_the_choice_among_them(choice: ToolChoice, sent: object) -> None:
    body = encoded(ModelRequest(messages=(), tools=(TOOL,), tool_choice=choice))

    assert body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "t",
                "description": "d",
                "parameters": {"type": "object", "properties": {}},
            },
        }
    ]
    assert body.get("tool_choice") == sent
    assert "tool_choice" not in encoded(ModelRequest(messages=(), tool_choice=choice))


def test_a_tool_may_be_strict_and_carry_options() -> None:
    tool = ToolDefinition(
        "t",
        "d",
        json_of({}),
        strict=True,
        input_examples=(json_of({}),),
        provider_options=json_of({"openai-compatible": {"cache_control": {"type": "ephemeral"}}}),
    )
    request = ModelRequest(messages=(), tools=(tool,))

    (sent,) = json.loads(encode_request(request, OPTIONS).request.body)["tools"]

    assert sent["function"]["strict"] is True
    assert sent["cache_control"] == {"type": "ephemeral"}
    assert warnings(request) == [("unsupported", "input_examples")]


CLOSED = {
    "type": "object",
    "properties": {"a": {"type": "string", "enum": ["x"]}},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("schema", "fits"),
    [
        (CLOSED, True),
        ({"anyOf": [CLOSED, {"type": "null"}]}, True),
        ({"type": "array", "items": CLOSED}, True),
        ({"$defs": {"default": CLOSED}, "$ref": "#/$defs/default"}, True),
        ({"enum": [{"default": 1}]}, True),
        (True, True),
        ({**CLOSED, "required": []}, False),
        ({**CLOSED, "additionalProperties": True}, False),
        ({"type": "object"}, False),
        ({"type": "array", "items": {"type": "object"}}, False),
        ({"type": "string", "default": "x"}, False),
        ({"oneOf": [CLOSED]}, False),
        ({**CLOSED, "required": 1}, False),
        ({"properties": 1, "type": "object"}, False),
    ],
)
def test_strict_mode_is_asked_for_where_the_schema_allows_it(schema: object, fits: bool) -> None:
    given = json_of(schema)

    assert fits_strict_mode(given.value) is fits
    body = encoded(ModelRequest(messages=(), response_format=JsonFormat(given)))
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "response", "schema": schema, "strict": fits},
    }


def test_formats() -> None:
    named = JsonFormat(json_of({}), name="n", description="d")
    free = ModelRequest(messages=(), response_format=JsonFormat())
    bound = ModelRequest(messages=(), response_format=named)

    assert encoded(free)["response_format"] == {"type": "json_object"}
    assert encoded(bound, options(ChatDialect(strict=False)))["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "n", "schema": {}, "strict": False, "description": "d"},
    }
    simple = options(ChatDialect(has_json_schema=False))
    assert encoded(bound, simple)["response_format"] == {"type": "json_object"}
    assert warnings(bound, simple) == [("unsupported", "response_format")]


# --- messages ---------------------------------------------------------------------------------


def test_a_user_message_of_many_parts() -> None:
    extra = json_of({"openai-compatible": {"cache_control": 1, "image_detail": "low"}})
    message = UserMessage(
        (
            Text("a"),
            File(FileBytes(PNG), "image/*", provider_options=extra),
            File(FileUrl("https://x/y.jpg"), "image/jpeg"),
            File(FileReference(json_of({"openai-compatible": "file-1"})), "application/pdf"),
            File(FileBytes(b"RIFF"), "audio/x-wav"),
            File(FileBytes(b"mp3"), "audio/mpeg"),
            File(FileBytes(b"%PDF"), "application/pdf", filename="a.pdf"),
            File(FileText("b"), "text/plain"),
            File(FileBytes("c€".encode()), "text/markdown"),
        )
    )

    def base64(data: bytes) -> str:
        return b64encode(data).decode()

    assert prompt(message) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a"},
                {
                    "type": "image_url",
                    "image_url": {"url": f"data:image/png;base64,{base64(PNG)}", "detail": "low"},
                    "cache_control": 1,
                },
                {"type": "image_url", "image_url": {"url": "https://x/y.jpg"}},
                {"type": "file", "file": {"file_id": "file-1"}},
                {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
                {"type": "input_audio", "input_audio": {"data": "bXAz", "format": "mp3"}},
                {
                    "type": "file",
                    "file": {
                        "filename": "a.pdf",
                        "file_data": "data:application/pdf;base64,JVBERg==",
                    },
                },
                {"type": "text", "text": "b"},
                {"type": "text", "text": "c€"},
            ],
        }
    ]


@pytest.mark.parametrize(
    ("data", "declared", "media_type"),
    [
        (PNG, "image/jpeg", "image/png"),
        (b"\xff\xd8\xff..", "image", "image/jpeg"),
        (b"GIF89a", "image/*", "image/gif"),
        (b"RIFF....WEBPVP8", "image/png", "image/webp"),
        (b"<svg>", "image/svg+xml", "image/svg+xml"),
        (b"?", "image", "image/jpeg"),
    ],
)
def test_the_type_of_an_image_is_what_its_bytes_say(
    data: bytes, declared: str, media_type: str
) -> None:
    sent = json.dumps(prompt(UserMessage((File(FileBytes(data), declared),))))

    assert f"data:{media_type};base64," in sent


@pytest.mark.parametrize(
    "part",
    [
        File(FileUrl("https://x/y.pdf"), "application/pdf"),
        File(FileBytes(b""), "video/mp4"),
        File(FileBytes(b""), "audio/flac"),
        File(FileReference(json_of({"other": "x"})), "image/png"),
        File(FileReference(json_of("x")), "image/png"),
    ],
)
def test_a_file_that_cannot_be_said_is_left_out_with_a_warning(part: UserPart) -> None:
    request = ModelRequest(messages=(UserMessage((Text("a"), part)),))

    assert encoded(request)["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "a"}]}
    ]
    assert [kind for kind, _ in warnings(request)] == ["unsupported"]


def test_what_the_assistant_said_thought_and_asked_for() -> None:
    message = AssistantMessage(
        (
            Reasoning("hm"),
            Text("a"),
            Text("b"),
            ToolCall("c1", "t", '{"x": 1.0}'),
            ToolCall("c2", "t", "not json"),
            ToolCall("c3", "t", "[1]"),
            ToolCall("c4", "web", "{}", provider_executed=True),
            ApprovalRequest("p", "c1"),
        )
    )

    def call(call_id: str, arguments: str) -> object:
        return {
            "id": call_id,
            "type": "function",
            "function": {"name": "t", "arguments": arguments},
        }

    assert prompt(message) == [
        {
            "role": "assistant",
            "content": "ab",
            "reasoning_content": "hm",
            "tool_calls": [call("c1", '{"x": 1.0}'), call("c2", "{}"), call("c3", "{}")],
        }
    ]


def test_ids_of_calls_that_openai_refuses_as_too_long_are_sent_as_a_digest() -> None:
    """Histories move from provider to provider, and ids may derive from a long name of a run."""
    short, long = "r" * 36 + "/0/0", "fc_" + "0" * 50
    messages = (
        AssistantMessage((ToolCall(short, "t", "{}"), ToolCall(long, "t", "{}"))),
        ToolMessage(
            (
                ToolResult(short, "t", TextOutput("a")),
                ToolResult(long, "t", ContentOutput((File(FileBytes(PNG), "image/png"),))),
            )
        ),
    )

    sent = json.dumps(prompt(*messages, given=options(openai_dialect("gpt-4o"))))
    asked, first, second, *_ = json.loads(sent)
    ids = [call["id"] for call in asked["tool_calls"]]

    assert ids == [first["tool_call_id"], second["tool_call_id"]]
    assert ids[0] == short
    assert len(ids[1]) == 40
    assert long not in sent
    assert long in json.dumps(prompt(*messages))  # a server of its own may mean something by it


def test_openai_wants_no_reasoning_back() -> None:
    message = AssistantMessage((Reasoning("hm"), ToolCall("c1", "t", "{}")))

    (sent,) = json.loads(
        encode_request(
            ModelRequest(messages=(message,)), options(openai_dialect("gpt-5"))
        ).request.body
    )["messages"]

    assert sent["content"] is None
    assert "reasoning_content" not in sent


def test_a_refusal_goes_back_as_one() -> None:
    mark = json_of({"openai-compatible": {"refusal": True}})

    assert prompt(AssistantMessage((Text("No.", provider_options=mark),))) == [
        {"role": "assistant", "content": None, "refusal": "No."}
    ]


def test_options_of_messages_and_parts_are_members_of_theirs() -> None:
    extra = json_of({"openai-compatible": {"x": 1}, "other": {"y": 1}})

    assert prompt(
        UserMessage((Text("a", provider_options=extra),), provider_options=extra),
        AssistantMessage(
            (Text("b", provider_options=extra), ToolCall("c", "t", "{}", provider_options=extra))
        ),
        ToolMessage((ToolResult("c", "t", TextOutput("d"), provider_options=extra),)),
    ) == [
        {"role": "user", "content": [{"type": "text", "text": "a", "x": 1}], "x": 1},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "b", "x": 1}],
            "tool_calls": [
                {
                    "id": "c",
                    "type": "function",
                    "function": {"name": "t", "arguments": "{}"},
                    "x": 1,
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "d", "x": 1},
    ]


def test_what_the_assistant_cannot_say_is_left_out_with_a_warning() -> None:
    message = AssistantMessage((File(FileBytes(b""), "image/png"), Custom("x.y")))
    request = ModelRequest(messages=(message,))

    assert encoded(request)["messages"] == [{"role": "assistant", "content": ""}]
    assert [kind for kind, _ in warnings(request)] == ["unsupported", "unsupported"]


@pytest.mark.parametrize(
    ("output", "content"),
    [
        (TextOutput("a"), "a"),
        (ErrorTextOutput("a"), "a"),
        (JsonOutput(JsonText('{"a": 1.0}')), '{"a": 1.0}'),
        (ErrorJsonOutput(JsonText("[1]")), "[1]"),
        (DeniedOutput("no"), "no"),
        (DeniedOutput(), "Tool call execution denied."),
        (ContentOutput((Text("a"), Text("b"))), [{"type": "text", "text": x} for x in "ab"]),
        (ContentOutput((Custom("x.y"),)), ""),
    ],
)
def test_results_of_every_kind(output: ToolOutput, content: object) -> None:
    assert prompt(ToolMessage((ToolResult("c", "t", output),))) == [
        {"role": "tool", "tool_call_id": "c", "content": content}
    ]


def test_files_of_results_follow_all_results() -> None:
    image = File(FileUrl("https://x/y.png"), "image/png")
    request = ModelRequest(
        messages=(
            AssistantMessage((ToolCall("c1", "t", "{}"), ToolCall("c2", "t", "{}"))),
            ToolMessage((ToolResult("c2", "t", TextOutput("b")),)),
            ToolMessage((ToolResult("c1", "t", ContentOutput((Text("a"), image))),)),
        )
    )

    _, first, second, files = json.loads(encode_request(request, OPTIONS).request.body)["messages"]

    assert [first["tool_call_id"], second["tool_call_id"]] == ["c1", "c2"]
    assert files == {
        "role": "user",
        "content": [
            {"type": "text", "text": "This is file 1 of the result of call c1:"},
            {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
        ],
    }
    assert warnings(request) == [("compatibility", "File in a tool result")]


def test_lone_surrogates_are_replaced_everywhere() -> None:
    bad = "\ud800"
    request = ModelRequest(
        messages=(UserMessage(bad), AssistantMessage((ToolCall(bad, bad, "{}"),))),
        instructions=bad,
    )

    text = encode_request(request, OPTIONS).request.body.decode()

    assert text.count("\ufffd") == 4


def test_a_number_that_json_does_not_have_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError, match="JSON"):
        encoded(ModelRequest(messages=(), settings=CallSettings(temperature=float("nan"))))


def test_warnings_are_said_once() -> None:
    message = UserMessage((File(FileBytes(b""), "video/mp4"), File(FileBytes(b""), "video/mp4")))
    call = encode_request(ModelRequest(messages=(message, message)), OPTIONS)

    assert len(call.warnings) == 1
    assert isinstance(call.warnings[0], ModelWarning)


def test_a_message_is_encoded_once_per_dialect() -> None:
    message = UserMessage("x" * 100_000)
    request = ModelRequest(messages=(message,) * 200)
    encode_request(request, OPTIONS)

    start = time.process_time()
    for _ in range(5):
        encode_request(request, OPTIONS)
    assert time.process_time() - start < 1.0  # anew it would be 100 MB of escaping
    assert prompt(SystemMessage("a"), given=OPTIONS) != prompt(
        SystemMessage("a"), given=options(openai_dialect("o3"))
    )


def test_tools_of_a_compatible_server_are_sent_by_their_type() -> None:
    """Chat completions of OpenAI itself have none."""
    request = ModelRequest(
        messages=(UserMessage("Hi"),),
        provider_tools=(
            ProviderTool("groq.browser_search", "browser_search"),
            ProviderTool("openai.web_search", "web_search"),
        ),
    )
    groq = options(ChatDialect(provider="groq"))
    openai = options(openai_dialect("gpt-5.4"))

    assert encoded(request, groq)["tools"] == [{"type": "browser_search"}]
    assert warnings(request, groq) == [("unsupported", "provider tool openai.web_search")]
    assert "tools" not in encoded(request, openai)
    assert warnings(request, openai) == [
        ("unsupported", "provider tool groq.browser_search"),
        ("unsupported", "provider tool openai.web_search"),
    ]
