"""What Mistral's dialect of chat completions says otherwise."""

import json
import re

import pytest

from stepfold.providers import chat_model
from stepfold.providers.openai_chat import decode_reply, encode_request
from stepfold.values import (
    AssistantMessage,
    CallSettings,
    File,
    FileBytes,
    FileData,
    FileReference,
    FileUrl,
    JsonText,
    ModelRequest,
    NamedTool,
    Reasoning,
    Success,
    Text,
    TextOutput,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
)

ENDPOINT = chat_model("mistral", "mistral-large-latest", api_key="k").endpoint
TOOL = ToolDefinition("look", "Look.", JsonText('{"type":"object","properties":{}}'))


def sent(request: ModelRequest, *, stream: bool = False) -> dict[str, object]:
    call = encode_request(request, ENDPOINT, stream=stream)
    assert call.warnings == ()
    body: dict[str, object] = json.loads(call.request.body)
    return body


def test_settings_and_the_tool_choice_have_other_names() -> None:
    request = ModelRequest(
        messages=(UserMessage("Hi"),),
        tools=(TOOL,),
        tool_choice="required",
        settings=CallSettings(seed=7, max_output_tokens=5),
    )

    body = sent(request, stream=True)

    assert (body["random_seed"], body["max_tokens"], body["tool_choice"]) == (7, 5, "any")
    assert "seed" not in body
    assert "stream_options" not in body
    named = ModelRequest(
        messages=(UserMessage("Hi"),), tools=(TOOL,), tool_choice=NamedTool("look")
    )
    assert sent(named)["tool_choice"] == {"type": "function", "function": {"name": "look"}}


@pytest.mark.parametrize("call_id", ["run/0/0", "call-0", "gSIMJiOkT", "é23456789", "x" * 40])
def test_ids_of_calls_are_nine_letters_and_digits(call_id: str) -> None:
    messages = (
        UserMessage("Hi"),
        AssistantMessage((ToolCall(call_id, "look", "{}"),)),
        ToolMessage((ToolResult(call_id, "look", TextOutput("seen")),)),
    )

    turns = sent(ModelRequest(messages=messages))["messages"]

    assert isinstance(turns, list)
    asked, answered = turns[1]["tool_calls"][0]["id"], turns[2]["tool_call_id"]
    assert asked == answered
    assert re.fullmatch(r"[A-Za-z0-9]{9}", asked)
    assert (asked == call_id) == (call_id == "gSIMJiOkT")


def test_thoughts_go_back_as_a_part() -> None:
    messages = (
        UserMessage("Hi"),
        AssistantMessage((Reasoning("Hm."), Text("Yes."))),
        UserMessage("Go on"),
    )

    turns = sent(ModelRequest(messages=messages))["messages"]

    assert isinstance(turns, list)
    assert turns[1]["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
        {"type": "text", "text": "Yes."},
    ]


@pytest.mark.parametrize(
    ("data", "url"),
    [
        (FileUrl("https://x/y.pdf"), "https://x/y.pdf"),
        (FileBytes(b"hi"), "data:application/pdf;base64,aGk="),
    ],
)
def test_documents(data: FileData, url: str) -> None:
    file = File(data, "application/pdf", filename="y.pdf")
    unnamed = File(data, "application/pdf")
    held = File(FileReference(JsonText('{"mistral":"f"}')), "application/pdf")
    request = ModelRequest(messages=(UserMessage((file, unnamed, held)),))

    turns = sent(request)["messages"]

    assert isinstance(turns, list)
    assert turns[0]["content"] == [
        {"type": "document_url", "document_url": url, "document_name": "y.pdf"},
        {"type": "document_url", "document_url": url},
        {"type": "file", "file": {"file_id": "f"}},
    ]


def test_a_reply_that_filled_the_models_context_was_cut() -> None:
    body = {"choices": [{"message": {"content": "A lo"}, "finish_reason": "model_length"}]}

    outcome = decode_reply(json.dumps(body).encode(), "mistral")

    assert isinstance(outcome, Success)
    assert outcome.unwrap().finish_reason.unified == "length"
