"""Cohere's chat: what goes out, what comes back, and how a model of it is named."""

import json

import pytest

from stepfold.loop import fold_parts, parts_of
from stepfold.providers import Endpoint, HttpModel, cohere, resolve_model
from stepfold.providers.cohere_chat import (
    cohere_decoder,
    cohere_dialect,
    decode_reply,
    encode_request,
)
from stepfold.testing.conformance import ProviderSample, check_provider, sse_events
from stepfold.values import (
    AssistantMessage,
    CallSettings,
    ContentOutput,
    Custom,
    DeniedOutput,
    DocumentSource,
    ErrorTextOutput,
    Failure,
    File,
    FileBytes,
    FileReference,
    FileText,
    FileUrl,
    Finish,
    FinishReason,
    InputTokenDetails,
    JsonFormat,
    JsonOutput,
    JsonText,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    NamedTool,
    ProviderTool,
    Reasoning,
    StreamError,
    StreamPart,
    Success,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolDefinition,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolMessage,
    ToolResult,
    UnifiedFinishReason,
    UsageError,
    UserMessage,
)
from tests.providers._served import KEY

Event = dict[str, object]

LOOK = ToolDefinition("look", "Look it up.", JsonText('{"type":"object"}'))
HI = UserMessage("Hi")
PLAN = JsonText('{"cohere":{"tool_plan":true}}')


def encode(
    *messages: object, model_id: str = "command-a-03-2025", **more: object
) -> tuple[dict[str, object], list[str]]:
    request = ModelRequest(messages=messages or (HI,), **more)  # type: ignore[arg-type]
    endpoint = Endpoint(
        model_id=model_id, base_url="https://h/v2", dialect=cohere_dialect(model_id)
    )
    call = encode_request(request, endpoint)
    assert call.request.url == "https://h/v2/chat"
    return json.loads(call.request.body), [warning.subject for warning in call.warnings]


# --- out --------------------------------------------------------------------------------------


def test_the_whole_of_a_request() -> None:
    settings = CallSettings(
        max_output_tokens=9,
        temperature=0.5,
        top_p=0.9,
        top_k=3,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        stop_sequences=("END",),
        seed=7,
    )
    body, warnings = encode(
        SystemMessage("Be brief."),
        HI,
        instructions="You are kind.",
        settings=settings,
        tools=(LOOK,),
        provider_options=JsonText('{"cohere":{"safety_mode":"OFF"}}'),
    )

    assert warnings == []
    assert body == {
        "messages": [
            {"role": "system", "content": "You are kind."},
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "look",
                    "description": "Look it up.",
                    "parameters": {"type": "object"},
                },
            }
        ],
        "model": "command-a-03-2025",
        "stream": False,
        "max_tokens": 9,
        "temperature": 0.5,
        "p": 0.9,
        "k": 3,
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "stop_sequences": ["END"],
        "seed": 7,
        "safety_mode": "OFF",
    }
    with pytest.raises(UsageError, match="stream"):
        encode(provider_options=JsonText('{"cohere":{"stream":true}}'))


def test_a_turn_with_tools_goes_back() -> None:
    said = AssistantMessage(
        [
            Reasoning("I look.", provider_options=PLAN),
            Reasoning("Hm."),
            Text("So"),
            ToolCall("a", "look", '{"n":1}'),
            ToolCall("b", "look", "none"),
            ToolCall("d", "look", "{}"),
            ToolCall("e", "look", "{}"),
            ToolCall("c", "web", "{}", provider_executed=True),
            Custom("other.thing"),
        ]
    )
    pieces = (Text("see"), File(FileText("x"), "text/plain"), File(FileBytes(b""), "image/png"))
    answers = ToolMessage(
        [
            ToolResult("a", "look", JsonOutput(JsonText("[1]"))),
            ToolResult("b", "look", ErrorTextOutput("No.")),
            ToolResult("d", "look", DeniedOutput()),
            ToolResult("e", "look", ContentOutput(pieces)),
            ToolResult("f", "look", TextOutput("x"), provider_executed=True),
        ]
    )

    body, warnings = encode(HI, said, answers)

    messages = body["messages"]
    assert isinstance(messages, list)
    _, assistant, *results = messages
    assert assistant == {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "So"}],
        "tool_plan": "I look.",
        "tool_calls": [
            {
                "id": "a",
                "type": "function",
                "function": {"name": "look", "arguments": '{"n":1}'},
            },
            *(
                {"id": name, "type": "function", "function": {"name": "look", "arguments": "{}"}}
                for name in "bde"
            ),
        ],
    }
    assert [(result["tool_call_id"], result["content"]) for result in results] == [
        ("a", "[1]"),
        ("b", "No."),
        ("d", "Tool call execution denied."),
        (
            "e",
            [
                {"type": "text", "text": "see"},
                {"type": "document", "document": {"data": {"text": "x"}}},
            ],
        ),
    ]
    assert sorted(warnings) == [
        "Custom in an assistant message",
        "File in a result",
        "result of look in a tool message",
        "web, which a provider executed",
    ]


