"""What servers of chat completions really sent, where recordings of them are at hand."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from typing_extensions import TypeIs

from stepfold.loop import fold_parts, parts_of
from stepfold.providers.openai_chat import ChatStreamDecoder, decode_reply
from stepfold.values import Failure, StreamPart, Success

FOLDER = os.environ.get("STEPFOLD_RECORDINGS", "")
FOLDERS = ("deepseek/chat", "groq", "mistral", "openai/chat", "xai")

pytestmark = pytest.mark.skipif(
    not Path(FOLDER, "vercel", "groq").is_dir(),
    reason="STEPFOLD_RECORDINGS names no folder of recordings",
)


def is_object(value: object) -> TypeIs[dict[str, object]]:
    return isinstance(value, dict)


def exchanges() -> Iterator[tuple[str, int, object]]:
    """The exchanges with servers of chat completions."""
    for path in sorted(Path(FOLDER, "pydantic").rglob("*.json")):
        text = path.read_text("utf-8")
        if "/chat/completions" not in text:
            continue
        for number, exchange in enumerate(json.loads(text)["exchanges"]):
            url = str(exchange["url"]).partition("?")[0]
            if url.endswith("/chat/completions"):
                yield f"{path.name}#{number}", exchange["status"], exchange["response"]


def bodies() -> Iterator[tuple[str, int, bytes]]:
    for folder in FOLDERS:
        for path in sorted(Path(FOLDER, "vercel", folder).glob("*.json")):
            status = 400 if "error" in path.name else 200
            if "transcription" not in path.name:  # which is another endpoint
                yield path.name, status, path.read_bytes()
    for name, status, response in exchanges():
        text = response.get("text") if is_object(response) else None
        if isinstance(text, str):
            yield name, status, text.encode()
        elif is_object(response) and "sse" not in response:
            yield name, status, json.dumps(response).encode()


def streams() -> Iterator[tuple[str, bytes]]:
    for folder in FOLDERS:
        for path in sorted(Path(FOLDER, "vercel", folder).glob("*.chunks.txt")):
            lines = [line for line in path.read_bytes().splitlines() if line.strip()]
            yield path.name, b"".join(b"data: %b\n\n" % line for line in lines)
    for name, _, response in exchanges():
        sse = response.get("sse") if is_object(response) else None
        if isinstance(sse, str):
            yield name, sse.encode()


def parts(*chunks: bytes) -> list[StreamPart]:
    decoder = ChatStreamDecoder("openai")
    return [*(part for chunk in chunks for part in decoder.feed(chunk)), *decoder.end()]


def test_bodies_are_read() -> None:
    count = 0
    for name, status, body in bodies():
        outcome = decode_reply(body, "openai")
        if status >= 400:
            assert isinstance(outcome, Failure), name
            assert outcome.failure().kind != "protocol", name
        else:
            assert isinstance(outcome, Success), name
            reply = outcome.unwrap()
            assert fold_parts(parts_of(reply)) == reply, name
            assert reply.usage.output_tokens is not None, name
        count += 1
    assert count > 50


def test_streams_are_read_however_they_are_cut() -> None:
    chance = random.Random(7)
    count = 0
    for name, stream in streams():
        whole = parts(stream)
        fold_parts(whole)
        points = sorted(chance.randrange(len(stream)) for _ in range(30))
        cut = [stream[a:b] for a, b in zip([0, *points], [*points, len(stream)], strict=True)]
        assert parts(*cut) == whole, name
        count += 1
    assert count > 5
