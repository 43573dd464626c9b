"""Real responses, where the folder of recordings is at hand."""

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepfold.loop import fold_parts, parts_of
from stepfold.providers.responses import ResponsesStreamDecoder, decode_reply
from stepfold.values import (
    Finish,
    JsonText,
    ModelReply,
    StreamError,
    StreamPart,
    Text,
    ToolCall,
    succeeded,
)

FOLDER = os.environ.get("STEPFOLD_RECORDINGS", "")
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="STEPFOLD_RECORDINGS names no folder of recordings"
)

# Two lines of it are no JSON.
GARBLED = {"parallel-tool-call-wrapper.1.chunks.txt"}
# The recording was shortened by hand: its deltas say something else than its items.
SHORTENED = {"openai-shell-container.1.chunks.txt"}
# What a server writes anew in each event: ids, and sealed content.
RENEWED = {"item_id", "id", "encrypted_content"}

Document = dict[str, object]


def documents(text: str) -> Iterator[Document]:
    for line in text.splitlines():
        try:
            value: object = json.loads(line.removeprefix("data: "))
        except json.JSONDecodeError:
            continue
        if isinstance(value, dict):
            yield value


def streams() -> Iterator[tuple[str, bytes]]:
    for path in sorted(Path(FOLDER).glob("vercel/**/*.chunks.txt")):
        text = path.read_text("utf-8")
        if '"response.' in text:
            lines = [line for line in text.splitlines() if line.strip()]
            yield path.name, "".join(f"data: {line}\n\n" for line in lines).encode()
    for name, _, response in exchanges():
        if isinstance(response.get("sse"), str) and '"response.' in str(response["sse"]):
            yield name, str(response["sse"]).encode()


def exchanges() -> Iterator[tuple[str, int, Document]]:
    for path in sorted(Path(FOLDER).glob("pydantic/**/*.json")):
        for exchange in json.loads(path.read_text("utf-8"))["exchanges"]:
            if isinstance(exchange["response"], dict):
                yield path.name, exchange["status"], exchange["response"]


def bodies() -> Iterator[tuple[str, Document]]:
    for path in sorted(Path(FOLDER).glob("vercel/**/*.json")):
        value = json.loads(path.read_text("utf-8"))
        if isinstance(value, dict) and value.get("object") == "response":
            yield path.name, value
    for name, status, response in exchanges():
        if response.get("object") in {"response", "response.compaction"} and status == 200:
            yield name, response


def decoded(chunks: list[bytes]) -> list[StreamPart]:
    decoder = ResponsesStreamDecoder("openai")
    parts = [part for chunk in chunks for part in decoder.feed(chunk)]
    return [*parts, *decoder.end()]


def cut(stream: bytes) -> list[bytes]:
    points = sorted(random.Random(7).choices(range(len(stream)), k=50))
    ends = [*points, len(stream)]
    return [stream[start:end] for start, end in zip([0, *points], ends, strict=True)]


def comparable(reply: ModelReply) -> list[tuple[object, ...]]:
    """What a reply says, without what servers write anew in each event."""
    said: list[tuple[object, ...]] = []
    for part in reply.content:
        text = part.text if isinstance(part, Text) else ""
        called = (part.tool_name, part.input) if isinstance(part, ToolCall) else ()
        kept = None if part.provider_options is None else settled(part.provider_options)
        said.append((type(part), text, called, kept))
    return said


def settled(options: JsonText) -> object:
    def without(value: object) -> object:
        if isinstance(value, dict):
            return {k: without(v) for k, v in value.items() if k not in RENEWED}
        return [without(item) for item in value] if isinstance(value, list) else value

    return without(json.loads(options.text))


def test_every_stream_is_the_response_of_its_terminal_event() -> None:
    seen: Counter[str] = Counter()
    for name, stream in streams():
        parts = decoded([stream])
        assert decoded(cut(stream)) == parts, name
        last = parts[-1]
        if isinstance(last, StreamError):
            seen[last.reason.kind] += 1
            assert last.reason.kind == ("protocol" if name in GARBLED else "quota"), name
            continue
        assert isinstance(last, Finish)
        reply = fold_parts(parts)
        *_, terminal = (e for e in documents(stream.decode()) if "output" in of_response(e))
        whole = decode_reply(json.dumps(of_response(terminal)).encode(), "openai").unwrap()
        if name not in SHORTENED:
            assert comparable(reply) == comparable(whole), name
        assert reply.usage == whole.usage
        assert reply.finish_reason == whole.finish_reason
        assert reply.response == whole.response
        seen["whole"] += 1
    assert seen["whole"] >= 28
    assert seen["quota"] == seen["protocol"] == 1


def of_response(event: Document) -> Document:
    response = event.get("response")
    return response if isinstance(response, dict) else {}


def test_every_body_is_the_fold_of_its_parts() -> None:
    seen: Counter[str] = Counter()
    for name, body in bodies():
        outcome = decode_reply(json.dumps(body).encode(), "openai")
        assert succeeded(outcome), name
        reply = outcome.unwrap()
        assert fold_parts(parts_of(reply)) == reply, name
        seen[reply.finish_reason.unified] += 1
    assert seen["stop"] >= 79
    assert seen["tool-calls"] >= 20
    assert seen["other"] == 5  # at work in the background
