import json
from collections.abc import Sequence

import pytest

from stepfold.providers import Endpoint
from stepfold.providers.google_generate import GoogleDialect, encode_request, google_dialect
from stepfold.providers.google_generate._options import Thinking
from stepfold.values import (
    ApprovalRequest,
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
    FileData,
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

Json = dict[str, object]
SCHEMA = JsonText('{"type":"object","properties":{"city":{"type":"string"}}}')
WEATHER = ToolDefinition("weather", "Look up the weather.", SCHEMA)
NOW = ToolDefinition("now", "Say what time it is.", JsonText('{"type":"object","properties":{}}'))


def endpoint(
    model_id: str = "gemini-3-pro", thinking: Thinking = "level"
) -> Endpoint[GoogleDialect]:
    return Endpoint(
        model_id=model_id,
        base_url="http://x/v1beta/",
        headers=(("x-goog-api-key", "k"),),
        dialect=GoogleDialect(thinking=thinking),
    )


def sent(request: ModelRequest, given: Endpoint[GoogleDialect] | None = None) -> Json:
    value: object = json.loads(encode_request(request, given or endpoint()).request.body)
    assert isinstance(value, dict)
    return value


def contents(*messages: Message) -> object:
    return sent(ModelRequest(messages=messages))["contents"]


def warnings(request: ModelRequest, given: Endpoint[GoogleDialect] | None = None) -> list[str]:
    return [warning.subject for warning in encode_request(request, given or endpoint()).warnings]


def said(*parts: AssistantPart) -> object:
    messages = (UserMessage("Hi"), AssistantMessage(parts), UserMessage("Go on"))
    turns = contents(*messages)
    assert isinstance(turns, list)
    turn: object = turns[1]["parts"]
    assert turns[1]["role"] == "model"
    return turn


def options(**members: object) -> JsonText:
    return JsonText.of({"google": members})


def test_a_request_for_text() -> None:
    request = ModelRequest(messages=(UserMessage("Hi"),), instructions="Be brief.")

    call = encode_request(request, endpoint())
    streaming = encode_request(request, endpoint(), stream=True)

    assert call.request.url == "http://x/v1beta/models/gemini-3-pro:generateContent"
    assert streaming.request.url.endswith(":streamGenerateContent?alt=sse")
    assert json.loads(call.request.body) == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
    }
    assert dict(call.request.headers)["x-goog-api-key"] == "k"
    assert call.warnings == ()


def test_an_id_that_is_a_path() -> None:
    call = encode_request(ModelRequest(messages=(UserMessage("Hi"),)), endpoint("tunedModels/m 1"))

    assert call.request.url == "http://x/v1beta/tunedModels/m%201:generateContent"


def test_system_messages_join_the_instructions() -> None:
    request = ModelRequest(
        messages=(SystemMessage("And kind."), SystemMessage(" "), UserMessage("Hi")),
        instructions="Be brief.",
    )

    assert sent(request)["systemInstruction"] == {
        "parts": [{"text": "Be brief."}, {"text": "And kind."}]
    }


def test_settings() -> None:
    settings = CallSettings(
        max_output_tokens=100,
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        stop_sequences=("END",),
        seed=7,
    )

    assert sent(ModelRequest(messages=(UserMessage("Hi"),), settings=settings))[
        "generationConfig"
    ] == {
        "maxOutputTokens": 100,
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 40,
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
        "stopSequences": ["END"],
        "seed": 7,
    }


@pytest.mark.parametrize(
    ("thinking", "effort", "config", "warned"),
    [
        ("level", "low", {"thinkingLevel": "low", "includeThoughts": True}, []),
        ("level", "none", {"thinkingLevel": "minimal"}, ["reasoning"]),
        ("budget", "high", {"thinkingBudget": 24_576, "includeThoughts": True}, []),
        ("budget", "none", {"thinkingBudget": 0}, []),
        ("none", "low", None, ["reasoning"]),
        ("none", "none", None, []),
    ],
)
def test_reasoning(
    thinking: Thinking, effort: ReasoningEffort, config: object, warned: list[str]
) -> None:
    request = ModelRequest(
        messages=(UserMessage("Hi"),), settings=CallSettings(reasoning=effort, seed=1)
    )
    given = endpoint(thinking=thinking)
    asked = sent(request, given)["generationConfig"]

    assert isinstance(asked, dict)
    assert asked.get("thinkingConfig") == config
    assert warnings(request, given) == warned


@pytest.mark.parametrize(
    ("model_id", "thinking"),
    [
        ("gemini-3-pro-preview", "level"),
        ("gemini-2.5-flash", "budget"),
        ("gemini-2.0-flash", "none"),
        ("gemma-3-27b-it", "none"),
        ("gemini-flash-latest", "level"),
    ],
)
def test_what_a_model_understands_by_its_name(model_id: str, thinking: Thinking) -> None:
    mixes = thinking == "level"

    assert google_dialect(model_id) == GoogleDialect(thinking=thinking, mixes_tools=mixes)