def test_texts_in_files_are_documents_and_images_are_blocks() -> None:
    files: list[Text | File] = [
        Text("See:"),
        File(FileText("one"), "text/plain", filename="a.txt"),
        File(FileBytes(b'{"n":1}'), "application/json"),
        File(FileUrl("https://h/i.png"), "image/png"),
        File(FileBytes(b"hi"), "image/png"),
        File(FileBytes(b"x"), "application/pdf"),
        File(FileReference(JsonText("{}")), "image/png"),
    ]
    given = JsonText('{"cohere":{"documents":["mine"]}}')

    body, warnings = encode(UserMessage(files), provider_options=given)

    assert body["documents"] == [
        "mine",
        {"data": {"title": "a.txt", "text": "one"}},
        {"data": {"text": '{"n":1}'}},
    ]
    messages = body["messages"]
    assert isinstance(messages, list)
    assert messages[0]["content"] == [
        {"type": "text", "text": "See:"},
        {"type": "image_url", "image_url": {"url": "https://h/i.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
    ]
    assert warnings == ["file part of type application/pdf", "file part of type image/png"]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [("auto", None), ("required", "REQUIRED"), ("none", "NONE"), (NamedTool("look"), "REQUIRED")],
)
def test_the_choice_of_tools(choice: object, sent: str | None) -> None:
    other = ToolDefinition("other", "", JsonText("{}"))
    body, warnings = encode(tools=(LOOK, other), tool_choice=choice)

    assert (body.get("tool_choice"), warnings) == (sent, [])
    tools = body["tools"]
    assert isinstance(tools, list)
    assert len(tools) == (1 if isinstance(choice, NamedTool) else 2)


def test_strict_tools_examples_and_tools_of_providers() -> None:
    strict = ToolDefinition(
        "look", "", JsonText("{}"), strict=True, input_examples=(JsonText("{}"),)
    )
    own = ProviderTool("cohere.search", "search", JsonText("{}"))

    body, warnings = encode(tools=(strict,), provider_tools=(own,))

    assert body["strict_tools"] is True
    assert warnings == ["provider tool cohere.search", "input_examples"]


def test_the_form_of_a_reply() -> None:
    wanted = JsonFormat(JsonText('{"type":"object"}'))

    assert encode(response_format=wanted)[0]["response_format"] == {
        "type": "json_object",
        "json_schema": {"type": "object"},
    }
    assert encode(response_format=JsonFormat())[0]["response_format"] == {"type": "json_object"}
    body, warnings = encode(response_format=wanted, tools=(LOOK,))
    assert ("response_format" in body, warnings) == (False, ["response_format"])


def test_thinking_is_on_or_off() -> None:
    thinks = "command-a-reasoning-08-2025"
    for model_id, effort, sent, warned in (
        (thinks, "high", {"type": "enabled"}, ["reasoning"]),
        (thinks, "none", {"type": "disabled"}, []),
        ("command-r", "high", None, ["reasoning"]),
        ("command-r", "none", None, []),
    ):
        body, warnings = encode(model_id=model_id, settings=CallSettings(reasoning=effort))  # type: ignore[arg-type]
        assert (body.get("thinking"), warnings) == (sent, warned)


# --- in ---------------------------------------------------------------------------------------


def event(kind: str, message: Event, index: int = 0) -> Event:
    return {"type": kind, "index": index, "delta": {"message": message}}


def called(*pieces: str) -> list[Event]:
    start = {"id": "a", "type": "function", "function": {"name": "look", "arguments": ""}}
    return [
        event("tool-call-start", {"tool_calls": start}),
        *(
            event("tool-call-delta", {"tool_calls": {"function": {"arguments": piece}}})
            for piece in pieces
        ),
        {"type": "tool-call-end", "index": 0},
    ]


START: Event = {"type": "message-start", "id": "m"}
TEXT = [
    event("content-start", {"content": {"type": "text", "text": ""}}),
    event("content-delta", {"content": {"text": "Hi"}}),
    {"type": "content-end", "index": 0},
]
USAGE = {"tokens": {"input_tokens": 12.0, "output_tokens": 3}, "cached_tokens": 2}
END: Event = {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": USAGE}}


def parts(*events: Event) -> list[StreamPart]:
    decoder = cohere_decoder("cohere", headers=(("x-a", "1"),))
    stream = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)
    return [*decoder.feed(stream), *decoder.end()]


def streamed(*events: Event) -> ModelReply:
    found = parts(*events)
    assert isinstance(found[-1], Finish), found[-1]
    return fold_parts(found)


def decoded(value: object) -> ModelReply:
    outcome = decode_reply(json.dumps(value).encode(), "cohere", headers=(("x-a", "1"),))
    assert isinstance(outcome, Success), outcome
    reply = outcome.unwrap()
    assert fold_parts(parts_of(reply)) == reply
    return reply


def fault_of(*events: Event) -> ModelErrorReason:
    last = parts(*events)[-1]
    assert isinstance(last, StreamError), last
    return last.reason


def test_a_turn_in_events_is_the_turn_in_one_piece() -> None:
    citation = {
        "start": 0,
        "end": 2,
        "text": "Hi",
        "sources": [
            {"type": "document", "id": "doc:0", "document": {"title": "T", "text": "x"}},
            {"type": "tool", "id": "t:1", "tool_output": {}},
        ],
    }
    function = {"name": "look", "arguments": '{"n":1}'}
    whole = decoded(
        {
            "id": "m",
            "message": {
                "role": "assistant",
                "tool_plan": "I look.",
                "content": [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Hi"}],
                "citations": [citation],
                "tool_calls": [{"id": "a", "type": "function", "function": function}],
            },
            "finish_reason": "TOOL_CALL",
            "usage": USAGE,
        }
    )
    reply = streamed(
        START,
        START,
        event("tool-plan-delta", {"tool_plan": "I "}),
        event("tool-plan-delta", {"tool_plan": "look."}),
        event("content-start", {"content": {"type": "thinking", "thinking": ""}}),
        event("content-delta", {"content": {"thinking": "Hm"}}),
        {"type": "content-end", "index": 0},
        event("content-start", {"content": {"type": "text", "text": ""}}, 1),
        event("content-delta", {"content": {"text": "Hi"}}, 1),
        {"type": "content-end", "index": 1},
        event("citation-start", {"citations": citation}),
        {"type": "citation-end", "index": 0},
        *called('{"n"', ":1}"),
        {"type": "debug", "prompt": "x"},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": USAGE}},
    )

    assert reply == whole
    plan, thought, text, *_, call = whole.content
    assert plan == Reasoning("I look.", provider_options=PLAN)
    assert (thought, text) == (Reasoning("Hm"), Text("Hi"))
    assert call == ToolCall("a", "look", '{"n":1}')
    sources = [part for part in whole.content if isinstance(part, DocumentSource)]
    assert [source.title for source in sources] == ["T", "t:1"]
    assert whole.usage.input_token_details == InputTokenDetails(10, 2, None)
    assert (whole.usage.input_tokens, whole.usage.output_tokens) == (12, 3)
    assert (whole.response.id, whole.response.headers) == ("m", (("x-a", "1"),))
    assert whole.finish_reason == FinishReason("tool-calls", "TOOL_CALL")


def test_a_call_is_complete_when_it_ends() -> None:
    found = parts(START, *called('{"n"', ":1}"), END)

    at = found.index(ToolInputStart("a", "look"))
    assert found[at + 1 : at + 5] == [
        ToolInputDelta("a", '{"n"'),
        ToolInputDelta("a", ":1}"),
        ToolInputEnd("a"),
        ToolCall("a", "look", '{"n":1}'),
    ]


@pytest.mark.parametrize("pieces", [(), ("null",), ("",)])
def test_no_arguments_are_an_empty_object(pieces: tuple[str, ...]) -> None:
    (call,) = streamed(START, *called(*pieces), END).content

    assert call == ToolCall("a", "look", "{}")


def test_ends_may_be_missing() -> None:
    reply = streamed(START, *TEXT[:-1], *called("{}")[:-1], END)

    assert reply.content == (Text("Hi"), ToolCall("a", "look", "{}"))


@pytest.mark.parametrize(
    ("raw", "unified"),
    [
        ("COMPLETE", "stop"),
        ("STOP_SEQUENCE", "stop"),
        ("MAX_TOKENS", "length"),
        ("TOOL_CALL", "tool-calls"),
        ("TIMEOUT", "error"),
        ("NEWS", "other"),
    ],
)
def test_finish_reasons(raw: str, unified: UnifiedFinishReason) -> None:
    reply = decoded({"message": {"content": []}, "finish_reason": raw})

    assert reply.finish_reason == FinishReason(unified, raw)
    assert reply.usage.input_tokens is None


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ((START, *TEXT), "without message-end"),
        ((START, {**START, "id": "n"}), "another reply, 'n'"),
        ((TEXT[1],), "not open"),
        ((*TEXT, TEXT[0]), "started twice"),
        ((*TEXT, TEXT[2]), "not open"),
        ((event("tool-call-start", {"tool_calls": {"id": "a"}}),), "without a name"),
        ((called("{}")[0], called("{}")[0]), "started twice"),
        ((called("{}")[1],), "not open"),
        (({"type": "tool-call-end", "index": 0},), "not open"),
        (
            (
                event("tool-plan-delta", {"tool_plan": "a"}),
                *TEXT,
                event("tool-plan-delta", {"tool_plan": "b"}),
            ),
            "after its end",
        ),
        (({"type": "message-end", "delta": {}},), "without a reason"),
    ],
)
def test_what_makes_no_sense_is_a_violation(events: tuple[Event, ...], message: str) -> None:
    fault = fault_of(*events)

    assert fault.kind == "protocol"
    assert message in fault.message


