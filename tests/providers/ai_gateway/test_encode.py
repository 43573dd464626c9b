"""Requests to the gateway: the specification of a language model, as JSON."""

import json

import pytest

import stepfold as sf
from stepfold.providers import Endpoint, GatewayDialect
from stepfold.providers.ai_gateway import encode_request
from stepfold.providers.ai_gateway import tools as gateway_tools
from stepfold.providers.anthropic_messages import tools as anthropic
from stepfold.providers.responses import tools as openai
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
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
    NamedTool,
    Reasoning,
    ReasoningFile,
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
)

HI = UserMessage("Hi")
PNG = b"\x89PNG\r\n\x1a\n"
KEPT = JsonText('{"anthropic":{"signature":"s"}}')
OF_KEPT = {"anthropic": {"signature": "s"}}


def endpoint(model_id: str = "openai/gpt-5.4") -> Endpoint[GatewayDialect]:
    return Endpoint(
        model_id=model_id,
        base_url="http://x/v4/ai/",
        headers=(("authorization", "Bearer k"),),
        dialect=GatewayDialect(),
    )


def body_of(request: ModelRequest, model_id: str = "openai/gpt-5.4") -> dict[str, object]:
    call = encode_request(request, endpoint(model_id))
    assert call.warnings == ()
    body: dict[str, object] = json.loads(call.request.body)
    return body


def prompt_of(*messages: Message) -> list[dict[str, object]]:
    prompt = body_of(ModelRequest(messages=messages))["prompt"]
    assert isinstance(prompt, list)
    return prompt


def test_the_model_is_named_in_the_headers() -> None:
    call = encode_request(ModelRequest(messages=(HI,), headers=(("X-A", "1"),)), endpoint())

    assert (call.request.method, call.request.url) == ("POST", "http://x/v4/ai/language-model")
    assert dict(call.request.headers) == {
        "content-type": "application/json",
        "accept": "application/json",
        "user-agent": "stepfold",
        "authorization": "Bearer k",
        "x-a": "1",
        "ai-language-model-specification-version": "4",
        "ai-language-model-id": "openai/gpt-5.4",
        "ai-language-model-streaming": "false",
    }
    assert json.loads(call.request.body) == {
        "prompt": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        "toolChoice": {"type": "auto"},
        "headers": {"X-A": "1"},
    }


def test_a_stream_is_asked_for_by_a_header() -> None:
    call = encode_request(ModelRequest(messages=(HI,)), endpoint(), stream=True)
    headers = dict(call.request.headers)

    assert headers["ai-language-model-streaming"] == "true"
    assert headers["accept"] == "text/event-stream"


def test_every_setting_has_its_place() -> None:
    settings = CallSettings(
        max_output_tokens=9,
        temperature=0,
        top_p=0.9,
        top_k=3,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        stop_sequences=("#",),
        seed=7,
        reasoning="low",
    )
    body = body_of(
        ModelRequest(
            messages=(HI,),
            instructions="Be brief.",
            settings=settings,
            response_format=JsonFormat(JsonText('{"type":"object"}'), name="n", description="d"),
            provider_options=JsonText('{"gateway":{"order":["azure"]}}'),
        )
    )

    assert body["prompt"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
    ]
    assert {name: body[name] for name in body if name not in {"prompt", "toolChoice"}} == {
        "maxOutputTokens": 9,
        "temperature": 0,
        "topP": 0.9,
        "topK": 3,
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
        "stopSequences": ["#"],
        "seed": 7,
        "reasoning": "low",
        "responseFormat": {
            "type": "json",
            "schema": {"type": "object"},
            "name": "n",
            "description": "d",
        },
        "providerOptions": {"gateway": {"order": ["azure"]}},
    }
    assert body_of(ModelRequest(messages=(HI,), response_format=JsonFormat()))[
        "responseFormat"
    ] == {"type": "json"}


def test_options_are_by_provider() -> None:
    with pytest.raises(UsageError, match=r"an object by provider, got \[\]"):
        body_of(ModelRequest(messages=(HI,), provider_options=JsonText("[]")))


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("none", {"type": "none"}),
        ("required", {"type": "required"}),
        (NamedTool("t"), {"type": "tool", "toolName": "t"}),
    ],
)
def test_a_tool_choice_is_always_said(choice: ToolChoice, said: dict[str, str]) -> None:
    assert body_of(ModelRequest(messages=(HI,), tool_choice=choice))["toolChoice"] == said


# --- messages ---------------------------------------------------------------------------------