def test_the_form_of_the_reply() -> None:
    bound = ModelRequest(messages=(UserMessage("Hi"),), response_format=JsonFormat(SCHEMA))
    free = ModelRequest(messages=(UserMessage("Hi"),), response_format=JsonFormat())

    assert sent(bound)["generationConfig"] == {
        "responseMimeType": "application/json",
        "responseJsonSchema": json.loads(SCHEMA.text),
    }
    assert sent(free)["generationConfig"] == {"responseMimeType": "application/json"}


def test_tools_of_ours_and_of_the_providers() -> None:
    request = ModelRequest(
        messages=(UserMessage("Hi"),),
        tools=(WEATHER, NOW),
        provider_tools=(
            ProviderTool("google.googleSearch", "google_search"),
            ProviderTool("anthropic.web_search_20250305", "web_search"),
        ),
        provider_options=options(tools=[{"codeExecution": {}}], labels={"a": "b"}),
    )

    body = sent(request)

    assert body["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "weather",
                    "description": "Look up the weather.",
                    "parametersJsonSchema": json.loads(SCHEMA.text),
                },
                {"name": "now", "description": "Say what time it is."},
            ]
        },
        {"googleSearch": {}},
        {"codeExecution": {}},
    ]
    assert body["labels"] == {"a": "b"}
    assert warnings(request) == ["provider tool anthropic.web_search_20250305"]


@pytest.mark.parametrize(
    ("choice", "calling"),
    [
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        (NamedTool("weather"), {"mode": "ANY", "allowedFunctionNames": ["weather"]}),
    ],
)
def test_the_tool_choice(choice: ToolChoice, calling: object) -> None:
    messages = (UserMessage("Hi"),)
    request = ModelRequest(messages=messages, tools=(WEATHER,), tool_choice=choice)

    assert sent(request)["toolConfig"] == {"functionCallingConfig": calling}
    assert "toolConfig" not in sent(ModelRequest(messages=messages, tools=(WEATHER,)))
    assert "toolConfig" not in sent(ModelRequest(messages=messages, tool_choice=choice))


def test_options_of_the_request_are_added_to_ours() -> None:
    request = ModelRequest(
        messages=(UserMessage("Hi"),),
        settings=CallSettings(seed=1),
        provider_options=options(
            generationConfig={"responseModalities": ["TEXT"]}, cachedContent="c"
        ),
    )

    body = sent(request)

    assert body["generationConfig"] == {"seed": 1, "responseModalities": ["TEXT"]}
    assert body["cachedContent"] == "c"
    with pytest.raises(UsageError, match="contents"):
        sent(ModelRequest(messages=(), provider_options=options(contents=[])))


def test_what_the_model_said_goes_back_as_it_came() -> None:
    signed = options(thought_signature="s")
    call = ToolCall("c", "weather", '{"city":"Oslo"}', provider_options=signed)
    raw = {"hologram": {"depth": 3}}

    messages = (
        UserMessage("Hi"),
        AssistantMessage(
            (
                Reasoning("Hm.", provider_options=signed),
                Text("Let me see."),
                Text("", provider_options=signed),
                Text(""),
                Custom("google.hologram", provider_options=options(part=raw)),
                ReasoningFile(FileBytes(b"hi"), "image/png", provider_options=signed),
                call,
                ApprovalRequest("a", "c"),
            )
        ),
        ToolMessage((ToolResult("c", "weather", TextOutput("Snow.")),)),
    )

    assert contents(*messages) == [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {
            "role": "model",
            "parts": [
                {"text": "Hm.", "thought": True, "thoughtSignature": "s"},
                {"text": "Let me see."},
                {"text": "", "thoughtSignature": "s"},
                raw,
                {
                    "inlineData": {"mimeType": "image/png", "data": "aGk="},
                    "thought": True,
                    "thoughtSignature": "s",
                },
                {
                    "functionCall": {"id": "c", "name": "weather", "args": {"city": "Oslo"}},
                    "thoughtSignature": "s",
                },
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "c",
                        "name": "weather",
                        "response": {"output": "Snow."},
                    }
                }
            ],
        },
    ]


def test_what_google_ran_goes_back_too_and_what_others_ran_does_not() -> None:
    code = {"language": "PYTHON", "code": "1"}
    done = {"outcome": "OUTCOME_OK", "output": "1"}

    def call(given: JsonText | None) -> ToolCall:
        return ToolCall(
            "c", "code", JsonText.of(code).text, provider_executed=True, provider_options=given
        )

    def result(given: JsonText | None, output: ToolOutput) -> ToolResult:
        return ToolResult("c", "code", output, provider_executed=True, provider_options=given)

    mine = said(
        call(options(part="executableCode")),
        result(options(part="codeExecutionResult"), JsonOutput(JsonText.of(done))),
    )
    request = ModelRequest(
        messages=(
            UserMessage("Hi"),
            AssistantMessage((call(None), result(None, JsonOutput(JsonText("1"))))),
            UserMessage("Go on"),
        )
    )

    assert mine == [{"executableCode": code}, {"codeExecutionResult": done}]
    assert warnings(request) == [
        "call of code that a provider executed",
        "result of code in an assistant message",
    ]
    others = sent(request)["contents"]
    assert isinstance(others, list)
    assert [turn["role"] for turn in others] == ["user", "user"]