def test_errors_are_reasons() -> None:
    failed: Event = {"type": "message-end", "delta": {"error": "Oops", "finish_reason": "ERROR"}}

    assert fault_of(START, *TEXT, failed).message == "Oops"
    for body, message in (
        ({"id": "x", "message": "invalid api token"}, "invalid api token"),
        ({"error": {"message": "No"}}, "No"),
        ({}, "the server's reply holds no message"),
        ({"message": {"tool_calls": [{}]}}, "a tool call without a name came"),
    ):
        outcome = decode_reply(json.dumps(body).encode(), "cohere")
        assert isinstance(outcome, Failure)
        assert outcome.failure().message == message
    outcome = decode_reply(b"x", "cohere")
    assert isinstance(outcome, Failure)


# --- a model ----------------------------------------------------------------------------------


def test_a_model_is_named_by_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COHERE_API_KEY", raising=False)
    monkeypatch.delenv("COHERE_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="COHERE_API_KEY"):
        cohere("command-a-03-2025")
    monkeypatch.setenv("COHERE_API_KEY", KEY)

    model = resolve_model("cohere/command-a-03-2025")

    assert isinstance(model, HttpModel)
    assert model.endpoint.base_url == "https://api.cohere.com/v2"
    assert model.endpoint.headers == (("authorization", f"Bearer {KEY}"),)


def test_it_keeps_the_laws_of_models() -> None:
    turn = [START, event("tool-plan-delta", {"tool_plan": "I look."}), *called("{", "}"), END]
    failed: Event = {"type": "message-end", "delta": {"error": "Oops"}}
    whole = {
        "id": "m",
        "message": {"content": [{"type": "text", "text": "Hi"}]},
        "finish_reason": "COMPLETE",
        "usage": USAGE,
    }

    def framed(*events: Event) -> tuple[bytes, ...]:
        return sse_events(
            b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)
        )

    check_provider(
        lambda options: cohere("command-a-03-2025", **options),
        [
            ProviderSample(
                name="text", events=framed(START, *TEXT, END), body=json.dumps(whole).encode()
            ),
            ProviderSample(name="call", events=framed(*turn)),
            ProviderSample(name="failed", events=framed(START, *TEXT, failed), is_error=True),
        ],
    )
