"""Requests as Converse takes them: each is one that the official client's own checks let pass."""

import json
from base64 import b64encode
from urllib.parse import unquote

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator

from stepfold.providers import Endpoint
from stepfold.providers.bedrock_converse import ConverseDialect, converse_dialect, encode_request
from stepfold.values import (
    ApprovalRequest,
    AssistantMessage,
    CallSettings,
    ContentOutput,
    Custom,
    DeniedOutput,
    ErrorTextOutput,
    File,
    FileBytes,
    FileReference,
    FileText,
    FileUrl,
    JsonFormat,
    JsonOutput,
    JsonText,
    ModelRequest,
    NamedTool,
    ProviderTool,
    Reasoning,
    ReasoningFile,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UsageError,
    UserMessage,
)

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
OPUS = "anthropic.claude-opus-4-8"
NOVA = "us.amazon.nova-lite-v1:0"
MISTRAL = "mistral.mistral-large-3-675b-instruct"
CLOSED = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
SCHEMA = JsonText(json.dumps(CLOSED))
LOOK = ToolDefinition("look", "Look it up.", SCHEMA)
HI = UserMessage("Hi")
PNG = b"\x89PNG\r\n\x1a\n"

CONVERSE = ServiceModel(
    Loader().load_service_model("bedrock-runtime", "service-2")
).operation_model("Converse")


def options(**members: object) -> JsonText:
    return JsonText(json.dumps({"bedrock": members}))


def encode(
    *messages: object, model_id: str = NOVA, stream: bool = False, **more: object
) -> tuple[dict[str, object], list[str]]:
    """The body, which the service's own description has no objection to, and what was warned of."""
    request = ModelRequest(messages=messages or (HI,), **more)  # type: ignore[arg-type]
    endpoint = Endpoint(model_id=model_id, base_url="https://h", dialect=converse_dialect(model_id))
    call = encode_request(request, endpoint, stream=stream)
    method = "converse-stream" if stream else "converse"
    path = call.request.url.removeprefix("https://h/model/").removesuffix(f"/{method}")
    assert unquote(path) == model_id
    assert "/" not in path
    body = json.loads(call.request.body)
    assert CONVERSE.input_shape is not None
    report = ParamValidator().validate({"modelId": model_id, **body}, CONVERSE.input_shape)
    assert not report.has_errors(), report.generate_report()
    return body, [warning.subject for warning in call.warnings]


def test_the_whole_of_a_simple_request() -> None:
    body, warnings = encode(
        SystemMessage("Be brief."),
        HI,
        instructions="You are kind.",
        settings=CallSettings(
            max_output_tokens=9, temperature=0.5, top_p=0.9, stop_sequences=("END",)
        ),
    )

    assert warnings == []
    assert body == {
        "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
        "system": [{"text": "You are kind."}, {"text": "Be brief."}],
        "inferenceConfig": {
            "maxTokens": 9,
            "temperature": 0.5,
            "topP": 0.9,
            "stopSequences": ["END"],
        },
    }


def test_a_stream_is_asked_for_in_binary_messages() -> None:
    endpoint = Endpoint(model_id="a/b", base_url="https://h", dialect=ConverseDialect())
    call = encode_request(ModelRequest(messages=(HI,)), endpoint, stream=True)

    assert call.request.url == "https://h/model/a%2Fb/converse-stream"
    assert dict(call.request.headers)["accept"] == "application/vnd.amazon.eventstream"