def test_files_are_said_by_what_is_known_of_them() -> None:
    files = (
        File(PNG, "image", filename="a.png"),
        File(b"%PDF", "application/pdf", provider_options=KEPT),
        File(FileUrl("https://x/a.png"), "image/png"),
        File(FileUrl("data:text/plain;base64,SGk="), "text/*"),
        File(FileUrl("data:,"), "text/plain"),
        File(FileUrl("data:broken"), "text/plain"),
        File(FileText("Hi"), "text/plain"),
        File(FileReference(JsonText('{"openai":"f"}')), "application/pdf"),
    )
    content = prompt_of(UserMessage(files))[0]["content"]

    assert content == [
        {
            "type": "file",
            "mediaType": "image/png",
            "data": {"type": "data", "data": "iVBORw0KGgo="},
            "filename": "a.png",
        },
        {
            "type": "file",
            "mediaType": "application/pdf",
            "data": {"type": "data", "data": "JVBERg=="},
            "providerOptions": OF_KEPT,
        },
        {
            "type": "file",
            "mediaType": "image/png",
            "data": {"type": "url", "url": "https://x/a.png"},
        },
        {"type": "file", "mediaType": "text/plain", "data": {"type": "data", "data": "SGk="}},
        {"type": "file", "mediaType": "text/plain", "data": {"type": "data", "data": ""}},
        {
            "type": "file",
            "mediaType": "text/plain",
            "data": {"type": "url", "url": "data:broken"},
        },
        {"type": "file", "mediaType": "text/plain", "data": {"type": "text", "text": "Hi"}},
        {
            "type": "file",
            "mediaType": "application/pdf",
            "data": {"type": "reference", "reference": {"openai": "f"}},
        },
    ]


def test_what_a_model_said_goes_back_with_what_its_provider_attached() -> None:
    said = AssistantMessage(
        (
            Reasoning("hm", provider_options=KEPT),
            ReasoningFile(FileBytes(PNG), "image/png"),
            Text("Yes."),
            File(FileUrl("https://x/a.png"), "image/png"),
            Custom("openai.compaction", provider_options=KEPT),
            ToolCall("c1", "t", '{"a":1}'),
            ToolCall("c2", "s", "not JSON", provider_executed=True),
            ToolResult("c2", "s", JsonOutput(JsonText('{"b":2}')), provider_executed=True),
            ApprovalRequest("a1", "c2"),
        ),
        provider_options=KEPT,
    )
    told = ToolMessage(
        (
            ToolResult("c1", "t", TextOutput("ok")),
            ApprovalResponse("a1", True, reason="fine", provider_executed=True),
        )
    )

    _, assistant, tool = prompt_of(HI, said, told)

    assert assistant == {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "hm", "providerOptions": OF_KEPT},
            {
                "type": "reasoning-file",
                "mediaType": "image/png",
                "data": {"type": "data", "data": "iVBORw0KGgo="},
            },
            {"type": "text", "text": "Yes."},
            {
                "type": "file",
                "mediaType": "image/png",
                "data": {"type": "url", "url": "https://x/a.png"},
            },
            {"type": "custom", "kind": "openai.compaction", "providerOptions": OF_KEPT},
            {"type": "tool-call", "toolCallId": "c1", "toolName": "t", "input": {"a": 1}},
            {
                "type": "tool-call",
                "toolCallId": "c2",
                "toolName": "s",
                "input": {},
                "providerExecuted": True,
            },
            {
                "type": "tool-result",
                "toolCallId": "c2",
                "toolName": "s",
                "output": {"type": "json", "value": {"b": 2}},
            },
        ],
        "providerOptions": OF_KEPT,
    }
    answers = tool["content"]
    assert isinstance(answers, list)
    assert sorted(answers, key=str) == [
        {
            "type": "tool-approval-response",
            "approvalId": "a1",
            "approved": True,
            "reason": "fine",
        },
        {
            "type": "tool-result",
            "toolCallId": "c1",
            "toolName": "t",
            "output": {"type": "text", "value": "ok"},
        },
    ]
    assert prompt_of(SystemMessage("s"))[0] == {"role": "system", "content": "s"}


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (ErrorTextOutput("no"), {"type": "error-text", "value": "no"}),
        (ErrorJsonOutput(JsonText("[1]")), {"type": "error-json", "value": [1]}),
        (DeniedOutput(), {"type": "execution-denied"}),
        (DeniedOutput("why"), {"type": "execution-denied", "reason": "why"}),
        (
            ContentOutput((Text("a"), Custom("x.y")), provider_options=KEPT),
            {
                "type": "content",
                "value": [{"type": "text", "text": "a"}, {"type": "custom", "kind": "x.y"}],
                "providerOptions": OF_KEPT,
            },
        ),
    ],
)
def test_results_are_said_by_their_kind(output: ToolOutput, said: dict[str, object]) -> None:
    call = AssistantMessage((ToolCall("c", "t", "{}"),))
    message = ToolMessage((ToolResult("c", "t", output, provider_options=KEPT),))

    assert prompt_of(HI, call, message)[-1]["content"] == [
        {
            "type": "tool-result",
            "toolCallId": "c",
            "toolName": "t",
            "output": said,
            "providerOptions": OF_KEPT,
        }
    ]


