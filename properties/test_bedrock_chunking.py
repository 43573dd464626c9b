"""However a network cuts or damages what Bedrock sends, it is the same reply, or none."""

import json
from collections.abc import Sequence

from botocore.eventstream import EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

from properties._chunks import cut
from stepfold.loop import fold_parts
from stepfold.providers.bedrock_converse import converse_decoder, decode_reply
from stepfold.transport import AwsMessage, AwsMessageDecoder, aws_message
from stepfold.values import Finish, ModelError, StreamError, StreamPart, Success

Json = dict[str, object]

words = st.text(st.characters(codec="utf-8"), max_size=6)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
objects = st.dictionaries(st.text(max_size=3), st.one_of(st.integers(), st.text(max_size=3)))
ids = st.sampled_from(["", "a", "b"])
locations = st.sampled_from(
    [{"web": {"url": "https://a"}}, {"documentPage": {}}, {"documentChar": {}}, {}]
)
citations = st.fixed_dictionaries({"title": names, "location": locations})
blocks: st.SearchStrategy[Json] = st.one_of(
    st.fixed_dictionaries({"text": words}),
    st.builds(
        lambda text, cited: {"citationsContent": {"content": [{"text": text}], "citations": cited}},
        words,
        st.lists(citations, min_size=1, max_size=2),
    ),
    st.builds(
        lambda text, signature: {
            "reasoningContent": {"reasoningText": {"text": text, "signature": signature}}
        },
        words,
        names,
    ),
    st.just({"reasoningContent": {"redactedContent": "cg=="}}),
    st.builds(
        lambda call_id, name, arguments, kind: {
            "toolUse": {"toolUseId": call_id, "name": name, "input": arguments, **kind}
        },
        ids,
        names,
        objects,
        st.sampled_from([{}, {"type": "server_tool_use"}]),
    ),
    st.builds(
        lambda call_id, status: {
            "toolResult": {"toolUseId": call_id, "status": status, "content": [{"text": "x"}]}
        },
        ids,
        st.sampled_from(["success", "error"]),
    ),
    st.just({"image": {"format": "png", "source": {"bytes": "aGkh"}}}),
)
contents = st.lists(blocks, max_size=5)
reasons = st.sampled_from(["end_turn", "tool_use", "max_tokens", "news"])
cuts = st.lists(st.integers(0, 2_000), max_size=8)
messages = st.lists(
    st.tuples(
        st.dictionaries(names, words, max_size=3).filter(
            lambda headers: all(len(name.encode()) < 256 for name in headers)
        ),
        st.binary(max_size=20),
    ),
    max_size=4,
)


def decode(chunks: Sequence[bytes]) -> list[StreamPart]:
    decoder = converse_decoder("bedrock")
    return [*(part for chunk in chunks for part in decoder.feed(chunk)), *decoder.end()]


def read(chunks: Sequence[bytes]) -> tuple[list[AwsMessage], str | None]:
    """The messages, and what is wrong with what follows them."""
    decoder = AwsMessageDecoder(10_000)
    found: list[AwsMessage] = []
    try:
        for chunk in chunks:
            found += decoder.feed(chunk)
        decoder.end()
    except ModelError as error:
        return found, f"{error.reason.kind} {error.reason.message}"
    return found, None


@given(sent=messages, points=cuts)
def test_messages_are_those_that_the_official_client_reads(
    sent: list[tuple[dict[str, str], bytes]], points: list[int]
) -> None:
    stream = b"".join(aws_message(headers, payload) for headers, payload in sent)
    theirs = EventStreamBuffer()
    theirs.add_data(stream)

    found, fault = read(cut(stream, points))

    assert fault is None
    assert [(dict(m.headers), m.payload) for m in found] == sent
    expected: list[object] = [(m.headers, m.payload) for m in theirs]
    assert expected == sent