def test_a_part_of_another_provider_is_left_out() -> None:
    request = ModelRequest(
        messages=(
            UserMessage("Hi"),
            AssistantMessage((Text("Yes"), Custom("openai.compaction"))),
            UserMessage("Go on"),
        )
    )

    assert warnings(request) == ["custom part openai.compaction"]


@pytest.mark.parametrize(
    ("output", "response"),
    [
        (TextOutput("Snow"), {"output": "Snow"}),
        (JsonOutput(JsonText('{"c":-3}')), {"output": {"c": -3}}),
        (ErrorTextOutput("no"), {"error": "no"}),
        (ErrorJsonOutput(JsonText('{"why":1}')), {"error": {"why": 1}}),
        (DeniedOutput("not now"), {"error": "not now"}),
        (DeniedOutput(), {"error": "Tool call execution denied."}),
    ],
)
def test_what_came_of_a_call(output: ToolOutput, response: object) -> None:
    turns = contents(
        UserMessage("Hi"),
        AssistantMessage((ToolCall("c", "weather", "no json"),)),
        ToolMessage((ToolResult("c", "weather", output),)),
    )

    assert isinstance(turns, list)
    assert turns[1]["parts"] == [{"functionCall": {"id": "c", "name": "weather", "args": {}}}]
    assert turns[2]["parts"] == [
        {"functionResponse": {"id": "c", "name": "weather", "response": response}}
    ]


def test_files_of_a_result_stand_beside_its_text() -> None:
    output = ContentOutput(
        (Text("A map: "), File(FileBytes(b"hi"), "image/png"), Custom("x.y"), Text("see."))
    )
    request = ModelRequest(
        messages=(
            UserMessage("Hi"),
            AssistantMessage((ToolCall("c", "map", "{}"),)),
            ToolMessage(
                (
                    ToolResult("c", "map", output),
                    ToolResult("d", "code", TextOutput("1"), provider_executed=True),
                )
            ),
        )
    )
    turns = sent(request)["contents"]

    assert isinstance(turns, list)
    assert turns[2]["parts"] == [
        {
            "functionResponse": {
                "id": "c",
                "name": "map",
                "response": {"output": "A map: see."},
                "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}],
            }
        }
    ]
    assert "custom part x.y" in warnings(request)


@pytest.mark.parametrize(
    ("data", "media_type", "part"),
    [
        (FileBytes(b"hi"), "image/png", ("inlineData", "image/png", "data", "aGk=")),
        (FileBytes(b"hi"), "image", ("inlineData", "image/png", "data", "aGk=")),
        (FileBytes(b"hi"), "text/*", ("inlineData", "text/plain", "data", "aGk=")),
        (FileText("hi"), "text/plain", ("inlineData", "text/plain", "data", "aGk=")),
        (
            FileUrl("https://x/y.mp4"),
            "video",
            ("fileData", "video/mp4", "fileUri", "https://x/y.mp4"),
        ),
        (FileUrl("data:text/x;base64,aGk="), "text", ("inlineData", "text/x", "data", "aGk=")),
        (FileUrl("data:,h%69"), "text/plain", ("inlineData", "text/plain", "data", "aGk=")),
        (
            FileReference(JsonText('{"google":"files/1"}')),
            "application/pdf",
            ("fileData", "application/pdf", "fileUri", "files/1"),
        ),
    ],
)
def test_files(data: FileData, media_type: str, part: tuple[str, str, str, str]) -> None:
    turns = contents(UserMessage((Text(""), File(data, media_type))))

    member, kind, name, value = part
    assert turns == [{"role": "user", "parts": [{member: {"mimeType": kind, name: value}}]}]


@pytest.mark.parametrize(
    "data", [FileReference(JsonText('{"openai":"f"}')), FileUrl("data:image/png")]
)
def test_a_file_that_cannot_be_said_is_left_out(data: FileData) -> None:
    def asked(*messages: Message) -> Sequence[str]:
        return warnings(ModelRequest(messages=messages))

    file = File(data, "image/png")

    assert asked(UserMessage((Text("Hi"), file))) == ["file part of type image/png"]
    assert asked(
        UserMessage("Hi"), AssistantMessage((Text("Yes"), file)), UserMessage("Go on")
    ) == ["file part of type image/png"]


def test_what_options_say_of_a_file_is_added() -> None:
    file = File(
        FileUrl("https://x/y"), "video/mp4", provider_options=options(videoMetadata={"fps": 1})
    )

    assert contents(UserMessage((file,))) == [
        {
            "role": "user",
            "parts": [
                {
                    "fileData": {"mimeType": "video/mp4", "fileUri": "https://x/y"},
                    "videoMetadata": {"fps": 1},
                }
            ],
        }
    ]
