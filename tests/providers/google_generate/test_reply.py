import json
from pathlib import Path

import pytest

from stepfold.loop import fold_parts
from stepfold.providers.google_generate import decode_reply, google_decoder
from stepfold.values import (
    Custom,
    DocumentSource,
    ErrorJsonOutput,
    Failure,
    File,
    FileBytes,
    FileUrl,
    FinishReason,
    InputTokenDetails,
    JsonObject,
    JsonOutput,
    ModelErrorReason,
    ModelReply,
    OutputTokenDetails,
    Reasoning,
    ReasoningFile,
    ReplyPart,
    StreamError,
    StreamPart,
    Success,
    Text,
    ToolCall,
    ToolResult,
    UnifiedFinishReason,
    UrlSource,
    Usage,
)

SAMPLES = Path(__file__).parents[2] / "data" / "google_generate"
STREAM = (SAMPLES / "turn.sse").read_bytes()
WHOLE = (SAMPLES / "turn.json").read_bytes()


def body(*parts: dict[str, object], **more: object) -> dict[str, object]:
    return {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP", **more}]}


def decoded(value: object) -> ModelReply:
    match decode_reply(json.dumps(value).encode(), "google"):
        case Success(reply):
            return reply
        case Failure(reason):
            raise AssertionError(reason)


def refused(value: object) -> ModelErrorReason:
    outcome = decode_reply(json.dumps(value).encode(), "google")
    assert isinstance(outcome, Failure)
    return outcome.failure()


def parts_of(*chunks: dict[str, object]) -> list[StreamPart]:
    decoder = google_decoder("google")
    fed = [decoder.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n") for chunk in chunks]
    return [*(part for parts in fed for part in parts), *decoder.end()]


def streamed(*chunks: dict[str, object]) -> ModelReply:
    return fold_parts(parts_of(*chunks))


def options(part: ReplyPart) -> object:
    given = part.provider_options
    return None if given is None else json.loads(given.text)


def test_a_turn_in_one_piece() -> None:
    reply = decoded(json.loads(WHOLE))

    thought, said, weather, now = reply.content
    assert thought == Reasoning("Two cities. Two calls.")
    assert said == Text("Let me see.")
    assert isinstance(weather, ToolCall)
    assert (weather.tool_call_id, weather.input) == ("call-0", '{"city":"Oslo"}')
    assert options(weather) == {"google": {"thought_signature": "c2lnbmVk"}}
    assert now == ToolCall("c7", "now", "{}")
    assert reply.finish_reason == FinishReason("tool-calls", "STOP")
    assert reply.usage == Usage(
        12,
        50,
        input_token_details=InputTokenDetails(8, 4, None),
        output_token_details=OutputTokenDetails(20, 30),
    )
    assert (reply.response.id, reply.response.model_id) == ("r1", "gemini-3-pro")


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
def test_a_streamed_turn_is_the_same_however_it_is_cut(size: int) -> None:
    decoder = google_decoder("google")
    parts = [
        part
        for start in range(0, len(STREAM), size)
        for part in decoder.feed(STREAM[start : start + size])
    ]

    assert fold_parts([*parts, *decoder.end()]) == decoded(json.loads(WHOLE))


def test_a_signature_on_an_empty_text_belongs_to_the_text_before_it() -> None:
    reply = streamed(
        {"candidates": [{"content": {"parts": [{"text": "Three."}]}}]},
        body({"text": "", "thoughtSignature": "s"}),
    )

    (said,) = reply.content
    assert isinstance(said, Text)
    assert (said.text, options(said)) == ("Three.", {"google": {"thought_signature": "s"}})


def test_a_signature_without_any_text_is_kept() -> None:
    (said,) = decoded(body({"text": "", "thoughtSignature": "s"})).content

    assert isinstance(said, Text)
    assert (said.text, options(said)) == ("", {"google": {"thought_signature": "s"}})


def test_text_after_a_signature_is_a_text_of_its_own() -> None:
    reply = decoded(body({"text": "a", "thoughtSignature": "s"}, {"text": "b"}))

    assert [part.text for part in reply.content if isinstance(part, Text)] == ["a", "b"]


def test_arguments_in_pieces() -> None:
    def piece(path: str, *, goes_on: bool = True, **value: object) -> dict[str, object]:
        call = {"partialArgs": [{"jsonPath": path, **value}], "willContinue": goes_on}
        return {"candidates": [{"content": {"parts": [{"functionCall": call}]}}]}

    begin = {"functionCall": {"name": "cook", "willContinue": True}, "thoughtSignature": "s"}
    reply = streamed(
        {"candidates": [{"content": {"parts": [begin]}}]},
        piece("$.items[0].name", stringValue="Ri"),
        piece("$.items[0].name", stringValue="ce"),
        piece("$.items[0].name", stringValue=""),
        piece("$.items[1]['a.b']", numberValue=2),
        piece("$.hot", boolValue=False),
        piece('$["none"]', nullValue="NULL_VALUE"),
        body({"functionCall": {}}),
    )

    (call,) = reply.content
    assert isinstance(call, ToolCall)
    assert json.loads(call.input) == {
        "items": [{"name": "Rice"}, {"a.b": 2}],
        "hot": False,
        "none": None,
    }
    assert options(call) == {"google": {"thought_signature": "s"}}


@pytest.mark.parametrize(
    "path", ["", "items", "$", "$.a[", "$.a.b[0]", "$.a[9999999]", "$[0]", 7, None]
)
def test_pieces_that_make_no_document_are_no_reply(path: object) -> None:
    begin = {"name": "cook", "willContinue": True, "args": {"a": {"b": "text"}}}
    call = {"partialArgs": [{"jsonPath": path, "stringValue": "x"}]}
    if path == "$.a[9999999]":
        begin["args"] = {"a": []}

    parts = parts_of(
        {"candidates": [{"content": {"parts": [{"functionCall": begin}]}}]},
        body({"functionCall": call}),
    )

    assert isinstance(parts[-1], StreamError)
    assert parts[-1].reason.kind == "protocol"


def test_code_that_google_ran() -> None:
    reply = decoded(
        body(
            {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
            {"executableCode": {"language": "PYTHON", "code": "1/0"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}},
        )
    )

    first, good, second, bad = reply.content
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert isinstance(good, ToolResult)
    assert isinstance(bad, ToolResult)
    assert first.provider_executed
    assert (first.tool_name, json.loads(first.input)["code"]) == ("code_execution", "print(1)")
    assert (good.tool_call_id, bad.tool_call_id) == (first.tool_call_id, second.tool_call_id)
    assert isinstance(good.output, JsonOutput)
    assert isinstance(bad.output, ErrorJsonOutput)
    assert reply.finish_reason.unified == "stop"


def test_a_tool_of_the_servers_is_matched_by_its_id() -> None:
    reply = decoded(
        body(
            {"toolCall": {"id": "t", "toolType": "GOOGLE_SEARCH", "args": {"q": "x"}}},
            {"toolResponse": {"id": "t", "toolType": "GOOGLE_SEARCH", "response": {"n": 1}}},
            {"toolResponse": {"id": "u", "toolType": "URL_CONTEXT", "response": {}}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "4"}},
        )
    )

    call, result, orphan, executed = reply.content
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert isinstance(orphan, ToolResult)
    assert (call.tool_name, call.tool_call_id) == ("google_search", "t")
    assert (result.tool_name, result.tool_call_id) == ("google_search", "t")
    assert (orphan.tool_name, orphan.tool_call_id) == ("url_context", "u")
    assert isinstance(executed, ToolResult)
    assert (executed.tool_name, executed.tool_call_id) == ("code_execution", "call-1")


def test_files_and_parts_of_other_kinds() -> None:
    reply = decoded(
        body(
            {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
            {"inlineData": {"mimeType": "image/png", "data": "aGk="}, "thought": True},
            {"fileData": {"fileUri": "https://x/y", "mimeType": "video/mp4"}},
            {"hologram": {"depth": 3}},
            {},
        )
    )

    made, thought, given, custom = reply.content
    assert made == File(FileBytes(b"hi"), "image/png")
    assert thought == ReasoningFile(FileBytes(b"hi"), "image/png")
    assert given == File(FileUrl("https://x/y"), "video/mp4")
    assert isinstance(custom, Custom)
    assert custom.kind == "google.hologram"
    assert options(custom) == {"google": {"part": {"hologram": {"depth": 3}}}}


def test_pages_and_documents_are_named_once() -> None:
    web = {"web": {"uri": "https://a", "title": "A"}}
    store = {"retrievedContext": {"title": "notes.txt", "fileSearchStore": "s"}}
    chunks = {"groundingChunks": [web, web, store, {"retrievedContext": {}}, {"web": {}}]}

    reply = streamed(
        {"candidates": [{"content": {"parts": []}, "groundingMetadata": chunks}]},
        body({"text": "Hi"}, groundingMetadata=chunks),
    )

    page, document = (
        part for part in reply.content if isinstance(part, UrlSource | DocumentSource)
    )
    assert isinstance(page, UrlSource)
    assert isinstance(document, DocumentSource)
    assert (page.id, page.url, page.title) == ("source-0", "https://a", "A")
    assert (document.id, document.title) == ("source-1", "notes.txt")
    assert reply.provider_metadata is not None
    assert isinstance(reply.provider_metadata.value, JsonObject)
    assert "groundingMetadata" in reply.provider_metadata.text


@pytest.mark.parametrize(
    ("raw", "unified"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content-filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("NEW_ONE", "other"),
    ],
)
def test_finish_reasons(raw: str, unified: UnifiedFinishReason) -> None:
    reply = decoded(body({"text": "Hi"}, finishReason=raw))

    assert reply.finish_reason == FinishReason(unified, raw)


def test_a_prompt_that_was_blocked_is_a_reply_without_content() -> None:
    reply = decoded({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})

    assert reply.content == ()
    assert reply.finish_reason == FinishReason("content-filter", "PROHIBITED_CONTENT")


def test_a_candidate_without_content_may_still_end() -> None:
    reply = decoded({"candidates": [{"finishReason": "MAX_TOKENS"}]})

    assert (reply.content, reply.finish_reason.unified) == ((), "length")
    assert reply.usage == Usage()


def test_other_candidates_are_not_read() -> None:
    other = {"index": 1, "content": {"parts": [{"text": "No"}]}, "finishReason": "STOP"}

    reply = decoded({"candidates": [*body({"text": "Yes"})["candidates"], other]})  # type: ignore[misc]

    assert reply.content == (Text("Yes"),)


def test_what_is_no_reply() -> None:
    assert refused({}).kind == "protocol"
    assert refused(body({"functionCall": {"args": {}}})).kind == "protocol"
    assert refused(body({"inlineData": {"data": "!"}})).kind == "protocol"
    error = {"code": 429, "message": "Slow down", "status": "RESOURCE_EXHAUSTED"}
    details = [{"@type": "x"}, {"retryDelay": "30.5s"}]
    reason = refused({"error": {**error, "details": details}})
    assert (reason.kind, reason.retry_after) == ("rate-limit", 30_500_000_000)


def test_what_is_wrong_with_a_stream_is_its_last_part() -> None:
    decoder = google_decoder("google", secrets=("secret",))
    parts = [*decoder.feed(b"data: {no secret\n\ndata: {}\n\n"), *decoder.feed(b"data: {}\n\n")]
    parts += decoder.end()

    assert isinstance(parts[-1], StreamError)
    assert parts[-1].reason.kind == "protocol"
    assert "secret" not in parts[-1].reason.message
    error = parts_of({"error": {"code": 503, "message": "Busy", "status": "UNAVAILABLE"}})[-1]
    assert isinstance(error, StreamError)
    assert error.reason.kind == "overloaded"
    cut = parts_of({"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]})[-1]
    assert isinstance(cut, StreamError)
    assert "may be cut" in cut.reason.message