@given(
    sent=messages.filter(bool),
    points=cuts,
    place=st.integers(0, 10_000),
    change=st.integers(1, 255),
)
def test_a_changed_byte_is_found_in_its_message_and_messages_before_it_stand(
    sent: list[tuple[dict[str, str], bytes]], points: list[int], place: int, change: int
) -> None:
    whole = [aws_message(headers, payload) for headers, payload in sent]
    stream = bytearray(b"".join(whole))
    place %= len(stream)
    stream[place] ^= change
    before, begins = 0, 0
    while begins + len(whole[before]) <= place:
        begins += len(whole[before])
        before += 1

    found, fault = read(cut(bytes(stream), points))

    assert len(found) == before
    assert fault is not None
    assert fault.startswith("protocol ")
    assert f"at byte {begins}:" in fault


def events_of(block: Json, index: int) -> list[Json]:
    """A block as the events of a stream, in as many pieces as it can come in."""
    at = {"contentBlockIndex": index}

    def delta(**members: object) -> Json:
        return {"contentBlockDelta": {**at, "delta": members}}

    found: list[Json] = []
    match block:
        case {"text": str(text)}:
            found = [delta(text=letter) for letter in text] or [delta(text="")]
        case {"citationsContent": {"content": [{"text": str(text)}], "citations": list(cited)}}:
            found = [delta(text=text), *(delta(citation=citation) for citation in cited)]
        case {"reasoningContent": {"reasoningText": {"text": str(text), "signature": signature}}}:
            found = [delta(reasoningContent={"text": letter}) for letter in text]
            found.append(delta(reasoningContent={"signature": signature}))
        case {"reasoningContent": sealed}:
            found = [delta(reasoningContent=sealed)]
        case {"toolUse": dict(used)}:
            text = json.dumps(used["input"], ensure_ascii=False, separators=(",", ":"))
            start = {name: value for name, value in used.items() if name != "input"}
            found = [{"contentBlockStart": {**at, "start": {"toolUse": start}}}]
            found += [delta(toolUse={"input": letter}) for letter in text]
        case {"toolResult": dict(result)}:
            start = {name: value for name, value in result.items() if name != "content"}
            found = [{"contentBlockStart": {**at, "start": {"toolResult": start}}}]
            found.append(delta(toolResult=result["content"]))
        case _:
            found = [{"contentBlockStart": {**at, "start": {"image": {"format": "png"}}}}]
            found.append(delta(image={"source": {"bytes": "aGkh"}}))
    return [*found, {"contentBlockStop": at}]


def binary(events: Sequence[Json]) -> bytes:
    return b"".join(
        aws_message({":event-type": name, ":message-type": "event"}, json.dumps(value).encode())
        for event in events
        for name, value in event.items()
    )


def text(events: Sequence[Json]) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)


@given(content=contents, reason=reasons, points=cuts)
def test_a_reply_in_pieces_is_the_reply_in_one(
    content: list[Json], reason: str, points: list[int]
) -> None:
    usage = {"inputTokens": 1, "outputTokens": 2}
    body = {"output": {"message": {"content": content}}, "stopReason": reason, "usage": usage}
    events: list[Json] = [{"messageStart": {"role": "assistant"}}]
    for index, block in enumerate(content):
        events += events_of(block, index)
    events += [{"messageStop": {"stopReason": reason}}, {"metadata": {"usage": usage}}]

    whole = decode_reply(json.dumps(body).encode(), "bedrock")
    streamed = decode(cut(binary(events), points))

    assert isinstance(whole, Success)
    assert fold_parts(streamed) == whole.unwrap()
    assert decode(cut(text(events), points)) == streamed


@given(stream=st.binary(max_size=60), points=cuts)
def test_nothing_that_comes_raises_and_cuts_change_nothing(
    stream: bytes, points: list[int]
) -> None:
    event = aws_message({":event-type": "contentBlockDelta", ":message-type": "event"}, stream)
    for framed in (stream, b"\0" + stream, event, b"data: " + stream + b"\n\n"):
        seen = decode([framed])
        assert decode(cut(framed, points)) == seen
        assert isinstance(seen[-1], Finish | StreamError)


@given(content=st.lists(st.one_of(blocks, objects, st.just({"toolUse": {}})), max_size=4))
def test_a_body_of_any_content_is_a_reply_or_says_why_not(content: list[Json]) -> None:
    body = {"output": {"message": {"content": content}}, "stopReason": "end_turn"}
    decode_reply(json.dumps(body).encode(), "bedrock")
