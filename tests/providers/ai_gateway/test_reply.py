"""Replies of the gateway, whole and streamed."""

import json
import random

import pytest

from stepfold.loop import fold_parts, parts_of
from stepfold.providers.ai_gateway import decode_reply, gateway_decoder
from stepfold.values import (
    ApprovalRequest,
    Custom,
    DocumentSource,
    ErrorJsonOutput,
    Failure,
    File,
    FileBytes,
    FileUrl,
    FinishReason,
    InputTokenDetails,
    JsonOutput,
    JsonText,
    ModelErrorReason,
    ModelReply,
    ModelWarning,
    OutputTokenDetails,
    Ping,
    Reasoning,
    ReasoningFile,
    ResponseInfo,
    StreamError,
    StreamPart,
    Success,
    Text,
    TextStart,
    ToolCall,
    ToolInputStart,
    ToolResult,
    UrlSource,
    Usage,
)

METADATA = {"anthropic": {"signature": "s"}}
KEPT = JsonText('{"anthropic":{"signature":"s"}}')
USAGE = {
    "inputTokens": {"total": 9, "noCache": 5, "cacheRead": 3, "cacheWrite": 1},
    "outputTokens": {"total": 4, "text": 1, "reasoning": 3},
    "raw": {},
}
TOLD = Usage(
    9,
    4,
    input_token_details=InputTokenDetails(5, 3, 1),
    output_token_details=OutputTokenDetails(1, 3),
)
PAGE: dict[str, object] = {
    "type": "source",
    "sourceType": "url",
    "id": "s0",
    "url": "https://x",
    "title": "X",
}
WHOLE: list[dict[str, object]] = [
    {"type": "file", "mediaType": "image/png", "data": {"type": "data", "data": "AQI="}},
    {"type": "file", "mediaType": "image/png", "data": "AQI="},
    {
        "type": "reasoning-file",
        "mediaType": "image/png",
        "data": {"type": "url", "url": "https://x/a"},
        "providerMetadata": METADATA,
    },
    PAGE,
    {
        "type": "source",
        "sourceType": "document",
        "id": "s1",
        "mediaType": "application/pdf",
        "title": "A",
        "filename": "a.pdf",
    },
    {
        "type": "tool-call",
        "toolCallId": "c1",
        "toolName": "t",
        "input": '{"a": 1}',
        "providerMetadata": METADATA,
    },
    {
        "type": "tool-call",
        "toolCallId": "c2",
        "toolName": "web_search",
        "input": {"q": "x"},
        "providerExecuted": True,
        "dynamic": True,
    },
    {"type": "tool-result", "toolCallId": "c2", "toolName": "web_search", "result": [1]},
    {
        "type": "tool-result",
        "toolCallId": "c2",
        "toolName": "web_search",
        "result": {"code": "x"},
        "isError": True,
    },
    {"type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c2"},
    {"type": "custom", "kind": "openai.compaction", "providerMetadata": METADATA},
    {"type": "hologram", "shape": "cube"},
]
PARTS = (
    File(FileBytes(b"\x01\x02"), "image/png"),
    File(FileBytes(b"\x01\x02"), "image/png"),
    ReasoningFile(FileUrl("https://x/a"), "image/png", provider_options=KEPT),
    UrlSource("s0", "https://x", title="X"),
    DocumentSource("s1", "application/pdf", "A", filename="a.pdf"),
    ToolCall("c1", "t", '{"a": 1}', provider_options=KEPT),
    ToolCall("c2", "web_search", '{"q":"x"}', provider_executed=True, dynamic=True),
    ToolResult("c2", "web_search", JsonOutput(JsonText("[1]")), provider_executed=True),
    ToolResult(
        "c2", "web_search", ErrorJsonOutput(JsonText('{"code":"x"}')), provider_executed=True
    ),
    ApprovalRequest("a1", "c2"),
    Custom("openai.compaction", provider_options=KEPT),
    Custom(
        "gateway.hologram",
        provider_options=JsonText('{"gateway":{"part":{"type":"hologram","shape":"cube"}}}'),
    ),
)
BODY: dict[str, object] = {
    "content": [
        {"type": "reasoning", "text": "hm", "providerMetadata": METADATA},
        {"type": "text", "text": "Yes.", "citations": [{"source": PAGE, "citedText": "x"}]},
        {"type": "text", "text": ""},
        *WHOLE,
    ],
    "finishReason": {"unified": "tool-calls", "raw": "tool_use"},
    "usage": USAGE,
    "warnings": [
        {"type": "unsupported", "feature": "topK", "details": "no"},
        {"type": "compatibility", "feature": "f"},
        {"type": "deprecated", "setting": "s", "message": "old"},
        {"type": "other", "message": "m"},
    ],
    "response": {
        "id": "r",
        "modelId": "claude",
        "timestamp": "2026-01-01T00:00:00.250Z",
        "headers": {},
    },
    "providerMetadata": {"gateway": {"generationId": "gen_1", "cost": "0.01"}},
}
EVENTS: list[dict[str, object]] = [
    {"type": "stream-start", "warnings": BODY["warnings"]},
    {
        "type": "response-metadata",
        "id": "r",
        "modelId": "claude",
        "timestamp": "2026-01-01T00:00:00.250Z",
    },
    {"type": "ping"},
    {"type": "raw", "rawValue": {}},
    {"type": "reasoning-start", "id": "0"},
    {"type": "reasoning-delta", "id": "0", "delta": "h"},
    {"type": "reasoning-delta", "id": "0", "delta": "m"},
    {"type": "reasoning-delta", "id": "0", "delta": ""},
    {"type": "reasoning-end", "id": "0", "providerMetadata": METADATA},
    {"type": "text-start", "id": "0"},
    {"type": "text-delta", "id": "0", "delta": "Yes."},
    {"type": "text-end", "id": "0", "citations": [{"source": PAGE}]},
    *WHOLE[:5],
    {"type": "tool-input-start", "id": "c1", "toolName": "t"},
    {"type": "tool-input-delta", "id": "c1", "delta": '{"a"'},
    {"type": "tool-input-delta", "id": "c1", "delta": ": 1}"},
    {"type": "tool-input-end", "id": "c1"},
    *WHOLE[5:],
    {
        "type": "finish",
        "finishReason": {"unified": "tool-calls", "raw": "tool_use"},
        "usage": USAGE,
        "providerMetadata": BODY["providerMetadata"],
    },
]
HEADERS = (("x-vercel-id", "v"), ("date", "today"))


