"""Replies of Converse in one piece: each block becomes the part that it is."""

import json

import pytest

from stepfold.loop import fold_parts, parts_of
from stepfold.providers.bedrock_converse import decode_reply
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
    ModelErrorKind,
    ModelErrorReason,
    ModelReply,
    Reasoning,
    Success,
    Text,
    ToolCall,
    ToolResult,
    UnifiedFinishReason,
    UrlSource,
    Usage,
)


def body(*blocks: object, **more: object) -> dict[str, object]:
    message = {"role": "assistant", "content": list(blocks)}
    return {"output": {"message": message}, "stopReason": "end_turn", **more}


def decoded(value: object, headers: tuple[tuple[str, str], ...] = ()) -> ModelReply:
    outcome = decode_reply(json.dumps(value).encode(), "bedrock", headers=headers)
    assert isinstance(outcome, Success), outcome
    reply = outcome.unwrap()
    assert fold_parts(parts_of(reply)) == reply
    return reply


def refused(value: object) -> ModelErrorReason:
    outcome = decode_reply(json.dumps(value).encode(), "bedrock")
    assert isinstance(outcome, Failure)
    return outcome.failure()


def options_of(part: object) -> object:
    kept = getattr(part, "provider_options", None)
    return None if kept is None else json.loads(kept.text)["bedrock"]


def test_texts_reasoning_and_calls() -> None:
    reply = decoded(
        body(
            {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
            {"reasoningContent": {"redactedContent": "cg=="}},
            {"type": "text", "text": "Hi"},
            {"toolUse": {"toolUseId": "t", "name": "look", "input": {"n": 1}, "type": "tool_use"}},
            {"toolUse": {"toolUseId": "t", "name": "look", "input": {}}},
            {},
            "what?",
            stopReason="tool_use",
        )
    )

    thought, sealed, text, call, again = reply.content
    assert isinstance(thought, Reasoning)
    assert (thought.text, options_of(thought)) == ("Hm.", {"signature": "s"})
    assert isinstance(sealed, Reasoning)
    assert (sealed.text, options_of(sealed)) == ("", {"redacted_data": "cg=="})
    assert text == Text("Hi")
    assert call == ToolCall("t", "look", '{"n":1}')
    assert isinstance(again, ToolCall)
    assert (again.input, again.tool_call_id != "t") == ("{}", True)
    assert reply.finish_reason == FinishReason("tool-calls", "tool_use")


def test_citations_are_sources_and_stay_with_the_text() -> None:
    citations = [
        {"title": "A", "location": {"web": {"url": "https://a"}}},
        {"title": "B", "location": {"documentPage": {"documentIndex": 0, "start": 1, "end": 2}}},
        {"source": "C", "location": {"documentChar": {}}},
    ]
    reply = decoded(
        body({"citationsContent": {"content": [{"text": "So"}, {}], "citations": citations}})
    )

    text, page, paper, plain = sorted(reply.content, key=lambda part: not isinstance(part, Text))
    assert isinstance(text, Text)
    assert (text.text, options_of(text)) == ("So", {"citations": citations})
    assert isinstance(page, UrlSource)
    assert (page.url, page.title) == ("https://a", "A")
    assert isinstance(paper, DocumentSource)
    assert (paper.media_type, paper.title) == ("application/pdf", "B")
    assert isinstance(plain, DocumentSource)
    assert (plain.media_type, plain.title) == ("text/plain", "C")


def test_tools_that_the_provider_runs() -> None:
    used = {"toolUseId": "s", "name": "nova_grounding", "input": {}, "type": "server_tool_use"}
    result = {"toolUseId": "s", "content": [{"text": "x"}], "type": "nova_grounding_result"}
    orphan = {"toolUseId": "z", "status": "error", "content": [], "type": "other"}
    call, answer, lone = decoded(
        body({"toolUse": used}, {"toolResult": result}, {"toolResult": orphan})
    ).content

    assert isinstance(call, ToolCall)
    assert (call.provider_executed, options_of(call)) == (True, {"type": "server_tool_use"})
    assert isinstance(answer, ToolResult)
    assert (answer.tool_name, answer.provider_executed) == ("nova_grounding", True)
    assert options_of(answer) == {"result": {"type": "nova_grounding_result"}}
    assert isinstance(lone, ToolResult)
    assert (lone.tool_call_id, lone.tool_name) == ("z", "other")
    assert isinstance(lone.output, ErrorJsonOutput)


def test_files_and_blocks_of_other_kinds() -> None:
    reply = decoded(
        body(
            {"image": {"format": "png", "source": {"bytes": "aGk="}}},
            {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://b/v"}}}},
            {"audio": {"format": "odd", "source": {"bytes": "aGk="}}},
            {"type": "x", "hologram": {"depth": 3}},
        )
    )

    image, video, audio, custom = reply.content
    assert image == File(FileBytes(b"hi"), "image/png")
    assert video == File(FileUrl("s3://b/v"), "video/mp4")
    assert audio == File(FileBytes(b"hi"), "audio/odd")
    assert isinstance(custom, Custom)
    assert custom.kind == "bedrock.hologram"
    assert options_of(custom) == {"block": {"type": "x", "hologram": {"depth": 3}}}


def test_figures_and_facts() -> None:
    usage = {
        "inputTokens": 13,
        "outputTokens": 5,
        "totalTokens": 1522,
        "cacheReadInputTokens": 1504,
        "cacheWriteInputTokens": 0,
    }
    trace = {"promptRouter": {"invokedModelId": "amazon.nova-lite-v1:0"}}
    headers = (("x-amzn-requestid", "r"), ("date", "d"))
    reply = decoded(body({"text": "x"}, usage=usage, trace=trace), headers)

    assert reply.usage.input_tokens == 1517
    assert reply.usage.input_token_details == InputTokenDetails(13, 1504, 0)
    assert reply.usage.output_tokens == 5
    assert reply.response.model_id == "amazon.nova-lite-v1:0"
    assert reply.response.headers == (("x-amzn-requestid", "r"),)
    assert reply.provider_metadata is not None
    kept = json.loads(reply.provider_metadata.text)["bedrock"]
    assert kept == {"usage": usage, "trace": trace}
    assert decoded(body({"text": "x"})).usage == Usage()


@pytest.mark.parametrize(
    ("raw", "unified"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool-calls"),
        ("guardrail_intervened", "content-filter"),
        ("content_filtered", "content-filter"),
        ("malformed_tool_use", "error"),
        ("news", "other"),
    ],
)
def test_finish_reasons(raw: str, unified: UnifiedFinishReason) -> None:
    assert decoded(body(stopReason=raw)).finish_reason == FinishReason(unified, raw)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({}, "protocol"),
        ([], "protocol"),
        ({"output": {}}, "protocol"),
        ({"output": {"message": {"content": []}}}, "protocol"),
        (body({"toolUse": {"toolUseId": "t", "input": {}}}), "protocol"),
        (body({"image": {"source": {"bytes": "!"}}}), "protocol"),
        ({"__type": "com.amazon#ThrottlingException", "message": "Slow down"}, "rate-limit"),
        ({"message": "The provided model identifier is invalid."}, "unknown"),
        ({"error": {"code": "AccessDeniedException", "message": "No"}}, "permission"),
    ],
)
def test_what_is_no_reply(value: object, kind: ModelErrorKind) -> None:
    assert refused(value).kind == kind
