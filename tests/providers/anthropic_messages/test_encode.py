import json
from collections.abc import Sequence
from typing import TypeAlias

import pytest
from attrs import evolve

from stepfold.providers import Endpoint
from stepfold.providers.anthropic_messages import (
    MessagesDialect,
    anthropic_dialect,
    encode_request,
)
from stepfold.values import (
    AssistantMessage,
    AssistantPart,
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
    NamedTool,
    ProviderTool,
    Reasoning,
    ReasoningEffort,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolOutput,
    ToolResult,
    UsageError,
    UserMessage,
    UserPart,
)

Json: TypeAlias = dict[str, object]
Warned: TypeAlias = list[tuple[str, str]]

FREE = MessagesDialect(has_json_schema=True)
ADAPTIVE = MessagesDialect(thinking="adaptive", has_json_schema=True)
PNG = b"\x89PNG\r\n\x1a\n"
SCHEMA = JsonText.of({"type": "object", "properties": {}, "additionalProperties": False})
TOOL = ToolDefinition("t", "It does.", SCHEMA)
CACHED = JsonText.of({"anthropic": {"cache_control": {"type": "ephemeral"}}})
EPHEMERAL = {"cache_control": {"type": "ephemeral"}}
HI = UserMessage("Hi")


def ours(**members: object) -> JsonText:
    return JsonText.of({"anthropic": members})


def encode(
    request: ModelRequest, dialect: MessagesDialect = FREE, *, stream: bool = False
) -> tuple[Json, Warned, dict[str, str]]:
    options = Endpoint(
        model_id="m", base_url="http://x/v1/", headers=(("x-api-key", "k"),), dialect=dialect
    )
    call = encode_request(request, options, stream=stream)
    assert (call.request.method, call.request.url) == ("POST", "http://x/v1/messages")
    body: Json = json.loads(call.request.body)
    warned: Warned = [(warning.kind, warning.subject) for warning in call.warnings]
    return body, warned, dict(call.request.headers)


def turns(*messages: Message) -> tuple[object, Warned]:
    body, warned, _ = encode(ModelRequest(messages=messages))
    return body["messages"], warned


def said(*content: AssistantPart) -> tuple[object, Warned]:
    """What becomes of an assistant message between two others."""
    body, warned, _ = encode(ModelRequest(messages=(HI, AssistantMessage(content), HI)))
    sent = body["messages"]
    assert isinstance(sent, list)
    return (sent[1]["content"] if len(sent) == 3 else None), warned


def asked(*content: UserPart) -> tuple[list[object], Warned]:
    sent, warned = turns(UserMessage((Text("x"), *content)))
    assert isinstance(sent, list)
    blocks: list[object] = sent[0]["content"]
    return blocks[1:], warned


def settings(
    dialect: MessagesDialect = FREE,
    *,
    tools: Sequence[ToolDefinition] = (),
    choice: NamedTool | None = None,
    given: JsonText | None = None,
    **named: object,
) -> tuple[Json, Warned]:
    request = ModelRequest(
        messages=(HI,),
        tools=tuple(tools),
        tool_choice=choice or "auto",
        settings=CallSettings(**named),  # type: ignore[arg-type]
        provider_options=given,
    )
    body, warned, _ = encode(request, dialect)
    return {k: v for k, v in body.items() if k not in {"model", "messages", "tools"}}, warned


# --- the request ------------------------------------------------------------------------------


def test_a_small_request() -> None:
    body, warned, headers = encode(ModelRequest(messages=(HI,), instructions="Be brief."))

    assert body == {
        "model": "m",
        "max_tokens": 4_096,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    }
    assert warned == []
    assert headers == {
        "content-type": "application/json",
        "accept": "application/json",
        "user-agent": "stepfold",
        "x-api-key": "k",
    }


def test_a_request_for_a_stream() -> None:
    body, _, headers = encode(ModelRequest(messages=(HI,)), stream=True)

    assert body["stream"] is True
    assert headers["accept"] == "text/event-stream"