def decoded(body: object) -> ModelReply:
    return decode_reply(json.dumps(body).encode(), "gateway", headers=HEADERS).unwrap()


def refused(body: object) -> ModelErrorReason:
    outcome = decode_reply(json.dumps(body).encode(), "gateway")
    assert isinstance(outcome, Failure)
    return outcome.failure()


def stream_of(events: list[dict[str, object]], end: str = "data: [DONE]\n\n") -> bytes:
    return ("".join(f"data: {json.dumps(event)}\n\n" for event in events) + end).encode()


def read(*chunks: bytes) -> list[StreamPart]:
    decoder = gateway_decoder("gateway", headers=HEADERS)
    parts = [part for chunk in chunks for part in decoder.feed(chunk)]
    return [*parts, *decoder.end()]


def failure(events: list[dict[str, object]]) -> ModelErrorReason:
    last = read(stream_of(events, ""))[-1]
    assert isinstance(last, StreamError)
    return last.reason


def test_a_reply_in_one_piece() -> None:
    assert decoded(BODY) == ModelReply(
        (
            Reasoning("hm", provider_options=KEPT),
            Text("Yes."),
            UrlSource("s0", "https://x", title="X"),
            *PARTS,
        ),
        FinishReason("tool-calls", "tool_use"),
        TOLD,
        warnings=(
            ModelWarning("unsupported", "topK", "no"),
            ModelWarning("compatibility", "f"),
            ModelWarning("deprecated", "s", "old"),
            ModelWarning("other", "other", "m"),
        ),
        response=ResponseInfo("r", "claude", 1_767_225_600_250_000_000, (("x-vercel-id", "v"),)),
        provider_metadata=JsonText('{"gateway":{"generationId":"gen_1","cost":"0.01"}}'),
    )


def test_a_stream_folds_to_the_same_reply() -> None:
    parts = read(stream_of(EVENTS))

    assert fold_parts(parts) == decoded(BODY)
    assert Ping() in parts
    assert ToolInputStart("c1", "t") in parts


