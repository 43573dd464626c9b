import json
from base64 import b64encode
from pathlib import Path

import pytest

from stepfold.providers import Endpoint
from stepfold.providers.responses import (
    ResponsesDialect,
    decode_reply,
    encode_request,
    responses_dialect,
)
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    CallSettings,
    ContentOutput,
    Custom,
    DeniedOutput,
    DocumentSource,
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
    ReasoningFile,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    ToolError,
    ToolMessage,
    ToolOutput,
    ToolResult,
    UrlSource,
    UsageError,
    UserMessage,
    UserPart,
)

SAMPLES = Path(__file__).parents[2] / "data" / "openai_responses"
OPTIONS = Endpoint(
    model_id="m",
    base_url="http://x/v1/",
    headers=(("authorization", "Bearer k"),),
    dialect=ResponsesDialect(),
)
PNG = b"\x89PNG\r\n\x1a\n..."
SCHEMA = JsonText(
    '{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],'
    '"additionalProperties":false}'
)
LOOSE = JsonText('{"type":"object","properties":{"a":{"type":"string"}}}')


def own(**members: object) -> JsonText:
    return JsonText.of({"openai": members})


def encoded(
    request: ModelRequest, given: Endpoint[ResponsesDialect] = OPTIONS, *, stream: bool = False
) -> dict[str, object]:
    body: dict[str, object] = json.loads(encode_request(request, given, stream=stream).request.body)
    return body


def body_of(**members: object) -> dict[str, object]:
    return encoded(ModelRequest(messages=(), provider_options=own(**members)))


def items_of(*messages: Message, store: bool = False) -> list[dict[str, object]]:
    request = ModelRequest(messages=messages, provider_options=own(store=store))
    items = encoded(request)["input"]
    assert isinstance(items, list)
    return items


def warnings_of(request: ModelRequest, given: Endpoint[ResponsesDialect] = OPTIONS) -> list[str]:
    return [warning.subject for warning in encode_request(request, given).warnings]


def dialect(model_id: str) -> Endpoint[ResponsesDialect]:
    return Endpoint(model_id=model_id, base_url="http://x", dialect=responses_dialect(model_id))


def test_a_plain_request() -> None:
    request = ModelRequest(
        messages=(SystemMessage("s"), UserMessage("Hi")),
        instructions="Be brief.",
        headers=(("X-A", "1"),),
    )

    call = encode_request(request, OPTIONS, stream=True)

    assert json.loads(call.request.body) == {
        "input": [{"role": "system", "content": "s"}, {"role": "user", "content": "Hi"}],
        "model": "m",
        "instructions": "Be brief.",
        "store": False,
        "stream": True,
    }
    assert (call.request.method, call.request.url) == ("POST", "http://x/v1/responses")
    assert dict(call.request.headers) == {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "user-agent": "stepfold",
        "authorization": "Bearer k",
        "x-a": "1",
    }
    assert call.warnings == ()


def test_settings_and_what_has_no_place() -> None:
    settings = CallSettings(
        max_output_tokens=9,
        temperature=0.5,
        top_p=0.9,
        top_k=3,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        stop_sequences=("#",),
        seed=7,
        reasoning="low",
    )
    request = ModelRequest(messages=(), settings=settings)

    body = encoded(request)

    assert {name: body.get(name) for name in ("max_output_tokens", "temperature", "top_p")} == {
        "max_output_tokens": 9,
        "temperature": 0.5,
        "top_p": 0.9,
    }
    assert body["reasoning"] == {"effort": "low"}
    assert warnings_of(request) == [
        *("top_k", "presence_penalty", "frequency_penalty", "stop_sequences", "seed")
    ]


def test_a_model_that_reasons() -> None:
    options = dialect("gpt-5.4")
    settings = CallSettings(temperature=0, reasoning="max")
    request = ModelRequest(messages=(SystemMessage("s"),), settings=settings)

    body = encoded(request, options)

    assert body["include"] == ["reasoning.encrypted_content"]
    assert body["reasoning"] == {"effort": "xhigh"}
    assert "temperature" not in body
    assert body["input"] == [{"role": "developer", "content": "s"}]
    assert sorted(warnings_of(request, options)) == ["reasoning", "temperature"]
    free = ModelRequest(messages=(), settings=CallSettings(temperature=0, reasoning="none"))
    assert encoded(free, options)["temperature"] == 0