def test_options_of_the_request_are_members_of_the_body() -> None:
    server_tool = {"type": "web_search_20250305", "name": "web_search"}
    request = ModelRequest(
        messages=(HI,),
        tools=(TOOL,),
        settings=CallSettings(max_output_tokens=9),
        headers=(("Anthropic-Beta", "c, a"), ("x-b", "2")),
        provider_options=ours(
            max_tokens=10,
            metadata={"user_id": "u"},
            tools=[server_tool],
            betas=["a", "b"],
            output_config={"task_budget": 1},
            disable_parallel_tool_use=True,
        ),
    )

    body, _, headers = encode(request)

    assert body["max_tokens"] == 10
    assert body["metadata"] == {"user_id": "u"}
    assert isinstance(body["tools"], list)
    assert body["tools"][1] == server_tool
    assert body["output_config"] == {"task_budget": 1}
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert "betas" not in body
    assert "disable_parallel_tool_use" not in body
    assert headers["anthropic-beta"] == "a,b,c"
    assert headers["x-b"] == "2"


@pytest.mark.parametrize("name", ["messages", "system", "stream"])
def test_what_is_for_the_request_to_say_is_no_option(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        encode(ModelRequest(messages=(HI,), provider_options=ours(**{name: 1})))


def test_the_same_history_is_encoded_once() -> None:
    message = UserMessage("Hi there")
    first, *_ = encode(ModelRequest(messages=(message,)))
    again, *_ = encode(ModelRequest(messages=(message,)))

    assert first == again


# --- turns ------------------------------------------------------------------------------------


def test_neighbours_of_one_role_are_one_turn() -> None:
    calls = AssistantMessage((Text("a"), ToolCall("c", "t", '{"x": 1}')))
    result = ToolMessage((ToolResult("c", "t", TextOutput("r")),))

    sent, warned = turns(HI, UserMessage("there"), calls, result, UserMessage("And?"))

    assert warned == []
    assert sent == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "there"}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "tool_use", "id": "c", "name": "t", "input": {"x": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": "r"},
                {"type": "text", "text": "And?"},
            ],
        },
    ]


def test_system_messages_are_the_system_prompt() -> None:
    body, warned, _ = encode(
        ModelRequest(
            messages=(SystemMessage("One", provider_options=CACHED), HI, SystemMessage("Two")),
            instructions="Zero",
        )
    )

    assert body["system"] == [
        {"type": "text", "text": "Zero"},
        {"type": "text", "text": "One", **EPHEMERAL},
        {"type": "text", "text": "Two"},
    ]
    assert warned == [("compatibility", "system message inside the conversation")]


def test_what_is_empty_is_left_out() -> None:
    sent, warned = turns(HI, AssistantMessage(" "), UserMessage((Text(""), Text("x"))))

    assert sent == [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "x"}]}
    ]
    assert warned == [("compatibility", "empty AssistantMessage")]


def test_a_reply_that_is_to_go_on_ends_without_white_space() -> None:
    prefill = AssistantMessage((Text("a "), Text("The answer is \n")))

    sent, _ = turns(HI, prefill)

    assert isinstance(sent, list)
    assert [block["text"] for block in sent[1]["content"]] == ["a ", "The answer is"]


def test_cache_control_of_messages_and_parts() -> None:
    sent, warned = turns(
        UserMessage((Text("a", provider_options=CACHED), Text("b"))),
        AssistantMessage(
            (Text("c"), Reasoning("d", provider_options=ours(signature="s"))),
            provider_options=CACHED,
        ),
        UserMessage("e", provider_options=CACHED),
    )

    assert sent == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "a", **EPHEMERAL}, {"type": "text", "text": "b"}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "c", **EPHEMERAL},
                {"type": "thinking", "thinking": "d", "signature": "s"},
            ],
        },
        {"role": "user", "content": [{"type": "text", "text": "e", **EPHEMERAL}]},
    ]
    assert warned == []


def test_cache_control_without_a_block_to_carry_it() -> None:
    thought = Reasoning("d", provider_options=ours(signature="s"))

    _, warned = turns(HI, AssistantMessage((thought,), provider_options=CACHED), HI)

    assert warned == [("unsupported", "provider_options of a message")]