def test_a_turn_with_tools_goes_back() -> None:
    said = AssistantMessage(
        [
            Reasoning("Hm.", provider_options=options(signature="s")),
            Reasoning("", provider_options=options(redacted_data="cg==")),
            Reasoning("lost"),
            Text("I look."),
            ToolCall("call_1", "look", '{"n":1}'),
            ToolCall("bad id!", "look", "none"),
            ApprovalRequest("a", "call_1"),
        ]
    )
    answers = ToolMessage(
        [
            ToolResult("call_1", "look", JsonOutput(JsonText('{"a":1}'))),
            ToolResult("bad id!", "look", ErrorTextOutput("No.")),
        ]
    )
    body, warnings = encode(HI, said, answers, UserMessage("And?"), model_id=CLAUDE, tools=(LOOK,))

    messages = body["messages"]
    assert isinstance(messages, list)
    _, model, user = messages
    assert warnings == ["reasoning"]
    other = model["content"][4]["toolUse"]["toolUseId"]
    assert other.startswith("bad_id_-")
    assert model == {
        "role": "assistant",
        "content": [
            {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
            {"reasoningContent": {"redactedContent": "cg=="}},
            {"text": "I look."},
            {"toolUse": {"toolUseId": "call_1", "name": "look", "input": {"n": 1}}},
            {"toolUse": {"toolUseId": other, "name": "look", "input": {}}},
        ],
    }
    assert user == {
        "role": "user",
        "content": [
            {"toolResult": {"toolUseId": "call_1", "content": [{"json": {"a": 1}}]}},
            {"toolResult": {"toolUseId": other, "content": [{"text": "No."}], "status": "error"}},
            {"text": "And?"},
        ],
    }
    assert body["toolConfig"] == {
        "tools": [
            {
                "toolSpec": {
                    "name": "look",
                    "description": "Look it up.",
                    "inputSchema": {"json": CLOSED},
                }
            }
        ]
    }


def test_results_of_every_form() -> None:
    pieces = (Text("see"), Text(""), File(FileBytes(PNG), "image/png"), Custom("x.y"))
    results = [
        ToolResult("1", "look", JsonOutput(JsonText("[1]"))),
        ToolResult("2", "look", DeniedOutput()),
        ToolResult("3", "look", ContentOutput(pieces)),
        ToolResult("4", "look", TextOutput("x"), provider_executed=True),
        ToolResult("5", "look", ErrorTextOutput("No.")),
    ]
    calls = AssistantMessage([ToolCall(str(n), "look", "{}") for n in (1, 2, 3, 5)])

    body, warnings = encode(HI, calls, ToolMessage(results), model_id=MISTRAL, tools=(LOOK,))

    sent = [block["toolResult"] for block in body["messages"][2]["content"]]  # type: ignore[index]
    assert [result["content"] for result in sent] == [
        [{"text": "[1]"}],
        [{"text": "Tool call execution denied."}],
        [
            {"text": "see"},
            {"image": {"format": "png", "source": {"bytes": b64encode(PNG).decode()}}},
        ],
        [{"text": "No."}],
    ]
    assert not any("status" in result for result in sent)  # Mistral's models refuse it
    assert all(len(result["toolUseId"]) == 9 for result in sent)
    assert warnings == ["custom part x.y", "result of look in a tool message"]


def test_files() -> None:
    held = FileReference(JsonText('{"bedrock":"s3://bucket/v.mp4"}'))
    files = [
        File(FileBytes(PNG), "image/jpeg"),  # which it is not
        File(FileText("hé"), "text/x-log", filename="My_log (1).log"),
        File(
            FileUrl("s3://bucket/a.pdf"),
            "application/pdf",
            provider_options=options(
                bucketOwner="123456789012",
                citations={"enabled": True},
                cachePoint={"type": "default"},
            ),
        ),
        File(held, "video/mp4"),
        File(FileUrl("data:audio/wav;base64,aGk%3D"), "audio/wav"),
    ]
    body, warnings = encode(UserMessage(files))

    image, log, paper, point, video, audio = body["messages"][0]["content"]  # type: ignore[index]
    assert warnings == []
    assert image["image"]["format"] == "png"
    assert log == {
        "document": {
            "format": "txt",
            "name": "My-log (1)",
            "source": {"bytes": b64encode("hé".encode()).decode()},
        }
    }
    location = {"uri": "s3://bucket/a.pdf", "bucketOwner": "123456789012"}
    assert paper["document"]["source"] == {"s3Location": location}
    assert paper["document"]["citations"] == {"enabled": True}
    assert paper["document"]["name"].startswith("document-")
    assert point == {"cachePoint": {"type": "default"}}
    assert video["video"]["source"] == {"s3Location": {"uri": "s3://bucket/v.mp4"}}
    assert audio == {"audio": {"format": "wav", "source": {"bytes": "aGk="}}}


@pytest.mark.parametrize(
    "part",
    [
        File(FileBytes(b"x"), "application/zip"),
        File(FileUrl("https://h/x.pdf"), "application/pdf"),
        File(FileUrl("data:text/plain,x"), "text/plain"),
        File(FileReference(JsonText('{"other":"x"}')), "application/pdf"),
    ],
)
def test_a_file_without_a_place_is_left_out(part: File) -> None:
    body, warnings = encode(UserMessage([Text("Hi"), part]))

    assert body["messages"] == [{"role": "user", "content": [{"text": "Hi"}]}]
    assert warnings == [f"file part of type {part.media_type}"]


def test_cache_points_and_guarded_texts_stand_where_they_were_put() -> None:
    point = {"type": "default", "ttl": "1h"}
    body, warnings = encode(
        SystemMessage("Rules", provider_options=options(cachePoint=point)),
        UserMessage(
            [
                Text("a", provider_options=options(cachePoint=point)),
                Text("b", provider_options=options(guardContent={"qualifiers": ["query"]})),
            ],
            provider_options=options(cachePoint=point),
        ),
        tools=(ToolDefinition("look", "", SCHEMA, provider_options=options(cachePoint=point)),),
        provider_options=options(system=[{"cachePoint": point}]),
    )

    there = {"cachePoint": point}
    guarded = {"guardContent": {"text": {"text": "b", "qualifiers": ["query"]}}}
    assert warnings == []
    assert body["system"] == [{"text": "Rules"}, there, there]
    assert body["messages"] == [{"role": "user", "content": [{"text": "a"}, there, guarded, there]}]
    spec, behind = body["toolConfig"]["tools"]  # type: ignore[index]
    assert "description" not in spec["toolSpec"]
    assert behind == there


def test_options_of_the_request_are_added() -> None:
    body, _ = encode(
        settings=CallSettings(max_output_tokens=5, top_k=3),
        tools=(LOOK,),
        provider_options=options(
            guardrailConfig={"guardrailIdentifier": "g", "guardrailVersion": "1"},
            inferenceConfig={"maxTokens": 7},
            additionalModelRequestFields={"x": 1},
            toolConfig={
                "tools": [{"systemTool": {"name": "grounding"}}],
                "toolChoice": {"auto": {}},
            },
            serviceTier={"type": "flex"},
        ),
    )

    assert body["inferenceConfig"] == {"maxTokens": 7}
    assert body["additionalModelRequestFields"] == {"inferenceConfig": {"topK": 3}, "x": 1}
    assert body["guardrailConfig"] == {"guardrailIdentifier": "g", "guardrailVersion": "1"}
    assert body["serviceTier"] == {"type": "flex"}
    assert body["toolConfig"]["toolChoice"] == {"auto": {}}  # type: ignore[index]
    assert len(body["toolConfig"]["tools"]) == 2  # type: ignore[index]
    with pytest.raises(UsageError, match="messages"):
        encode(provider_options=options(messages=[]))


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", None),
        ("required", {"any": {}}),
        (NamedTool("look"), {"tool": {"name": "look"}}),
    ],
)
def test_the_choice_of_tools(choice: object, sent: object) -> None:
    body, warnings = encode(tools=(LOOK,), tool_choice=choice)

    assert body["toolConfig"].get("toolChoice") == sent  # type: ignore[attr-defined]
    assert warnings == []