def test_a_model_that_does_not_reason() -> None:
    options = dialect("gpt-4o")

    assert "include" not in encoded(ModelRequest(messages=()), options)
    for effort, warned in (("low", ["reasoning"]), ("none", [])):
        settings = CallSettings(reasoning="low" if effort == "low" else "none")
        request = ModelRequest(messages=(), settings=settings)
        assert warnings_of(request, options) == warned
        assert "reasoning" not in encoded(request, options)


def test_options_of_the_request_win_and_add() -> None:
    options = own(
        reasoning={"summary": "auto"},
        text={"verbosity": "low"},
        include=["message.output_text.logprobs"],
        tools=[{"type": "web_search"}, {"type": "mcp"}, 7],
        parallel_tool_calls=False,
        store=True,
    )
    request = ModelRequest(
        messages=(),
        settings=CallSettings(reasoning="low"),
        response_format=JsonFormat(),
        provider_options=options,
    )

    body = encoded(request, dialect("gpt-5.4"))

    assert body["reasoning"] == {"effort": "low", "summary": "auto"}
    assert body["text"] == {"format": {"type": "json_object"}, "verbosity": "low"}
    assert body["include"] == [
        "web_search_call.action.sources",
        "message.output_text.logprobs",
    ]
    assert body["tools"] == [{"type": "web_search"}, {"type": "mcp"}, 7]
    assert (body["parallel_tool_calls"], body["store"]) == (False, True)
    assert "tools" not in body_of(tools={}, include=7)


@pytest.mark.parametrize("name", ["input", "stream"])
def test_options_cannot_change_what_the_request_says(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        body_of(**{name: []})


@pytest.mark.parametrize("name", ["previous_response_id", "conversation"])
def test_a_memory_of_the_server_is_warned_of(name: str) -> None:
    request = ModelRequest(messages=(), provider_options=own(**{name: "x"}))

    assert warnings_of(request) == [name]
    assert encoded(request)[name] == "x"


@pytest.mark.parametrize(("schema", "strict"), [(SCHEMA, True), (LOOSE, False)])
def test_a_schema_is_strict_where_it_fits(schema: JsonText, strict: bool) -> None:
    wanted = JsonFormat(schema, name="report", description="A report.")

    assert encoded(ModelRequest(messages=(), response_format=wanted))["text"] == {
        "format": {
            "type": "json_schema",
            "name": "report",
            "schema": json.loads(schema.text),
            "strict": strict,
            "description": "A report.",
        }
    }
    plain = encoded(ModelRequest(messages=(), response_format=JsonFormat(schema)))["text"]
    assert isinstance(plain, dict)
    assert plain["format"]["name"] == "response"


def test_tools() -> None:
    tools = (
        ToolDefinition("f", "F.", SCHEMA, strict=True),
        ToolDefinition("g", "G.", LOOSE, strict=True, input_examples=(JsonText("{}"),)),
        ToolDefinition("h", "H.", LOOSE, provider_options=own(defer_loading=True)),
        ToolDefinition("sql", "S.", LOOSE, provider_options=own(type="custom")),
        ToolDefinition("computer", "C.", LOOSE, provider_options=own(type="computer")),
    )
    request = ModelRequest(messages=(), tools=tools)

    sent = encoded(request)["tools"]

    assert isinstance(sent, list)
    assert [(tool.get("name"), tool.get("strict")) for tool in sent] == [
        ("f", True),
        ("g", False),
        ("h", False),
        ("sql", None),
        (None, None),
    ]
    assert sent[0]["parameters"] == json.loads(SCHEMA.text)
    assert sent[2]["defer_loading"] is True
    assert sent[3] == {"type": "custom", "name": "sql", "description": "S."}
    assert sent[4] == {"type": "computer"}
    assert warnings_of(request) == ["input_examples", "strict"]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", None),
        ("none", "none"),
        ("required", "required"),
        (NamedTool("f"), {"type": "function", "name": "f"}),
        (NamedTool("web_search"), {"type": "web_search"}),
    ],
)
def test_the_choice_of_a_tool(choice: ToolChoice, sent: object) -> None:
    tools = (ToolDefinition("f", "F.", SCHEMA),)

    assert encoded(ModelRequest(messages=(), tools=tools, tool_choice=choice)).get(
        "tool_choice"
    ) == (sent)
    assert "tool_choice" not in encoded(ModelRequest(messages=(), tool_choice=choice))


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        (Text("Hi"), {"type": "input_text", "text": "Hi"}),
        (
            File(FileBytes(PNG), "image/*", provider_options=own(image_detail="low")),
            {
                "type": "input_image",
                "image_url": f"data:image/png;base64,{b64encode(PNG).decode()}",
                "detail": "low",
            },
        ),
        (
            File(FileBytes(b"RIFF....WEBP"), "image"),
            {
                "type": "input_image",
                "image_url": f"data:image/webp;base64,{b64encode(b'RIFF....WEBP').decode()}",
            },
        ),
        (
            File(FileBytes(b"x"), "image"),
            {"type": "input_image", "image_url": "data:image/jpeg;base64,eA=="},
        ),
        (
            File(FileUrl("https://a/b.png"), "image/png"),
            {"type": "input_image", "image_url": "https://a/b.png"},
        ),
        (
            File(FileUrl("https://a/b.pdf"), "application/pdf"),
            {"type": "input_file", "file_url": "https://a/b.pdf"},
        ),
        (
            File(FileBytes(b"%PDF"), "application/pdf"),
            {
                "type": "input_file",
                "filename": "document.pdf",
                "file_data": f"data:application/pdf;base64,{b64encode(b'%PDF').decode()}",
            },
        ),
        (
            File(FileBytes(b"x"), "application/json", filename="a.json"),
            {
                "type": "input_file",
                "filename": "a.json",
                "file_data": "data:application/json;base64,eA==",
            },
        ),
        (File(FileText("x"), "text/plain"), {"type": "input_text", "text": "x"}),
        (File(FileBytes(b"x"), "text/csv"), {"type": "input_text", "text": "x"}),
        (
            File(FileReference(JsonText('{"openai":"f"}')), "image/png"),
            {"type": "input_image", "file_id": "f"},
        ),
        (
            File(FileReference(JsonText('{"openai":"f"}')), "application/pdf"),
            {"type": "input_file", "file_id": "f"},
        ),
    ],
)
def test_what_a_person_gives(part: UserPart, sent: dict[str, object]) -> None:
    assert items_of(UserMessage((part, Text("!")))) == [
        {"role": "user", "content": [sent, {"type": "input_text", "text": "!"}]}
    ]