# --- what the model said ----------------------------------------------------------------------


def test_thoughts_go_back_with_their_signatures() -> None:
    sent, warned = said(
        Reasoning("a", provider_options=ours(signature="s")),
        Reasoning("", provider_options=ours(redacted_data="r")),
        Reasoning("from elsewhere"),
    )

    assert sent == [
        {"type": "thinking", "thinking": "a", "signature": "s"},
        {"type": "redacted_thinking", "data": "r"},
    ]
    assert warned == [("unsupported", "reasoning")]


def test_what_the_server_did_goes_back_as_it_came() -> None:
    content = JsonText.of([{"type": "web_search_result", "encrypted_content": "e"}])
    sent, warned = said(
        ToolCall(
            "a",
            "web_search",
            '{"query":"x"}',
            provider_executed=True,
            provider_options=ours(type="server_tool_use"),
        ),
        ToolResult(
            "a",
            "web_search",
            JsonOutput(content),
            provider_executed=True,
            provider_options=ours(type="web_search_tool_result"),
        ),
        Text("Found.", provider_options=ours(citations=[{"type": "x"}])),
        Custom("anthropic.compaction", provider_options=ours(type="compaction", content="s")),
    )

    assert sent == [
        {"type": "server_tool_use", "id": "a", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "a", "content": json.loads(content.text)},
        {"type": "text", "text": "Found.", "citations": [{"type": "x"}]},
        {"type": "compaction", "content": "s"},
    ]
    assert warned == []


def test_what_another_provider_did_is_left_out_with_a_warning() -> None:
    sent, warned = said(
        Text("x"),
        ToolCall("a", "search", "{}", provider_executed=True),
        ToolResult("a", "search", TextOutput("r"), provider_executed=True),
        Custom("openai.item", provider_options=JsonText.of({"openai": {"id": "i"}})),
        File(FileBytes(b"x"), "image/png"),
    )

    assert sent == [{"type": "text", "text": "x"}]
    assert warned == [
        ("unsupported", "call of search that a provider executed"),
        ("unsupported", "result of search in an assistant message"),
        ("unsupported", "custom part openai.item"),
        ("unsupported", "File in an assistant message"),
    ]


@pytest.mark.parametrize("text", ["", "{", "[1]", '"x"', '{"a": NaN}'])
def test_arguments_that_are_no_object_are_an_empty_one(text: str) -> None:
    sent, _ = said(ToolCall("a", "t", text))

    assert sent == [{"type": "tool_use", "id": "a", "name": "t", "input": {}}]


def test_ids_that_the_api_refuses_are_replaced_everywhere_alike() -> None:
    ids = ["run/0/1", "run_0_1", "run.0.1", "é" * 90, ""]
    calls = AssistantMessage([ToolCall(call_id, "t", "{}") for call_id in ids])
    results = ToolMessage([ToolResult(call_id, "t", TextOutput("r")) for call_id in ids])

    sent, _ = turns(HI, calls, results)

    assert isinstance(sent, list)
    called = [block["id"] for block in sent[1]["content"]]
    assert called == [block["tool_use_id"] for block in sent[2]["content"]]
    assert called[1] == "run_0_1"
    assert len(set(called)) == len(ids)
    assert all(
        set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
        and 0 < len(name) <= 64
        for name in called
    )


# --- results ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "content", "is_error"),
    [
        (TextOutput("x"), "x", None),
        (JsonOutput(JsonText('{"a": 1}')), '{"a": 1}', None),
        (ErrorTextOutput("x"), "x", True),
        (ErrorJsonOutput(JsonText("1")), "1", True),
        (DeniedOutput("no"), "no", None),
        (DeniedOutput(), "Tool call execution denied.", None),
        (ContentOutput((Text("x"),)), [{"type": "text", "text": "x"}], None),
        (
            ContentOutput((Custom("anthropic.r", provider_options=ours(type="tool_reference")),)),
            [{"type": "tool_reference"}],
            None,
        ),
        (ContentOutput(()), [], None),
    ],
)
def test_every_output_of_a_tool(output: ToolOutput, content: object, is_error: bool | None) -> None:
    call = AssistantMessage((ToolCall("a", "t", "{}"),))
    result = ToolResult("a", "t", output, provider_options=CACHED)

    sent, warned = turns(HI, call, ToolMessage((result,)))

    block = {"type": "tool_result", "tool_use_id": "a", "content": content, **EPHEMERAL}
    if is_error is not None:
        block["is_error"] = is_error
    assert isinstance(sent, list)
    assert sent[2]["content"] == [block]
    assert warned == []


