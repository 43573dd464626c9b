"""What Google really sent, where recordings of it are at hand."""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from typing_extensions import TypeIs

from stepfold.loop import fold_parts, parts_of
from stepfold.providers import Endpoint
from stepfold.providers.google_generate import (
    GoogleDialect,
    GoogleStreamDecoder,
    decode_reply,
    encode_request,
)
from stepfold.values import (
    AssistantMessage,
    ModelReply,
    ModelRequest,
    StreamPart,
    Success,
    ToolError,
    UserMessage,
)

FOLDER = os.environ.get("STEPFOLD_RECORDINGS", "")

pytestmark = pytest.mark.skipif(
    not Path(FOLDER, "vercel", "google").is_dir(),
    reason="STEPFOLD_RECORDINGS names no folder of recordings",
)


def is_object(value: object) -> TypeIs[dict[str, object]]:
    return isinstance(value, dict)


def exchanges() -> Iterator[tuple[str, object]]:
    """The exchanges with `generateContent` and `streamGenerateContent`."""
    for path in sorted(Path(FOLDER, "pydantic").rglob("*.json")):
        text = path.read_text("utf-8")
        if "enerateContent" not in text:
            continue
        for number, exchange in enumerate(json.loads(text)["exchanges"]):
            if str(exchange["url"]).partition("?")[0].endswith("enerateContent"):
                yield f"{path.name}#{number}", exchange["response"]


def bodies() -> Iterator[tuple[str, bytes]]:
    for path in sorted(Path(FOLDER, "vercel", "google").glob("*.json")):
        yield path.name, path.read_bytes()
    for name, response in exchanges():
        text = response.get("text") if is_object(response) else None
        if isinstance(text, str):
            yield name, text.encode()
        elif is_object(response) and "sse" not in response:
            yield name, json.dumps(response).encode()


def streams() -> Iterator[tuple[str, bytes]]:
    for path in sorted(Path(FOLDER, "vercel", "google").glob("*.chunks.txt")):
        lines = [line for line in path.read_bytes().splitlines() if line.strip()]
        yield path.name, b"".join(b"data: %b\n\n" % line for line in lines)
    for name, response in exchanges():
        sse = response.get("sse") if is_object(response) else None
        if isinstance(sse, str):
            yield name, sse.encode()


def parts(*chunks: bytes) -> list[StreamPart]:
    decoder = GoogleStreamDecoder("google")
    return [*(part for chunk in chunks for part in decoder.feed(chunk)), *decoder.end()]


def sent_back(reply: ModelReply) -> list[object]:
    """The parts of the next request that say what this reply said."""
    content = [
        part
        for part in reply.content
        if not isinstance(part, ToolError) and not type(part).__name__.endswith("Source")
    ]
    message = AssistantMessage(content)  # type: ignore[arg-type]
    request = ModelRequest(messages=(UserMessage("Hi"), message, UserMessage("Go on")))
    endpoint = Endpoint(model_id="m", base_url="http://x", dialect=GoogleDialect())
    call = encode_request(request, endpoint)
    assert call.warnings == ()
    turns = json.loads(call.request.body)["contents"]
    return next((turn["parts"] for turn in turns if turn["role"] == "model"), [])


def comparable(part: dict[str, object]) -> dict[str, object]:
    """A part without the id of a call, which is ours where the server gives none."""
    call = part.get("functionCall")
    if not is_object(call):
        return part
    return {**part, "functionCall": {name: call[name] for name in ("name", "args") if name in call}}


def test_bodies_are_read_and_go_back_as_they_came() -> None:
    count = 0
    for name, body in bodies():
        outcome = decode_reply(body, "google")
        assert isinstance(outcome, Success), name
        reply = outcome.unwrap()
        assert fold_parts(parts_of(reply)) == reply, name
        content = json.loads(body)["candidates"][0].get("content", {})
        came = [comparable(part) for part in content.get("parts", [])]
        texts = [part for part in came if set(part) <= {"text"}]
        if len(texts) <= 1:  # neighbours without a signature are one text here
            assert [comparable(part) for part in sent_back(reply) if is_object(part)] == came, name
        count += 1
    assert count > 70


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
    assert count > 7