def test_a_reply_is_the_fold_of_its_parts() -> None:
    assert fold_parts(parts_of(decoded(BODY))) == decoded(BODY)


def test_chunks_change_nothing() -> None:
    stream, random_ = stream_of(EVENTS), random.Random(7)
    for _ in range(20):
        points = sorted(random_.choices(range(len(stream)), k=30))
        ends = [*points, len(stream)]
        cut = [stream[a:b] for a, b in zip([0, *points], ends, strict=True)]

        assert read(*cut) == read(stream)


def test_texts_and_thoughts_may_share_an_id() -> None:
    """In a reply of ours, ids of blocks are unique."""
    again = [*EVENTS[:12], *EVENTS[4:12], EVENTS[-1]]
    ids = [p.id for p in read(stream_of(again)) if isinstance(p, TextStart)]

    assert ids == ["0'", "0'''"]


def test_what_is_unknown_stays_unknown() -> None:
    reply = decoded({"content": [], "finishReason": "mystery"})

    assert (reply.finish_reason, reply.usage) == (FinishReason("other"), Usage())
    assert reply.response.timestamp is None
    bare = decoded({"content": [], "finishReason": "stop", "usage": {"inputTokens": 3}})
    assert bare.usage == Usage(3)


def test_metadata_comes_with_the_finish_at_last() -> None:
    finish: dict[str, object] = {"type": "finish", "finishReason": {"unified": "stop"}, "usage": {}}
    reply = fold_parts(read(stream_of([finish])))

    assert reply.response.headers == (("x-vercel-id", "v"),)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ([], "what is not a JSON object"),
        ({"finishReason": "stop"}, "holds no content"),
        ({"content": []}, "no reason to end"),
        ({"content": [{"type": "tool-call"}], "finishReason": "stop"}, "lacks its toolName"),
        ({"content": [PAGE | {"url": ""}], "finishReason": "stop"}, "lacks its url"),
        ({"content": [{"type": "file", "data": "?"}], "finishReason": "stop"}, "not in base64"),
    ],
)
def test_what_is_no_reply_is_a_violation(body: object, told: str) -> None:
    reason = refused(body)

    assert reason.kind == "protocol"
    assert told in reason.message


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([EVENTS[5]], "a reasoning-delta came for block '0' which is not open"),
        ([EVENTS[4], EVENTS[4]], "reasoning block '0' was started twice"),
        ([EVENTS[4], EVENTS[-1]], "the finish came while block '0' was open"),
        ([{"type": "tool-input-start", "id": "c"}], "without a name"),
        (
            [{"type": "tool-input-start", "id": "c", "toolName": "t"}] * 2,
            "call 'c' were started twice",
        ),
        ([{"type": "tool-input-end", "id": "c"}], "call 'c' which is not open"),
        ([EVENTS[0]], "ended without a finish"),
        ([{"type": "finish"}], "no reason to end"),
    ],
)
def test_an_impossible_stream_is_a_violation(events: list[dict[str, object]], told: str) -> None:
    reason = failure(events)

    assert reason.kind == "protocol"
    assert told in reason.message


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "slow down", "type": "rate_limit_exceeded"}, "rate-limit"),
        ({"message": "no", "type": "authentication_error"}, "authentication"),
        ({"message": "no", "type": "forbidden"}, "permission"),
        ({"message": "no", "type": "model_not_found"}, "not-found"),
        ({"message": "no", "type": "failed_dependency"}, "server"),
        ({"message": "no", "type": "internal_server_error"}, "server"),
        ("it broke", "unknown"),
    ],
)
def test_an_error_in_the_middle_of_a_stream(error: object, kind: str) -> None:
    reason = failure([EVENTS[0], {"type": "error", "error": error}])

    assert reason.kind == kind


def test_an_error_in_place_of_a_reply_names_the_generation() -> None:
    error = {"error": {"message": "no", "type": "failed_dependency"}, "generationId": "gen_1"}

    assert (refused(error).kind, refused(error).request_id) == ("server", "gen_1")
    assert isinstance(decode_reply(json.dumps(BODY).encode(), "gateway"), Success)