def test_a_result_may_hold_an_image() -> None:
    output = ContentOutput((File(FileBytes(PNG), "image"), Custom("x.y")))
    call = AssistantMessage((ToolCall("a", "t", "{}"),))

    sent, warned = turns(HI, call, ToolMessage((ToolResult("a", "t", output),)))

    assert isinstance(sent, list)
    (image,) = sent[2]["content"][0]["content"]
    assert image["source"]["media_type"] == "image/png"
    assert warned == [("unsupported", "custom part x.y")]


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "block"),
    [
        (
            File(FileBytes(b"\xff\xd8\xff"), "image/png"),
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/jpeg", "data": "/9j/"},
            },
        ),
        (
            File(FileUrl("https://x/a.png"), "image/*"),
            {"type": "image", "source": {"type": "url", "url": "https://x/a.png"}},
        ),
        (
            File(FileUrl("data:image/gif;base64,R0lGOA=="), "image"),
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/gif", "data": "R0lGOA=="},
            },
        ),
        (
            File(FileBytes(b"%PDF"), "application/pdf", filename="a.pdf"),
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
                "title": "a.pdf",
            },
        ),
        (
            File(
                FileUrl("https://x/a.pdf"),
                "application/pdf",
                provider_options=ours(citations={"enabled": True}, title="A"),
            ),
            {
                "type": "document",
                "source": {"type": "url", "url": "https://x/a.pdf"},
                "citations": {"enabled": True},
                "title": "A",
            },
        ),
        (
            File(FileText("words"), "text/markdown"),
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "words"},
            },
        ),
        (
            File(FileBytes(b"{}"), "application/json"),
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "{}"},
            },
        ),
        (
            File(FileReference(JsonText.of({"anthropic": "file_1"})), "image/png"),
            {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
        ),
    ],
)
def test_files_that_the_protocol_knows(file: File, block: Json) -> None:
    assert asked(file) == ([block], [])


@pytest.mark.parametrize(
    "file",
    [
        File(FileBytes(b"x"), "audio/wav"),
        File(FileBytes(b"x"), "image/tiff"),
        File(FileUrl("https://x/a.txt"), "text/plain"),
        File(FileUrl("data:,x"), "image/png"),
        File(FileUrl("data:text/plain;base64,eA=="), "text/plain"),
        File(FileReference(JsonText.of({"openai": "f"})), "image/png"),
    ],
)
def test_other_files_are_left_out_with_a_warning(file: File) -> None:
    assert asked(file) == ([], [("unsupported", f"file part of type {file.media_type}")])


# --- tools ------------------------------------------------------------------------------------


def test_tools() -> None:
    strict = evolve(
        TOOL,
        strict=True,
        input_examples=(JsonText("{}"),),
        provider_options=CACHED,
        input_schema=JsonText.of(
            {
                "type": "object",
                "properties": {"n": {"type": "integer", "minimum": 1}},
                "additionalProperties": False,
            }
        ),
    )

    body, warned, headers = encode(ModelRequest(messages=(HI,), tools=(TOOL, strict)))

    assert isinstance(body["tools"], list)
    first, second = body["tools"]
    assert first == {
        "name": "t",
        "description": "It does.",
        "input_schema": json.loads(SCHEMA.text),
    }
    assert second["strict"] is True
    assert second["input_examples"] == [{}]
    assert second["cache_control"] == {"type": "ephemeral"}
    assert "minimum" not in second["input_schema"]["properties"]["n"]
    assert warned == []
    assert "advanced-tool-use" in headers["anthropic-beta"]
    assert "tool_choice" not in body