@pytest.mark.parametrize(
    "part",
    [
        File(FileBytes(b"x"), "audio/wav"),
        File(FileUrl("https://a"), "video/mp4"),
        File(FileReference(JsonText('{"other":"f"}')), "image/png"),
    ],
)
def test_files_that_it_does_not_take_are_left_out(part: File) -> None:
    request = ModelRequest(messages=(UserMessage((part,)),))

    assert encoded(request)["input"] == [{"role": "user", "content": []}]
    assert warnings_of(request) == [f"file part of type {part.media_type}"]


def test_texts_of_one_item_are_one_message() -> None:
    said = AssistantMessage(
        (
            Text("a", provider_options=own(item_id="m1", phase="commentary")),
            Text("No.", provider_options=own(item_id="m1", refusal=True)),
            Text("b", provider_options=own(item_id="m2")),
            Text("c"),
            Text("d", provider_options=own(item_id="x" * 65)),
        )
    )

    assert items_of(said) == [
        {
            "type": "message",
            "role": "assistant",
            "content": [
                {"type": "output_text", "text": "a", "annotations": []},
                {"type": "refusal", "refusal": "No."},
            ],
            "id": "m1",
            "status": "completed",
            "phase": "commentary",
        },
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "b", "annotations": []}],
            "id": "m2",
            "status": "completed",
        },
        *(
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": text, "annotations": []}],
            }
            for text in "cd"
        ),
    ]


def test_sealed_reasoning_goes_back_as_one_item() -> None:
    said = AssistantMessage(
        (
            Reasoning("a", provider_options=own(item_id="rs", encrypted_content="e")),
            Reasoning("b", provider_options=own(item_id="rs")),
            Reasoning("c", provider_options=own(item_id="rs", reasoning_text=True)),
            Text("Hi", provider_options=own(item_id="m1")),
        )
    )

    reasoning, message = items_of(said)

    assert reasoning == {
        "type": "reasoning",
        "id": "rs",
        "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
        "content": [{"type": "reasoning_text", "text": "c"}],
        "encrypted_content": "e",
    }
    assert message["id"] == "m1"


