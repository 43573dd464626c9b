import json
from pathlib import Path

import pytest

from stepfold.providers.anthropic_messages import decode_reply
from stepfold.values import (
    Custom,
    DocumentSource,
    ErrorJsonOutput,
    Failure,
    FinishReason,
    InputTokenDetails,
    JsonOutput,
    JsonText,
    ModelErrorKind,
    ModelErrorReason,
    ModelReply,
    ModelWarning,
    OutputTokenDetails,
    Reasoning,
    ResponseInfo,
    Text,
    ToolCall,
    ToolResult,
    UnifiedFinishReason,
    UrlSource,
    Usage,
)

SAMPLES = Path(__file__).parents[2] / "data" / "anthropic_messages"


def options(**members: object) -> JsonText:
    return JsonText.of({"anthropic": members})


def reply(*blocks: object, **members: object) -> ModelReply:
    body = {"type": "message", "content": blocks, "stop_reason": "end_turn", **members}
    return decode_reply(json.dumps(body).encode(), "anthropic").unwrap()


def failure(body: bytes, secrets: tuple[str, ...] = ()) -> ModelErrorReason:
    outcome = decode_reply(body, "anthropic", secrets=secrets)
    assert isinstance(outcome, Failure)
    return outcome.failure()


def test_thinking_text_and_calls() -> None:
    body = (SAMPLES / "thinking_and_calls.json").read_bytes()
    warning = ModelWarning("unsupported", "seed")

    found = decode_reply(
        body, "anthropic", headers=(("request-id", "r"), ("date", "d")), warnings=(warning,)
    ).unwrap()

    assert found.content == (
        Reasoning("Two cities, two calls.", provider_options=options(signature="c2lnbmVk")),
        Reasoning("", provider_options=options(redacted_data="aGlkZGVu")),
        Text("Let me see — both."),
        ToolCall("toolu_1", "weather", '{"city":"Oslo"}'),
        ToolCall("toolu_2", "now", "{}"),
    )
    assert found.finish_reason == FinishReason("tool-calls", "tool_use")
    assert found.usage == Usage(442, 57, input_token_details=InputTokenDetails(12, 400, 30))
    assert found.warnings == (warning,)
    assert found.response == ResponseInfo(
        "msg_1", "claude-sonnet-4-5", None, (("request-id", "r"),)
    )


def test_tools_of_the_server_and_sources() -> None:
    found = decode_reply((SAMPLES / "web_search.json").read_bytes(), "anthropic").unwrap()

    call, result, page, text, cited, document, fetch, failed, compaction = found.content
    assert call == ToolCall(
        "srvtoolu_1",
        "web_search",
        '{"query":"snow"}',
        provider_executed=True,
        provider_options=options(type="server_tool_use"),
    )
    assert isinstance(result, ToolResult)
    assert (result.tool_call_id, result.tool_name) == ("srvtoolu_1", "web_search")
    assert result.provider_executed
    assert isinstance(result.output, JsonOutput)
    assert page == UrlSource(
        "source-0",
        "https://example.org/oslo",
        title="Oslo",
        provider_options=options(page_age="2 days"),
    )
    assert isinstance(text, Text)
    assert text.text == "It snowed."
    assert isinstance(cited, UrlSource)
    assert (cited.id, cited.url) == ("source-1", "https://example.org/oslo")
    assert isinstance(document, DocumentSource)
    assert (document.media_type, document.title) == ("application/pdf", "document 0")
    assert isinstance(fetch, ToolCall)
    assert isinstance(failed, ToolResult)
    assert isinstance(failed.output, ErrorJsonOutput)
    assert compaction == Custom(
        "anthropic.compaction", provider_options=options(type="compaction", content="A summary.")
    )
    assert found.finish_reason == FinishReason("other", "pause_turn")
    assert found.provider_metadata is not None
    assert '"container":{"id":"c"}' in found.provider_metadata.text


def test_tools_of_another_server() -> None:
    call, result = reply(
        {"type": "mcp_tool_use", "id": "a", "name": "echo", "server_name": "s", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "a", "is_error": True, "content": []},
    ).content

    assert call == ToolCall(
        "a",
        "echo",
        "{}",
        provider_executed=True,
        dynamic=True,
        provider_options=options(type="mcp_tool_use", server_name="s"),
    )
    assert result == ToolResult(
        "a",
        "echo",
        ErrorJsonOutput(JsonText("[]")),
        provider_executed=True,
        dynamic=True,
        provider_options=options(type="mcp_tool_result", is_error=True),
    )


def test_a_result_of_an_earlier_turn_is_named_by_its_type() -> None:
    (result,) = reply(
        {"type": "code_execution_tool_result", "tool_use_id": "a", "content": {"type": "x"}}
    ).content

    assert isinstance(result, ToolResult)
    assert result.tool_name == "code_execution"


@pytest.mark.parametrize(
    ("raw", "unified"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool-calls"),
        ("refusal", "content-filter"),
        ("pause_turn", "other"),
        ("news", "other"),
        (None, "other"),
    ],
)
def test_why_a_reply_ended(raw: str | None, unified: UnifiedFinishReason) -> None:
    assert reply(stop_reason=raw).finish_reason == FinishReason(unified, raw)


def test_why_the_model_refused_is_kept() -> None:
    details = {"type": "refusal", "category": "cyber"}

    found = reply(stop_reason="refusal", stop_details=details)

    assert found.provider_metadata == options(stop_details=details)


def test_the_cost_of_a_compaction_and_of_thoughts_is_counted() -> None:
    found = reply(
        usage={
            "input_tokens": 10,
            "output_tokens": 20,
            "output_tokens_details": {"thinking_tokens": 5},
            "iterations": [
                {"type": "compaction", "input_tokens": 100, "output_tokens": 7},
                {"type": "message", "input_tokens": 10, "output_tokens": 20},
                {"type": "advisor_message", "input_tokens": 900, "output_tokens": 900},
            ],
        }
    )

    assert found.usage == Usage(
        110,
        27,
        input_token_details=InputTokenDetails(110),
        output_token_details=OutputTokenDetails(22, 5),
    )


def test_unknown_usage_is_not_zero() -> None:
    assert reply().usage == Usage()
    assert reply().provider_metadata is None


def test_empty_blocks_are_dropped() -> None:
    assert reply({"type": "text", "text": ""}, {"type": "thinking", "thinking": ""}).content == ()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "protocol"),
        (b"no", "protocol"),
        (b"[]", "protocol"),
        (b"{}", "protocol"),
        (b'{"content":[{"type":"tool_use","id":"a"}]}', "protocol"),
        (b'{"content":[{}]}', "protocol"),
        (b'{"type":"error","error":{"type":"overloaded_error","message":"x"}}', "overloaded"),
    ],
)
def test_what_is_no_reply(body: bytes, kind: ModelErrorKind) -> None:
    assert failure(body).kind == kind


def test_a_prompt_that_is_too_long() -> None:
    error = {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}

    assert failure(json.dumps({"type": "error", "error": error}).encode()).kind == "context-length"
