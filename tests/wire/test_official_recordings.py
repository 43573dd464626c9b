"""What official clients make of recorded streams is what ours make of them."""

import json
from collections.abc import Iterator

import pytest

from stepfold.codec import to_json
from stepfold.loop import fold_parts
from stepfold.providers import protocol_named
from stepfold.values import ModelReply, Text
from tests.providers.recordings import (
    SHORTENED,
    Recording,
    decoded,
    is_object,
    recorded,
    recordings,
)
from tests.wire._official import CapturingServer, capturing

pytestmark = [
    pytest.mark.wire,
    recorded,
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings"),
]

KEY = "sk-test-key"
DUMPED = {"mode": "json", "exclude_none": True, "warnings": False, "by_alias": True}
# What OpenAI's server writes anew in each event of a response.
RENEWED = {"item_id", "id", "encrypted_content"}
# The official client gives up where the id of a response or of an item changes under way.
GIVEN_UP = {
    "vercel/openai/responses/github-copilot-id-rotation.1.chunks.txt",
    "vercel/openai/responses/openai-client-tool-search.1.chunks.txt",
}


@pytest.fixture(scope="module")
def server() -> Iterator[CapturingServer]:
    with capturing() as started:
        yield started


def streams(protocol: str) -> Iterator[Recording]:
    for stream in recordings(protocol, "stream"):
        if stream.expected == "reply":
            yield stream


def ours(stream: Recording) -> ModelReply:
    return fold_parts(decoded(stream, [stream.data]))


def read_whole(stream: Recording, theirs: object) -> ModelReply:
    """A body that the official client put together, as we read it."""
    entry = protocol_named(stream.protocol)
    return entry.load().decode(json.dumps(theirs).encode(), entry.provider).unwrap()


def said(reply: ModelReply) -> list[object]:
    """The content, neighbouring texts as one, and JSON in texts as what it says."""
    parts: list[object] = []
    for part in reply.content:
        if isinstance(part, Text) and parts and isinstance(parts[-1], Text):
            parts[-1] = Text(parts[-1].text + part.text)
        else:
            parts.append(part)
    return [opened(to_json(part)) for part in parts]


def opened(value: object) -> object:
    """JSON without members that are null or renewed, and with the JSON inside of its texts."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return opened(json.loads(value))
        except ValueError:
            return value
    if is_object(value):
        kept = value.keys() - RENEWED
        return {name: opened(value[name]) for name in kept if value[name] is not None}
    return [opened(item) for item in value] if isinstance(value, list) else value


def test_chat_completions(server: CapturingServer) -> None:
    from openai import OpenAI

    count = 0
    for stream in streams("openai-chat"):
        server.will(stream.data, "text/event-stream")
        with (
            OpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0) as client,
            client.chat.completions.stream(
                model="m",
                messages=[{"role": "user", "content": "Hi"}],
            ) as events,
        ):
            theirs = events.get_final_completion().model_dump(**DUMPED)
        whole, reply = read_whole(stream, theirs), ours(stream)
        assert said(reply) == said(whole), stream.name
        assert reply.finish_reason == whole.finish_reason, stream.name
        assert reply.usage == whole.usage, stream.name
        assert reply.response.id == whole.response.id, stream.name
        count += 1
    assert count


def test_responses(server: CapturingServer) -> None:
    from openai import OpenAI

    given_up: set[str] = set()
    for stream in streams("openai-responses"):
        server.will(stream.data, "text/event-stream")
        with (
            OpenAI(api_key=KEY, base_url=f"{server.url}/v1", max_retries=0) as client,
            client.responses.stream(model="m", input="Hi") as events,
        ):
            try:
                theirs = events.get_final_response().model_dump(**DUMPED)
            except RuntimeError:
                given_up.add(stream.name)
                continue
        whole, reply = read_whole(stream, theirs), ours(stream)
        if stream.file not in SHORTENED:
            assert said(reply) == said(whole), stream.name
        assert reply.usage == whole.usage, stream.name
    assert given_up == GIVEN_UP


def test_messages(server: CapturingServer) -> None:
    from anthropic import Anthropic

    count = 0
    for stream in streams("anthropic-messages"):
        framed = b"".join(
            b"event: %b\ndata: %b\n\n" % (str(e["type"]).encode(), json.dumps(e).encode())
            for e in stream.events()
        )
        server.will(framed, "text/event-stream")
        with (
            Anthropic(api_key=KEY, base_url=server.url, max_retries=0) as client,
            client.beta.messages.stream(
                model="m", max_tokens=9, messages=[{"role": "user", "content": "Hi"}]
            ) as events,
        ):
            theirs = events.get_final_message().model_dump(**DUMPED)
        whole, reply = read_whole(stream, theirs), ours(stream)
        assert said(reply) == said(whole), stream.name
        assert reply.finish_reason == whole.finish_reason, stream.name
        assert reply.usage == whole.usage, stream.name
        count += 1
    assert count