def test_reasoning_that_the_server_forgets_is_left_out_with_the_ids_of_its_message() -> None:
    said = AssistantMessage(
        (
            Reasoning("a", provider_options=own(item_id="rs")),
            Reasoning("b"),
            Text("Hi", provider_options=own(item_id="m1")),
        )
    )

    (message,) = items_of(said)

    assert "id" not in message
    assert warnings_of(ModelRequest(messages=(said,))) == ["Reasoning without encrypted content"]
    kept = items_of(AssistantMessage(said.content[:1]), store=True)
    assert kept == [
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "a"}]}
    ]


def call(call_id: str, text: str = '{"a":1}', **item: object) -> ToolCall:
    options = own(item=item) if item else None
    return ToolCall(call_id, "f", text, provider_options=options)


@pytest.mark.parametrize(
    ("output", "sent"),
    [
        (TextOutput("x"), "x"),
        (ErrorTextOutput("x"), "x"),
        (JsonOutput(JsonText('{"a":1}')), '{"a":1}'),
        (ErrorJsonOutput(JsonText('{"a":1}')), '{"a":1}'),
        (DeniedOutput(), "Tool call execution denied."),
        (DeniedOutput("No."), "No."),
        (
            ContentOutput((Text("x"), File(FileUrl("https://a"), "image/png"))),
            [
                {"type": "input_text", "text": "x"},
                {"type": "input_image", "image_url": "https://a"},
            ],
        ),
        (ContentOutput((Custom("a.b"), File(FileBytes(b"x"), "audio/wav"))), ""),
    ],
)
def test_calls_and_what_they_came_to(output: ToolOutput, sent: object) -> None:
    said = AssistantMessage((call("c", type="function_call", id="fc", status="completed"),))
    told = ToolMessage((ToolResult("c", "f", output),))

    assert items_of(said, told) == [
        {
            "type": "function_call",
            "status": "completed",
            "id": "fc",
            "call_id": "c",
            "name": "f",
            "arguments": '{"a":1}',
        },
        {"type": "function_call_output", "call_id": "c", "output": sent},
    ]


def test_what_is_left_out_of_a_result_is_warned_of() -> None:
    output = ContentOutput((Custom("a.b"), File(FileBytes(b"x"), "audio/wav")))
    messages = (AssistantMessage((call("c"),)), ToolMessage((ToolResult("c", "f", output),)))

    assert warnings_of(ModelRequest(messages=messages)) == [
        "Custom in a tool result",
        "file part of type audio/wav",
    ]


def test_ids_of_calls_that_are_refused_as_too_long_are_sent_as_a_digest() -> None:
    """The same for a call and its result; one that fits is sent as it is."""
    fitting, long = "r" * 60 + "/0/0", "r" * 61 + "/0/0"
    asked = AssistantMessage((ToolCall(fitting, "t", "{}"), ToolCall(long, "t", "{}")))
    told = ToolMessage(
        (ToolResult(fitting, "t", TextOutput("a")), ToolResult(long, "t", TextOutput("b")))
    )

    ids = [item["call_id"] for item in items_of(asked, told)]

    assert ids[:2] == ids[2:]
    assert ids[0] == fitting
    assert len(str(ids[1])) == 64
    assert ids[1] != long


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_arguments_that_are_no_object_are_sent_as_an_empty_one(text: str) -> None:
    (item,) = items_of(AssistantMessage((call("c", text),)))

    assert item == {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}


def test_calls_of_other_kinds_and_their_outputs() -> None:
    kinds = ("custom_tool_call", "local_shell_call", "shell_call", "tool_search_call")
    said = AssistantMessage(
        (
            call("a", '{"input":"SELECT 1"}', type=kinds[0], id="1"),
            call("b", '{"action":{}}', type=kinds[1], id="2"),
            call("c", '{"action":{}}', type=kinds[2], id="3"),
            call("d", '{"goal":"x"}', type=kinds[3], id="4"),
            call("e", "{}", type="function_call", id="5"),
        )
    )
    output = JsonOutput(JsonText('{"output":[],"max_output_length":9}'))
    told = ToolMessage(
        (
            ToolResult("a", "f", TextOutput("1")),
            ToolResult("b", "f", TextOutput("ok")),
            ToolResult("c", "f", output),
            ToolResult("d", "f", JsonOutput(JsonText('{"tools":[]}'))),
            ToolResult("e", "f", TextOutput("2")),
        )
    )

    items = items_of(said, told)

    assert [item.get("call_id") for item in items[:5]] == ["a", "b", "c", "d", "e"]
    assert (items[0]["input"], items[1]["action"], items[3]["arguments"]) == (
        "SELECT 1",
        {},
        {"goal": "x"},
    )
    assert items[5:] == [
        {"type": "custom_tool_call_output", "call_id": "a", "output": "1"},
        {"type": "local_shell_call_output", "id": "b", "output": "ok"},
        {"type": "shell_call_output", "call_id": "c", "output": [], "max_output_length": 9},
        {"type": "tool_search_output", "call_id": "d", "tools": []},
        {"type": "function_call_output", "call_id": "e", "output": "2"},
    ]


