import json
from pathlib import Path

import pytest

from stepfold.loop import fold_parts, parts_of
from stepfold.providers.responses import decode_reply
from stepfold.values import (
    ApprovalRequest,
    Custom,
    DocumentSource,
    Failure,
    File,
    FileBytes,
    FinishReason,
    InputTokenDetails,
    JsonOutput,
    JsonText,
    ModelErrorReason,
    ModelReply,
    OutputTokenDetails,
    Reasoning,
    ReplyPart,
    Success,
    Text,
    ToolCall,
    ToolError,
    ToolResult,
    UrlSource,
    Usage,
)

SAMPLES = Path(__file__).parents[2] / "data" / "openai_responses"
SECOND = 1_000_000_000


def reply_of(body: object, **how: tuple[str, ...]) -> ModelReply:
    match decode_reply(json.dumps(body).encode(), "openai", secrets=how.get("secrets", ())):
        case Success(reply):
            return reply
        case Failure(reason):
            raise AssertionError(reason)


def reason_of(body: object, **how: tuple[str, ...]) -> ModelErrorReason:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    match decode_reply(text, "openai", secrets=how.get("secrets", ())):
        case Success(reply):
            raise AssertionError(reply)
        case Failure(reason):
            return reason


def response(*output: object, **more: object) -> dict[str, object]:
    return {"id": "r", "status": "completed", "output": list(output), **more}


def content_of(*output: object) -> tuple[ReplyPart, ...]:
    return reply_of(response(*output)).content


def options(**own: object) -> JsonText:
    return JsonText.of({"openai": own})


def message(*content: object) -> dict[str, object]:
    return {"type": "message", "id": "msg", "role": "assistant", "content": list(content)}


def text(words: str, *annotations: object) -> dict[str, object]:
    return {"type": "output_text", "text": words, "annotations": list(annotations)}


CALL = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"}


def test_what_is_said_of_a_response() -> None:
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 1},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 5},
    }
    body = response(model="m", created_at=17, usage=usage, service_tier="flex", tools=[])

    reply = reply_of(body)

    assert reply.usage == Usage(
        10,
        7,
        input_token_details=InputTokenDetails(5, 4, 1),
        output_token_details=OutputTokenDetails(2, 5),
    )
    assert (reply.response.id, reply.response.model_id) == ("r", "m")
    assert reply.response.timestamp == 17 * SECOND
    assert reply.provider_metadata == options(response_id="r", service_tier="flex")
    assert reply_of(response()).usage == Usage()


def test_a_text_and_what_it_rests_on() -> None:
    page = {"type": "url_citation", "url": "https://a", "title": "A", "start_index": 0}
    document = {"type": "file_citation", "file_id": "f", "filename": "a.txt", "index": 1}
    unnamed = {"type": "file_path", "file_id": "g"}
    odd = {"type": "odd"}

    content = content_of({**message(text("Hi", page, document, unnamed, odd)), "phase": "p"})

    assert content == (
        Text("Hi", provider_options=options(item_id="msg", phase="p")),
        UrlSource(
            "source-0",
            "https://a",
            title="A",
            provider_options=options(type="url_citation", start_index=0),
        ),
        DocumentSource(
            "source-1",
            "text/plain",
            "a.txt",
            filename="a.txt",
            provider_options=options(type="file_citation", file_id="f", index=1),
        ),
        DocumentSource(
            "source-2", "text/plain", "g", provider_options=options(type="file_path", file_id="g")
        ),
        Custom("openai.odd", provider_options=options(annotation=odd)),
    )


def test_probabilities_are_metadata() -> None:
    said = {**text("Hi"), "logprobs": [{"token": "Hi", "logprob": -1}]}

    reply = reply_of(response(message(said)))

    assert reply.provider_metadata == options(
        response_id="r", logprobs=[{"token": "Hi", "logprob": -1}]
    )


def test_a_refusal_is_marked_and_counts_as_filtered() -> None:
    reply = reply_of(response(message({"type": "refusal", "refusal": "No."}, text(""))))

    assert reply.content == (Text("No.", provider_options=options(item_id="msg", refusal=True)),)
    assert reply.finish_reason == FinishReason("content-filter", "completed")


def test_what_no_part_can_say_is_kept_whole() -> None:
    odd = {"type": "input_text", "text": "x"}
    said = {"type": "message", "id": "u", "role": "user", "content": []}
    new = {"type": "brand_new_call", "id": "n"}

    assert content_of(message(odd), said, new, 7) == (
        Custom("openai.input_text", provider_options=options(content=odd)),
        Custom("openai.message", provider_options=options(item=said)),
        Custom("openai.brand_new_call", provider_options=options(item=new)),
        Custom("openai.item", provider_options=options(item={})),
    )


def test_reasoning_is_one_part_for_each_text_and_sealed_once() -> None:
    item = {
        "type": "reasoning",
        "id": "rs",
        "encrypted_content": "e",
        "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
        "content": [{"type": "reasoning_text", "text": "c"}],
    }
    empty = {"type": "reasoning", "id": "rs", "summary": []}

    assert content_of(item, empty, {"type": "reasoning"}) == (
        Reasoning("a", provider_options=options(item_id="rs", encrypted_content="e")),
        Reasoning("b", provider_options=options(item_id="rs")),
        Reasoning("c", provider_options=options(item_id="rs", reasoning_text=True)),
        Reasoning("", provider_options=options(item_id="rs")),
    )