def test_no_tools_are_declared_where_none_may_be_called() -> None:
    body, warnings = encode(tools=(LOOK,), tool_choice="none")
    assert ("toolConfig" in body, warnings) == (False, [])

    called = AssistantMessage([ToolCall("1", "look", "{}")])
    answered = ToolMessage([ToolResult("1", "look", TextOutput("x"))])
    body, warnings = encode(HI, called, answered, tools=(LOOK,), tool_choice="none")
    assert (len(body["toolConfig"]["tools"]), warnings) == (1, ["tool_choice"])  # type: ignore[index]


def test_tools_of_the_prompt_are_declared_by_their_names() -> None:
    """The API refuses a prompt with calls where no tools are."""
    called = AssistantMessage([ToolCall("1", "look", "{}")])
    answered = ToolMessage([ToolResult("1", "look", TextOutput("x"))])

    body, warnings = encode(HI, called, answered)

    spec = {"name": "look", "inputSchema": {"json": {"type": "object"}}}
    assert body["toolConfig"] == {"tools": [{"toolSpec": spec}]}
    assert warnings == ["tools"]


def test_tools_of_the_provider() -> None:
    own = ProviderTool("bedrock.nova_grounding", "search", JsonText("{}"))
    other = ProviderTool("openai.web_search", "search", JsonText("{}"))

    body, warnings = encode(provider_tools=(own, other))

    assert body["toolConfig"] == {"tools": [{"systemTool": {"name": "nova_grounding"}}]}
    assert warnings == ["provider tool openai.web_search"]


def test_what_the_provider_said_of_its_own_tools_goes_back() -> None:
    content = JsonText('[{"text":"found"}]')
    said = AssistantMessage(
        [
            ToolCall(
                "s",
                "nova_grounding",
                "{}",
                provider_executed=True,
                provider_options=options(type="server_tool_use"),
            ),
            ToolResult(
                "s",
                "nova_grounding",
                JsonOutput(content),
                provider_executed=True,
                provider_options=options(result={"type": "x"}),
            ),
            Text("So.", provider_options=options(citations=[{"title": "t"}])),
            Custom("bedrock.searchResult", provider_options=options(block={"text": "as it was"})),
            File(FileBytes(PNG), "image/png"),
            ReasoningFile(FileBytes(PNG), "image/png"),
            Custom("other.thing"),
            ToolCall("o", "web", "{}", provider_executed=True),
            ToolResult("o", "web", TextOutput("x"), provider_executed=True),
        ]
    )
    body, warnings = encode(HI, said, HI)

    blocks = body["messages"][1]["content"]  # type: ignore[index]
    used = {"toolUseId": "s", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}
    result = {"type": "x", "toolUseId": "s", "content": [{"text": "found"}]}
    assert blocks[:4] == [
        {"toolUse": used},
        {"toolResult": result},
        {"citationsContent": {"content": [{"text": "So."}], "citations": [{"title": "t"}]}},
        {"text": "as it was"},
    ]
    assert list(blocks[4]) == ["image"]
    assert len(blocks) == 5
    assert warnings == [
        "reasoning file",
        "custom part other.thing",
        "call of web that a provider executed",
        "result of web in an assistant message",
    ]