def test_strict_tools_that_cannot_be() -> None:
    recursive = JsonText.of(
        {
            "$ref": "#/$defs/a",
            "$defs": {"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}},
        }
    )
    request = ModelRequest(messages=(HI,), tools=(evolve(TOOL, strict=True),))
    other = ModelRequest(messages=(HI,), tools=(evolve(TOOL, strict=True, input_schema=recursive),))

    for body, warned, _ in (encode(request, MessagesDialect()), encode(other)):
        assert warned == [("unsupported", "strict tool t")]
        assert "strict" not in json.dumps(body["tools"])


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", None),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        (NamedTool("t"), {"type": "tool", "name": "t"}),
    ],
)
def test_tool_choice(choice: NamedTool, sent: object) -> None:
    body, *_ = encode(ModelRequest(messages=(HI,), tools=(TOOL,), tool_choice=choice))
    without, *_ = encode(ModelRequest(messages=(HI,), tool_choice=choice))

    assert body.get("tool_choice") == sent
    assert "tool_choice" not in without


# --- settings ---------------------------------------------------------------------------------


def test_settings() -> None:
    body, warned = settings(
        max_output_tokens=7, temperature=0.5, top_k=3, stop_sequences=("#",), seed=1
    )

    assert body == {"max_tokens": 7, "temperature": 0.5, "top_k": 3, "stop_sequences": ["#"]}
    assert warned == [("unsupported", "seed")]


def test_settings_that_the_protocol_lacks_or_limits() -> None:
    body, warned = settings(temperature=1.5, top_p=0.5, presence_penalty=1.0, frequency_penalty=1.0)

    assert body == {"max_tokens": 4_096, "temperature": 1}
    assert warned == [
        ("unsupported", "presence_penalty"),
        ("unsupported", "frequency_penalty"),
        ("compatibility", "temperature"),
        ("unsupported", "top_p"),
    ]


@pytest.mark.parametrize(
    ("effort", "thinking"),
    [
        ("none", {"type": "disabled"}),
        ("minimal", {"type": "enabled", "budget_tokens": 1_024}),
        ("medium", {"type": "enabled", "budget_tokens": 3_000}),
        ("max", {"type": "enabled", "budget_tokens": 9_500}),
    ],
)
def test_a_budget_of_thoughts(effort: ReasoningEffort, thinking: object) -> None:
    body, warned = settings(max_output_tokens=10_000, reasoning=effort)

    assert body == {"max_tokens": 10_000, "thinking": thinking}
    assert warned == []


@pytest.mark.parametrize(
    ("effort", "sent", "warns"),
    [("low", "low", False), ("minimal", "low", True), ("xhigh", "high", True)],
)
def test_an_effort_of_thoughts(effort: ReasoningEffort, sent: str, warns: bool) -> None:
    body, warned = settings(ADAPTIVE, reasoning=effort)

    assert body["thinking"] == {"type": "adaptive"}
    assert body["output_config"] == {"effort": sent}
    assert warned == ([("compatibility", "reasoning")] if warns else [])


def test_models_that_think_take_no_sampling() -> None:
    body, warned = settings(reasoning="low", temperature=0.1, top_k=1)

    assert "temperature" not in body
    assert warned == [("unsupported", "temperature"), ("unsupported", "top_k")]
    body, warned = settings(MessagesDialect(sampling="fixed"), top_p=0.1)
    assert "top_p" not in body
    assert warned == [("unsupported", "top_p")]


def test_thinking_that_cannot_be() -> None:
    for body, warned in (
        settings(MessagesDialect(thinking="none"), reasoning="low"),
        settings(reasoning="low", max_output_tokens=1_024),
        settings(reasoning="low", tools=(TOOL,), choice=NamedTool("t")),
    ):
        assert "thinking" not in body
        assert warned == [("unsupported", "reasoning")]
    assert settings(MessagesDialect(thinking="none"), reasoning="none")[1] == []


def test_thinking_as_the_user_wants_it() -> None:
    thinking = {"type": "enabled", "budget_tokens": 2_000}

    body, warned = settings(given=ours(thinking=thinking), reasoning="high", temperature=0.1)

    assert body["thinking"] == thinking
    assert warned == [("unsupported", "temperature")]


