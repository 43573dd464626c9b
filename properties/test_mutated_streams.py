"""Whatever is done to a stream, each protocol makes a reply or a typed error of it, in bounds."""

import json
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepfold.loop import fold_parts
from stepfold.providers import PROTOCOLS, protocol_named
from stepfold.testing.conformance import sse_events
from stepfold.transport import aws_message
from stepfold.values import Finish, ModelError, ModelReply, StreamError, StreamPart

DATA = Path(__file__).parents[1] / "tests" / "data"
SAMPLES = {
    "ai-gateway": "ai_gateway/turn.sse",
    "anthropic-messages": "anthropic_messages/thinking_and_calls.sse",
    "bedrock-converse": "bedrock_converse/turn.sse",
    "cohere-chat": "cohere_chat/turn.sse",
    "google-generate": "google_generate/turn.sse",
    "mistral-chat": "openai_chat/reasoning.sse",
    "openai-chat": "openai_chat/parallel_calls.sse",
    "openai-responses": "openai_responses/turn.sse",
}
MEGABYTE = 1_048_576


def binary(stream: bytes) -> tuple[bytes, ...]:
    """Events of Bedrock as the messages that it sends."""
    return tuple(
        aws_message({":event-type": name, ":message-type": "event"}, json.dumps(value).encode())
        for event in sse_events(stream)
        for name, value in json.loads(event.removeprefix(b"data: ")).items()
    )


STREAMS: dict[str, tuple[str, tuple[bytes, ...]]] = {
    name: (name, sse_events((DATA / path).read_bytes())) for name, path in SAMPLES.items()
}
STREAMS["bedrock-converse, binary"] = (
    "bedrock-converse",
    binary((DATA / SAMPLES["bedrock-converse"]).read_bytes()),
)
names = st.sampled_from(sorted(STREAMS))


def read(protocol: str, chunks: Sequence[bytes]) -> list[StreamPart]:
    """All parts of a stream, whose decoder says nothing more after the last."""
    entry = protocol_named(protocol)
    decoder = entry.load().decoder(entry.provider)
    parts = [part for chunk in chunks for part in decoder.feed(chunk)]
    parts += decoder.end()
    assert decoder.is_done
    assert decoder.feed(b"data: {}\n\n") == decoder.end() == ()
    return parts


def checked(parts: Sequence[StreamPart]) -> ModelReply | None:
    """The reply, if it is one; ends are last, and none comes twice."""
    ends = [part for part in parts if isinstance(part, Finish | StreamError)]
    assert ends == [parts[-1]]
    if isinstance(ends[0], StreamError):
        assert ends[0].reason.message
        return None
    return fold_parts(parts)


def refusal_of(parts: Sequence[StreamPart]) -> str | None:
    """The kind of error that the fold makes of the parts, if any."""
    try:
        checked(parts)
    except ModelError as error:
        return error.reason.kind
    return None


def test_every_protocol_is_tried() -> None:
    assert sorted(SAMPLES) == [entry.name for entry in PROTOCOLS]
    for protocol, events in STREAMS.values():
        assert checked(read(protocol, events)) is not None


@st.composite
def changed(draw: st.DrawFn, events: tuple[bytes, ...]) -> list[bytes]:
    """The events, with some left out, doubled, moved, garbled, or others of their kind."""
    found = list(events)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(found) - 1)) if found else 0
        match (
            draw(st.sampled_from(["drop", "twice", "move", "byte", "cut", "odd"])) if found else ""
        ):
            case "drop":
                del found[at]
            case "twice":
                found.insert(draw(st.integers(0, len(found))), found[at])
            case "move":
                found.insert(draw(st.integers(0, len(found) - 1)), found.pop(at))
            case "byte":
                event = bytearray(found[at])
                event[draw(st.integers(0, len(event) - 1))] = draw(st.integers(0, 255))
                found[at] = bytes(event)
            case "cut":
                found[at] = found[at][: draw(st.integers(0, len(found[at])))]
            case _:
                odd = draw(
                    st.sampled_from([b"{}", b"null", b'{"type":"news"}', b"[DONE]", b"\xff"])
                )
                found.insert(at, b"data: " + odd + b"\n\n")
    return found


@given(data=st.data(), name=names)
def test_a_changed_stream_is_a_reply_or_a_typed_error_however_it_is_cut(
    data: st.DataObject, name: str
) -> None:
    protocol, events = STREAMS[name]
    found = data.draw(changed(events))
    stream = b"".join(found)
    size = data.draw(st.integers(1, 200))

    parts = read(protocol, found)

    # The fold refuses what a decoder lets pass; that is a typed error as well.
    assert refusal_of(parts) in {None, "protocol"}
    assert read(protocol, [stream[at : at + size] for at in range(0, len(stream), size)]) == parts


@given(data=st.data(), name=names)
def test_a_cut_stream_is_never_another_reply(data: st.DataObject, name: str) -> None:
    protocol, events = STREAMS[name]
    stream = b"".join(events)
    whole = checked(read(protocol, events))
    assert whole is not None

    reply = checked(read(protocol, [stream[: data.draw(st.integers(0, len(stream) - 1))]]))

    assert reply is None or (reply.content, reply.finish_reason) == (
        whole.content,
        whole.finish_reason,
    )


@pytest.mark.parametrize("name", sorted(STREAMS))
def test_an_event_without_an_end_is_given_up_in_bounded_memory(name: str) -> None:
    protocol, events = STREAMS[name]
    entry = protocol_named(protocol)
    decoder = entry.load().decoder(entry.provider)
    is_binary = events[0].startswith(b"\0")
    size = (2**31).to_bytes(4, "big")
    chunk = b"x" * 65_536
    start = size + bytes(8) if is_binary else events[0][:-2]
    parts = list(decoder.feed(start))
    tracemalloc.start()
    fed = 0
    while not decoder.is_done and fed < 64 * MEGABYTE:
        parts += decoder.feed(chunk)
        fed += len(chunk)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    last = parts[-1]
    assert isinstance(last, StreamError)
    assert last.reason.kind == "protocol"
    assert fed <= 9 * MEGABYTE
    assert peak < 20 * MEGABYTE


@pytest.mark.parametrize("name", sorted(STREAMS))
def test_a_stream_without_an_end_that_says_nothing_keeps_nothing(name: str) -> None:
    protocol, events = STREAMS[name]
    entry = protocol_named(protocol)
    decoder = entry.load().decoder(entry.provider)
    decoder.feed(events[0])
    idle = b'data: {"type":"ping"}\n\n'
    if events[0].startswith(b"\0"):
        idle = aws_message({":event-type": "ping", ":message-type": "event"}, b"{}")
    tracemalloc.start()
    for _ in range(2_000):
        decoder.feed(idle)
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(20_000):
        decoder.feed(idle)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert not decoder.is_done
    assert after - before < 65_536