def test_strict_tools_and_examples() -> None:
    strict = ToolDefinition("look", "x", SCHEMA, strict=True, input_examples=(JsonText("{}"),))

    for model_id, is_strict, warned in (
        (CLAUDE, True, ["input_examples"]),
        (MISTRAL, True, ["input_examples"]),
        (NOVA, None, ["strict tool look", "input_examples"]),
    ):
        body, warnings = encode(model_id=model_id, tools=(strict,))
        spec = body["toolConfig"]["tools"][0]["toolSpec"]  # type: ignore[index]
        assert (spec.get("strict"), warnings) == (is_strict, warned)

    loose = ToolDefinition(
        "look", "x", JsonText('{"type":"object","properties":{"n":{}}}'), strict=True
    )
    body, warnings = encode(model_id=CLAUDE, tools=(loose,))
    assert warnings == ["strict tool look"]


def test_the_form_of_a_reply() -> None:
    wanted = JsonFormat(SCHEMA, name="n", description="d")
    for model_id in (CLAUDE, MISTRAL):
        body, warnings = encode(model_id=model_id, response_format=wanted)
        form = body["outputConfig"]["textFormat"]  # type: ignore[index]
        described = form["structure"]["jsonSchema"]
        assert (form["type"], described["name"], described["description"]) == (
            "json_schema",
            "n",
            "d",
        )
        assert json.loads(described["schema"])["properties"] == {"n": {"type": "integer"}}
        assert warnings == []
    for model_id, unsaid in ((NOVA, wanted), (MISTRAL, JsonFormat()), (CLAUDE, JsonFormat())):
        body, warnings = encode(model_id=model_id, response_format=unsaid)
        assert ("outputConfig" in body, warnings) == (False, ["response_format"])


@pytest.mark.parametrize(
    ("model_id", "fields", "form"),
    [
        (CLAUDE, {"thinking": {"type": "enabled", "budget_tokens": 9_600}}, None),
        (OPUS, {"thinking": {"type": "adaptive"}}, {"effort": "medium"}),
        ("openai.gpt-oss-120b-1:0", {"reasoning_effort": "medium"}, None),
        (NOVA, {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}}, None),
    ],
)
def test_each_family_is_told_to_reason_in_its_own_words(
    model_id: str, fields: object, form: object
) -> None:
    body, warnings = encode(model_id=model_id, settings=CallSettings(reasoning="medium"))

    assert body["additionalModelRequestFields"] == fields
    assert body.get("outputConfig") == form
    assert warnings == []


def test_settings_without_a_word_are_warned_of() -> None:
    settings = CallSettings(
        reasoning="low", top_k=3, seed=1, presence_penalty=0.1, frequency_penalty=0.1
    )
    body, warnings = encode(model_id=MISTRAL, settings=settings)
    assert ("additionalModelRequestFields" in body, warnings) == (
        False,
        ["reasoning", "presence_penalty", "frequency_penalty", "seed", "top_k"],
    )

    body, warnings = encode(
        model_id=CLAUDE, settings=CallSettings(temperature=1.5, top_p=0.5, top_k=3)
    )
    assert body["inferenceConfig"] == {"maxTokens": 32_000, "temperature": 1}
    assert body["additionalModelRequestFields"] == {"top_k": 3}
    assert warnings == ["temperature", "top_p"]


@pytest.mark.parametrize(
    ("model_id", "family", "has_schema"),
    [
        (CLAUDE, "anthropic", True),
        ("global.anthropic.claude-3-haiku-20240307-v1:0", "anthropic", False),
        (f"arn:aws:bedrock:eu-west-1::foundation-model/{MISTRAL}", "mistral", True),
        ("us.deepseek.r1-v1:0", "deepseek", False),
        ("deepseek.v3-v1:0", "deepseek", True),
        (NOVA, "amazon", False),
        ("arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc", "", False),
    ],
)
def test_models_are_known_by_their_names(model_id: str, family: str, has_schema: bool) -> None:
    dialect = converse_dialect(model_id)

    assert (dialect.family, dialect.has_json_schema) == (family, has_schema)