def test_calls_of_functions() -> None:
    again = {**CALL, "arguments": "{not json", "namespace": "n"}

    reply = reply_of(response(CALL, again))

    assert reply.content == (
        ToolCall(
            "c", "f", "{}", provider_options=options(item={"type": "function_call", "id": "fc"})
        ),
        ToolCall(
            "call-1",
            "f",
            "{not json",
            provider_options=options(item={"type": "function_call", "id": "fc", "namespace": "n"}),
        ),
    )
    assert reply.finish_reason == FinishReason("tool-calls", "completed")


def test_every_kind_of_tool() -> None:
    reply = reply_of(json.loads((SAMPLES / "tools.json").read_bytes()))

    called = [
        (part.tool_call_id, part.tool_name, part.input, part.provider_executed)
        for part in reply.content
        if isinstance(part, ToolCall)
    ]
    assert called == [
        ("mcp_1", "mcp.ask", '{"q":"Oslo"}', True),
        ("mcp_2", "mcp.ask", '{"q":"?"}', True),
        ("mcpr_1", "mcp.edit", '{"page":"Oslo"}', True),
        ("fs_1", "file_search", '{"queries":["Oslo"]}', True),
        ("ci_1", "code_interpreter", '{"code":"1+1","container_id":"cntr_1"}', True),
        ("ig_1", "image_generation", "{}", True),
        ("call_s", "shell", '{"action":{"commands":["ls"]}}', True),
        (
            "call_c",
            "computer",
            '{"action":{"type":"click","x":1,"y":2},"pending_safety_checks":[]}',
            False,
        ),
        ("call_t", "sql", '{"input":"SELECT 1"}', False),
        ("call_q", "tool_search", '{"goal":"weather"}', False),
    ]
    results = {p.tool_call_id: p.output for p in reply.content if isinstance(p, ToolResult)}
    assert set(results) == {"mcp_1", "fs_1", "ci_1", "ig_1", "call_s"}
    assert results["ci_1"] == JsonOutput(
        JsonText('{"status":"completed","outputs":[{"type":"logs","logs":"2"}]}')
    )
    (error,) = (part for part in reply.content if isinstance(part, ToolError))
    assert (error.tool_call_id, error.error) == ("mcp_2", "no such page")
    (asked,) = (part for part in reply.content if isinstance(part, ApprovalRequest))
    assert (asked.approval_id, asked.tool_call_id) == ("mcpr_1", "mcpr_1")
    (image,) = (part for part in reply.content if isinstance(part, File))
    assert image == File(
        FileBytes(b"\x89PNG\r\n\x1a\n"), "image/png", provider_options=options(item_id="ig_1")
    )
    assert [part.kind for part in reply.content if isinstance(part, Custom)] == [
        "openai.mcp_list_tools",
        "openai.compaction",
    ]
    assert fold_parts(parts_of(reply)) == reply


def test_an_error_of_a_tool_may_have_no_words() -> None:
    failed = {"type": "file_search_call", "id": "f", "status": "failed"}
    told = {"type": "mcp_call", "id": "m", "name": "n", "error": {"message": "Gone"}}

    errors = [part.error for part in content_of(failed, told) if isinstance(part, ToolError)]

    assert errors == ["file_search failed", "Gone"]


@pytest.mark.parametrize("result", ["no base64", None])
def test_an_image_that_is_none_stays_in_its_item(result: str | None) -> None:
    item = {"type": "image_generation_call", "id": "i", "status": "generating", "result": result}

    (call,) = content_of(item)

    assert isinstance(call, ToolCall)
    assert call.provider_options == options(item=item)


def test_a_tool_at_work_has_no_result() -> None:
    content = content_of({"type": "web_search_call", "id": "w", "status": "searching"})

    assert [type(part) for part in content] == [ToolCall]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, FinishReason("stop", "completed")),
        ({"status": None}, FinishReason("stop", None)),
        ({"status": "cancelled"}, FinishReason("other", "cancelled")),
        ({"status": "incomplete"}, FinishReason("other", "incomplete")),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            FinishReason("length", "max_output_tokens"),
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            FinishReason("content-filter", "content_filter"),
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "whim"}},
            FinishReason("other", "whim"),
        ),
    ],
)
def test_why_a_response_ended(more: dict[str, object], expected: FinishReason) -> None:
    assert reply_of(response(**more)).finish_reason == expected


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_response_in_the_background_is_an_end_with_a_warning(status: str) -> None:
    reply = reply_of(response(status=status))

    assert reply.finish_reason == FinishReason("other", status)
    assert [(warning.kind, warning.subject) for warning in reply.warnings] == [
        ("other", "background")
    ]


def test_a_response_that_failed_is_an_error_without_secrets() -> None:
    error = {"code": "server_error", "message": "sk-secret-key broke"}

    reason = reason_of(response(status="failed", error=error), secrets=("sk-secret-key",))

    assert (reason.kind, reason.code, reason.message) == (
        "server",
        "server_error",
        "[hidden] broke",
    )
    assert reason_of(response(status="failed", error=None)).kind == "server"
    assert reason_of({"error": {"code": "insufficient_quota", "message": "m"}}).kind == "quota"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "an empty body"),
        (b"<html>", "not a JSON object"),
        (b"[]", "not a JSON object"),
        ({"id": "r"}, "no output"),
        (response({"type": "function_call", "call_id": "c"}), "without a name"),
    ],
)
def test_what_is_no_response_is_a_violation(body: object, words: str) -> None:
    reason = reason_of(body)

    assert reason.kind == "protocol"
    assert words in reason.message
