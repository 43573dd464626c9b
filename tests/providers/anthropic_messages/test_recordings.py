"""What Anthropic really sent, where recordings of it are at hand."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from typing_extensions import TypeIs

from stepfold.loop import fold_parts, parts_of
from stepfold.providers import Endpoint
from stepfold.providers.anthropic_messages import (
    MessagesStreamDecoder,
    anthropic_dialect,
    decode_reply,
    encode_request,
)
from stepfold.values import (
    AssistantMessage,
    Failure,
    Finish,
    ModelReply,
    ModelRequest,
    StreamPart,
    Success,
    ToolError,
    UserMessage,
)

FOLDER = os.environ.get("STEPFOLD_RECORDINGS", "")

pytestmark = pytest.mark.skipif(
    not Path(FOLDER, "vercel", "anthropic").is_dir(),
    reason="STEPFOLD_RECORDINGS names no folder of recordings",
)


def is_object(value: object) -> TypeIs[dict[str, object]]:
    return isinstance(value, dict)


def load(text: str) -> object:
    value: object = json.loads(text)
    return value


def bodies_and_streams() -> Iterator[tuple[str, object]]:
    """The bodies (objects) and streams (lists of events) of `/v1/messages`."""
    for path in sorted(Path(FOLDER, "vercel", "anthropic").glob("*.json")):
        yield path.name, load(path.read_text())
    for path in sorted(Path(FOLDER, "vercel", "anthropic").glob("*.chunks.txt")):
        lines = [load(line) for line in path.read_text().splitlines() if line.strip()]
        for number, events in enumerate(replies_in(lines)):
            yield f"{path.name}#{number}", events
    for path in sorted(Path(FOLDER, "pydantic").rglob("*.json")):
        text = path.read_text()
        if "api.anthropic.com" not in text:
            continue
        recording = load(text)
        exchanges = recording.get("exchanges") if is_object(recording) else None
        assert isinstance(exchanges, list)
        for number, exchange in enumerate(exchanges):
            address = str(exchange["url"]).partition("?")[0]
            if "anthropic.com" in address and address.endswith("/messages"):
                yield f"{path.name}#{number}", response_of(exchange["response"])


def response_of(response: object) -> object:
    sse = response.get("sse") if is_object(response) else None
    if not isinstance(sse, str):
        return response
    lines = [line.removeprefix("data:") for line in sse.splitlines() if line.startswith("data:")]
    return [load(line) for line in lines]


def replies_in(events: Sequence[object]) -> Iterator[list[object]]:
    """A file may hold the replies of several turns, one after another."""
    reply: list[object] = []
    for event in events:
        reply.append(event)
        if is_object(event) and event["type"] == "message_stop":
            yield reply
            reply = []
    if reply:
        yield reply


def parts(*chunks: bytes) -> list[StreamPart]:
    decoder = MessagesStreamDecoder("anthropic")
    return [*(part for chunk in chunks for part in decoder.feed(chunk)), *decoder.end()]


def wire(events: Sequence[object]) -> bytes:
    return b"".join(
        b"event: x\ndata: %s\n\n" % json.dumps(event, ensure_ascii=False).encode()
        for event in events
    )


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


def test_every_recording_gives_what_it_says() -> None:
    counts = {"reply": 0, "error": 0, "stream": 0}
    for name, value in bodies_and_streams():
        if isinstance(value, list):
            check_stream(value)
            counts["stream"] += 1
            continue
        assert is_object(value), name
        outcome = decode_reply(json.dumps(value).encode(), "anthropic")
        if isinstance(outcome, Failure):
            assert value["type"] == "error", name
            assert outcome.failure().kind == "bad-request"
            counts["error"] += 1
            continue
        reply = outcome.unwrap()
        assert fold_parts(parts_of(reply)) == reply, name
        assert reply.finish_reason.raw == value["stop_reason"]
        assert reply.finish_reason.unified != "other"
        assert reply.usage.input_tokens is not None
        check_round_trip(reply, value["content"])
        counts["reply"] += 1
    assert counts["reply"] > 50
    assert counts["stream"] > 30


def check_stream(events: list[object]) -> None:
    data = wire(events)
    whole = parts(data)
    for size in (5, 64):
        assert parts(*(data[at : at + size] for at in range(0, len(data), size))) == whole
    assert isinstance(whole[-1], Finish), whole[-1]
    reply = fold_parts(whole)
    assert Success(reply) == Success(fold_parts(parts_of(reply)))
    check_round_trip(reply, assembled(events))