# --- tools ------------------------------------------------------------------------------------


def tools_of(request: ModelRequest, model_id: str = "openai/gpt-5.4") -> list[dict[str, object]]:
    tools = body_of(request, model_id)["tools"]
    assert isinstance(tools, list)
    return tools


def test_functions_go_with_all_that_is_known_of_them() -> None:
    schema = JsonText('{"type":"object"}')
    plain = ToolDefinition("a", "", schema)
    full = ToolDefinition(
        "b",
        "It does.",
        schema,
        strict=True,
        input_examples=(JsonText("{}"),),
        provider_options=KEPT,
    )

    assert tools_of(ModelRequest(messages=(HI,), tools=(plain, full))) == [
        {"type": "function", "name": "a", "inputSchema": {"type": "object"}},
        {
            "type": "function",
            "name": "b",
            "description": "It does.",
            "inputSchema": {"type": "object"},
            "inputExamples": [{"input": {}}],
            "strict": True,
            "providerOptions": OF_KEPT,
        },
    ]


def test_tools_of_providers_go_in_the_words_of_the_ai_sdk() -> None:
    tools = (
        openai.file_search(["vs"], score_threshold=0.5, filters={"type": "eq", "a_b": 1}),
        openai.hosted_shell(openai.Container(memory_limit="4g")),
        sf.provider_tool("gateway.perplexity_search", args={"maxResults": 3}),
    )

    assert tools_of(ModelRequest(messages=(HI,), provider_tools=tools)) == [
        {
            "type": "provider",
            "id": "openai.file_search",
            "name": "file_search",
            "args": {
                "vectorStoreIds": ["vs"],
                "filters": {"type": "eq", "a_b": 1},
                "ranking": {"scoreThreshold": 0.5},
            },
        },
        {
            "type": "provider",
            "id": "openai.shell",
            "name": "shell",
            "args": {"environment": {"type": "containerAuto", "memoryLimit": "4g"}},
        },
        {
            "type": "provider",
            "id": "gateway.perplexity_search",
            "name": "perplexity_search",
            "args": {"maxResults": 3},
        },
    ]


def test_a_tool_that_the_provider_defines_is_known_to_its_models_only() -> None:
    @anthropic.computer(display_width_px=8, display_height_px=6)
    def use(
        action: str,
        coordinate: tuple[int, int] | None = None,
        text: str = "",
        start_coordinate: tuple[int, int] | None = None,
        scroll_amount: int = 0,
        scroll_direction: str = "",
        duration: float = 0,
    ) -> str:
        raise NotImplementedError

    request = ModelRequest(messages=(HI,), tools=(use.spec.definition,))

    assert tools_of(request, "anthropic/claude-opus-4.8") == [
        {
            "type": "provider",
            "id": "anthropic.computer_20250124",
            "name": "computer",
            "args": {"displayWidthPx": 8, "displayHeightPx": 6},
        }
    ]
    assert tools_of(request)[0]["type"] == "function"


def test_tools_of_the_gateway_itself_go_as_they_are() -> None:
    tools = (
        gateway_tools.perplexity_search(max_results=3, domains=["a.no"], recency="week"),
        gateway_tools.parallel_search(mode="fast", exclude_domains=["b.no"], max_characters=9),
    )

    assert [
        tool["args"] for tool in tools_of(ModelRequest(messages=(HI,), provider_tools=tools))
    ] == [
        {"maxResults": 3, "searchDomainFilter": ["a.no"], "searchRecencyFilter": "week"},
        {"mode": "fast", "sourcePolicy": {"excludeDomains": ["b.no"]}, "maxCharsTotal": 9},
    ]
    with pytest.raises(UsageError, match="expected one list of domains, got two"):
        gateway_tools.parallel_search(include_domains=[], exclude_domains=[])
