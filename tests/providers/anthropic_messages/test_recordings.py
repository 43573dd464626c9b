"""What Anthropic really sent, where recordings of it are at hand."""

import json
from collections.abc import Sequence

from stepfold.loop import fold_parts
from stepfold.providers import Endpoint
from stepfold.providers.anthropic_messages import (
    anthropic_dialect,
    decode_reply,
    encode_request,
)
from stepfold.values import AssistantMessage, ModelReply, ModelRequest, ToolError, UserMessage
from tests.providers.recordings import decoded, is_object, recorded, recordings


def check_round_trip(reply: ModelReply, blocks: object) -> None:
    """What goes back in the next turn is what came."""
    assert isinstance(blocks, list)
    if not blocks:
        return
    content = [
        part
        for part in reply.content
        if not isinstance(part, ToolError) and not type(part).__name__.endswith("Source")
    ]
    message = AssistantMessage(content)  # type: ignore[arg-type]
    request = ModelRequest(messages=(UserMessage("Hi"), message, UserMessage("Go on")))
    options = Endpoint(
        model_id="claude-opus-4-8",
        base_url="http://x/v1",
        dialect=anthropic_dialect("claude-opus-4-8"),
    )
    call = encode_request(request, options)
    assert call.warnings == ()
    sent = json.loads(call.request.body)["messages"][1]["content"]
    assert [clean(block) for block in sent] == [
        clean(block) for block in blocks if block.get("text", "x").strip()
    ]


def clean(block: dict[str, object]) -> dict[str, object]:
    kept = {name: value for name, value in block.items() if value is not None}
    if kept.get("caller") == {"type": "direct"}:
        del kept["caller"]
    if kept.get("citations") == []:
        del kept["citations"]
    return kept


def assembled(events: Sequence[object]) -> list[dict[str, object]]:
    """What the official client makes of the events, block by block."""
    blocks: list[dict[str, object]] = []
    arguments: dict[int, str] = {}
    for event in events:
        assert is_object(event)
        match event:
            case {"type": "message_start", "message": {"content": list(content)}}:
                blocks = [dict(block) for block in content]
            case {"type": "content_block_start", "content_block": dict(block)}:
                blocks.append(dict(block))
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                grow(blocks[index], delta, arguments, index)
            case _:
                pass
    for index, text in arguments.items():
        if text:
            blocks[index]["input"] = json.loads(text)
    return blocks


def grow(
    block: dict[str, object], delta: dict[str, object], arguments: dict[int, str], index: int
) -> None:
    match delta:
        case {"type": "text_delta", "text": text}:
            block["text"] = f"{block['text']}{text}"
        case {"type": "thinking_delta", "thinking": text}:
            block["thinking"] = f"{block['thinking']}{text}"
        case {"type": "signature_delta", "signature": text}:
            block["signature"] = text
        case {"type": "input_json_delta", "partial_json": text}:
            arguments[index] = f"{arguments.get(index, '')}{text}"
        case {"type": "citations_delta", "citation": citation}:
            before = block.get("citations")
            block["citations"] = [*(before if isinstance(before, list) else []), citation]
        case {"type": "compaction_delta", "content": text}:
            block["content"] = text
        case _:
            raise AssertionError(delta)


@recorded
def test_what_came_in_one_piece_goes_back_as_it_came() -> None:
    for body in recordings("anthropic-messages", "body"):
        if body.expected == "reply":
            (value,) = body.events()
            reply = decode_reply(body.data, "anthropic").unwrap()
            assert reply.finish_reason.unified != "other", body.name
            check_round_trip(reply, value["content"])


@recorded
def test_what_was_streamed_goes_back_as_it_came() -> None:
    for stream in recordings("anthropic-messages", "stream"):
        reply = fold_parts(decoded(stream, [stream.data]))
        check_round_trip(reply, assembled(stream.events()))