def test_decisions_go_back_to_who_asked() -> None:
    told = ToolMessage(
        (
            ApprovalResponse("mcpr_1", approved=True, provider_executed=True),
            ApprovalResponse("mcpr_2", approved=False, reason="No.", provider_executed=True),
            ApprovalResponse("ours", approved=True),
            ToolResult("x", "f", TextOutput("x"), provider_executed=True),
        )
    )
    asked = AssistantMessage((Text("Hi"), ApprovalRequest("mcpr_1", "c")))

    assert items_of(asked, told)[1:] == [
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        {
            "type": "mcp_approval_response",
            "approval_request_id": "mcpr_2",
            "approve": False,
            "reason": "No.",
        },
    ]


def test_what_others_made_is_left_out() -> None:
    said = AssistantMessage(
        (
            Text("Hi"),
            ToolCall("c", "search", "{}", provider_executed=True),
            ToolResult("d", "search", TextOutput("x"), provider_executed=True),
            File(FileBytes(b"x"), "image/png"),
            ReasoningFile(FileBytes(b"x"), "image/png"),
            Custom("other.kind"),
        )
    )
    request = ModelRequest(messages=(said,))

    assert len(items_of(said)) == 1
    assert warnings_of(request) == [
        "call of search",
        "result of search",
        "File in an assistant message",
        "ReasoningFile",
        "Custom part other.kind",
    ]


def test_every_item_goes_back_as_it_came() -> None:
    body = (SAMPLES / "tools.json").read_bytes()
    parts: list[AssistantPart] = []
    for part in decode_reply(body, "openai").unwrap().content:
        if isinstance(part, ToolError):
            assert part.value is not None
            output = ErrorJsonOutput(part.value)
            parts.append(ToolResult(part.tool_call_id, part.tool_name, output))
        elif not isinstance(part, UrlSource | DocumentSource):
            parts.append(part)
    items = items_of(AssistantMessage(tuple(parts)))

    came = json.loads(body)["output"]
    assert len(items) == len(came)
    assert items == came


def test_warnings_come_once() -> None:
    twice = (UserMessage((File(FileBytes(b"x"), "audio/wav"),)),) * 2

    call = encode_request(ModelRequest(messages=twice), OPTIONS)

    assert [type(warning) for warning in call.warnings] == [ModelWarning]


def test_a_dialect_of_another_name() -> None:
    options = Endpoint(model_id="m", base_url="http://x", dialect=ResponsesDialect(provider="acme"))
    said = AssistantMessage((Text("a", provider_options=JsonText('{"acme":{"item_id":"i"}}')),))

    items = encoded(ModelRequest(messages=(said,)), options)["input"]

    assert isinstance(items, list)
    assert items[0]["id"] == "i"


def test_tools_of_the_provider_are_sent_by_their_type() -> None:
    """What they find is asked for, and one of another provider is left out."""
    request = ModelRequest(
        messages=(UserMessage("Hi"),),
        provider_tools=(
            ProviderTool("openai.web_search", "find", JsonText('{"search_context_size":"low"}')),
            ProviderTool("anthropic.web_search_20250305", "web_search"),
        ),
        tool_choice=NamedTool("find"),
    )
    body = encoded(request)

    assert body["tools"] == [{"type": "web_search", "search_context_size": "low"}]
    assert body["include"] == ["web_search_call.action.sources"]
    assert body["tool_choice"] == {"type": "web_search"}
    assert warnings_of(request) == ["provider tool anthropic.web_search_20250305"]