# --- the form of the reply --------------------------------------------------------------------


def form(wanted: JsonFormat, dialect: MessagesDialect = FREE) -> tuple[object, Warned]:
    body, warned, _ = encode(ModelRequest(messages=(HI,), response_format=wanted), dialect)
    return body.get("output_config"), warned


def test_a_reply_in_the_form_of_a_schema() -> None:
    schema = {**json.loads(SCHEMA.text), "required": []}
    config, warned = form(JsonFormat(JsonText.of(schema)))

    assert isinstance(config, dict)
    assert config["format"]["type"] == "json_schema"
    assert config["format"]["schema"]["type"] == "object"
    assert warned == []


def test_forms_that_the_protocol_lacks() -> None:
    assert form(JsonFormat()) == (None, [("unsupported", "response_format")])
    assert form(JsonFormat(SCHEMA), MessagesDialect()) == (
        None,
        [("unsupported", "response_format")],
    )
    bounded = JsonText.of({"type": "integer", "minimum": 1})
    config, warned = form(JsonFormat(bounded))
    assert config is not None
    assert warned == [("compatibility", "response_format")]


# --- models -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model_id", "limit", "thinking", "sampling", "has_schema"),
    [
        ("claude-3-haiku-20240307", 4_096, "none", "free", False),
        ("claude-3-5-haiku-20241022", 8_192, "none", "free", False),
        ("claude-3-7-sonnet-20250219", 32_000, "budget", "free", False),
        ("claude-sonnet-4-20250514", 32_000, "budget", "free", False),
        ("claude-opus-4-1", 32_000, "budget", "free", True),
        ("claude-sonnet-4-5-20250929", 32_000, "budget", "free", True),
        ("claude-opus-4-6", 32_000, "adaptive", "free", True),
        ("anthropic/claude-opus-4.7", 32_000, "adaptive", "fixed", True),
        ("claude-sonnet-5", 32_000, "adaptive", "fixed", True),
        ("smollm2", 4_096, "budget", "free", False),
    ],
)
def test_what_models_understand(
    model_id: str, limit: int, thinking: str, sampling: str, has_schema: bool
) -> None:
    dialect = anthropic_dialect(model_id)

    assert (dialect.max_output_tokens, dialect.thinking) == (limit, thinking)
    assert (dialect.sampling, dialect.has_json_schema) == (sampling, has_schema)


def test_tools_of_the_provider_are_sent_by_type_and_name() -> None:
    """A tool that has to be asked for is, and one of another provider is left out."""
    search = ProviderTool(
        "anthropic.web_search_20250305", "web_search", JsonText.of({"max_uses": 2})
    )
    runs = ProviderTool("anthropic.code_execution_20250825", "code_execution")
    body, warned, headers = encode(
        ModelRequest(
            messages=(HI,),
            tools=(TOOL,),
            provider_tools=(search, runs, ProviderTool("openai.web_search", "search")),
            tool_choice=NamedTool("web_search"),
        )
    )

    tools = body["tools"]
    assert isinstance(tools, list)
    assert tools[1:] == [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 2},
        {"type": "code_execution_20250825", "name": "code_execution"},
    ]
    assert body["tool_choice"] == {"type": "tool", "name": "web_search"}
    assert headers["anthropic-beta"] == "code-execution-2025-08-25"
    assert warned == [("unsupported", "provider tool openai.web_search")]


def test_a_tool_of_another_provider_alone_is_no_tool() -> None:
    body, _, _ = encode(
        ModelRequest(
            messages=(HI,),
            provider_tools=(ProviderTool("openai.web_search", "search"),),
            tool_choice="required",
        )
    )

    assert body.keys().isdisjoint({"tools", "tool_choice"})


def test_arguments_of_a_tool_of_the_provider_are_an_object() -> None:
    search = ProviderTool("anthropic.web_search_20250305", "web_search", JsonText("[]"))
    with pytest.raises(UsageError, match=r"expected the args of anthropic.web_search_20250305"):
        encode(ModelRequest(messages=(HI,), provider_tools=(search,)))
