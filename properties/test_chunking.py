"""However a network cuts a reply into chunks, it is the same reply."""

import json
from collections.abc import Sequence

import attrs
from hypothesis import given
from hypothesis import strategies as st

from properties._chunks import cut
from stepfold.loop import fold_parts
from stepfold.providers.openai_chat import chat_decoder, decode_reply
from stepfold.transport import SseDecoder, SseEvent
from stepfold.values import (
    Finish,
    ModelError,
    ModelErrorReason,
    StreamError,
    StreamPart,
    Success,
    succeeded,
)

Seen = tuple[list[SseEvent], ModelErrorReason | None, int | None]

# Mostly what event streams are made of, so that short examples reach every rule.
_pieces = st.sampled_from(
    [
        *(b"data", b": ", b":", b"event", b"id", b"retry", b"data: ", b"data: x\n\n"),
        *(b"\n", b"\r", b"\r\n", b"\n\n", b"7", b"x", b"\0"),
        *(b"\xef\xbb\xbf", b"\xef\xbb", "é€😀".encode(), b"\xff"),
    ]
)
streams = st.lists(st.one_of(_pieces, st.binary(max_size=3)), max_size=30).map(b"".join)


cuts = st.lists(st.integers(0, 120), max_size=20)


def decode(chunks: Sequence[bytes], limit: int) -> Seen:
    decoder = SseDecoder(limit)
    events: list[SseEvent] = []
    try:
        for chunk in chunks:
            events += decoder.feed(chunk)
        events += decoder.end()
    except ModelError as error:
        return events, error.reason, decoder.retry
    return events, None, decoder.retry


def lines_of(stream: bytes) -> list[str]:
    text = stream.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def by_the_standard(stream: bytes) -> list[SseEvent]:
    """Follow the algorithm of the HTML standard line by line, with our rule for the end."""
    events: list[SseEvent] = []
    data: list[str] = []
    kind, last_id = "", ""
    for line in [*lines_of(stream), ""]:
        if not line:
            if data:
                events.append(SseEvent("\n".join(data), kind or "message", last_id))
            data, kind = [], ""
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "event":
            kind = value
        elif name == "id" and "\0" not in value:
            last_id = value
    return events


@given(streams, cuts)
def test_any_chunking_gives_the_same_events(stream: bytes, points: list[int]) -> None:
    assert decode(cut(stream, points), 10_000) == decode([stream], 10_000)


@given(streams, cuts, st.integers(1, 12))
def test_any_chunking_meets_the_limit_at_the_same_event(
    stream: bytes, points: list[int], limit: int
) -> None:
    events, reason, _ = decode(cut(stream, points), limit)

    assert (events, reason) == decode([stream], limit)[:2]


@given(streams)
def test_byte_by_byte_gives_the_same_events(stream: bytes) -> None:
    assert decode([bytes([byte]) for byte in stream], 10_000) == decode([stream], 10_000)


@given(streams)
def test_the_events_are_those_of_the_standard(stream: bytes) -> None:
    assert decode([stream], 10_000)[0] == by_the_standard(stream)


# --- chat completions -------------------------------------------------------------------------

# The second half of a surrogate pair: alone it has no UTF-8 form, whatever stands beside it.
letters = st.one_of(st.characters(codec="utf-8"), st.just("\udc00"))
words = st.text(letters, max_size=6)
some_words = st.text(letters, min_size=1, max_size=6)
arguments = st.one_of(st.just('{"a": [1, 2.0]}'), st.text(letters, max_size=12))
call_ids = st.one_of(st.sampled_from(["", " ", "a", "b", "call-1"]), some_words)
calls = st.lists(st.tuples(call_ids, some_words.filter(str.strip), arguments), max_size=3)
usages = st.fixed_dictionaries(
    {"prompt_tokens": st.integers(0, 99), "completion_tokens": st.integers(0, 99)},
    optional={
        "prompt_tokens_details": st.fixed_dictionaries({"cached_tokens": st.integers(0, 9)}),
        "completion_tokens_details": st.fixed_dictionaries({"reasoning_tokens": st.integers(0, 9)}),
    },
)


@attrs.frozen
class Said:
    """A reply, before it is written in either form."""

    reasoning: str
    text: str
    refusal: str
    calls: list[tuple[str, str, str]]
    usage: dict[str, object]
    finish_reason: str
    fingerprint: str | None

    def described(self) -> dict[str, object]:
        named = {"id": "i", "model": "m", "created": 17}
        return named if self.fingerprint is None else {**named, "system_fingerprint": "fp"}

    def whole(self) -> bytes:
        message = {
            "content": self.text or None,
            "reasoning_content": self.reasoning,
            "refusal": self.refusal or None,
            "tool_calls": [
                {"id": call_id, "function": {"name": name, "arguments": text}}
                for call_id, name, text in self.calls
            ],
        }
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        return json.dumps({**self.described(), "choices": [choice], "usage": self.usage}).encode()

    def events(self, data: st.DataObject) -> bytes:
        deltas: list[dict[str, object]] = [{"role": "assistant", "content": ""}]
        for name, text in (
            ("reasoning_content", self.reasoning),
            ("content", self.text),
            ("refusal", self.refusal),
        ):
            deltas += [{name: piece} for piece in pieces(data, text)]
        for index, (call_id, name, text) in enumerate(self.calls):
            first = {"index": index, "id": call_id, "function": {"name": name}}
            deltas.append({"tool_calls": [first]})
            deltas += [
                {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
                for piece in pieces(data, text)
            ]
        choices: list[dict[str, object]] = [{"index": 0, "delta": delta} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": self.finish_reason})
        chunks: list[dict[str, object]] = [
            {**self.described(), "choices": [choice]} for choice in choices
        ]
        chunks.append({**self.described(), "choices": [], "usage": self.usage})
        lines = [json.dumps(chunk) for chunk in chunks]
        if "\\udc00" not in "".join(lines) and data.draw(st.booleans()):
            lines = [json.dumps(chunk, ensure_ascii=False) for chunk in chunks]
        end = data.draw(st.sampled_from(["\n\n", "\r\n\r\n", "\r\r", "\n\n: ping\n\n"]))
        events = [f"data: {line}{end}" for line in lines]
        if data.draw(st.booleans()):
            events.append(f"data: [DONE]{end}")
        return "".join(events).encode()


def pieces(data: st.DataObject, text: str) -> list[str]:
    """Cut a text into pieces, not one of them empty."""
    points = sorted(data.draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=3)))
    ends = [*points, len(text)]
    cuts_of_it = zip([0, *points], ends, strict=True)
    return [text[start:end] for start, end in cuts_of_it if text[start:end]]


replies = st.builds(
    Said,
    words,
    words,
    st.one_of(st.just(""), words),
    calls,
    usages,
    st.sampled_from(["stop", "tool_calls", "length", "eos"]),
    st.sampled_from([None, "fp"]),
)


def stream_parts(chunks: Sequence[bytes]) -> list[StreamPart]:
    decoder = chat_decoder("p", headers=(("x-a", "1"),))
    parts = [part for chunk in chunks for part in decoder.feed(chunk)]
    return [*parts, *decoder.end()]


@given(replies, st.data(), cuts)
def test_a_streamed_reply_is_the_reply_in_one_piece(
    said: Said, data: st.DataObject, points: list[int]
) -> None:
    whole = decode_reply(said.whole(), "p", headers=(("x-a", "1"),))
    chunks = cut(said.events(data), points)

    assert Success(fold_parts(stream_parts(chunks))) == whole


@given(replies, st.data(), st.integers(1, 50))
def test_any_chunking_gives_the_same_parts(said: Said, data: st.DataObject, size: int) -> None:
    events = said.events(data)
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(events)))
        events = events[:at] + data.draw(st.binary(max_size=4)) + events[at + 3 :]
    chunks = [events[at : at + size] for at in range(0, len(events), size)]

    assert stream_parts(chunks) == stream_parts([events])


@given(st.one_of(st.binary(), streams), cuts)
def test_no_bytes_make_the_decoder_raise(stream: bytes, points: list[int]) -> None:
    parts = stream_parts(cut(stream, points))

    assert parts == stream_parts([stream])
    assert isinstance(parts[-1], Finish | StreamError)


json_documents: st.SearchStrategy[object] = st.recursive(
    st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["choices", "message", "content", "usage", "error", "created"]), inner
        ),
    ),
)


@given(st.one_of(st.binary(), json_documents.map(json.dumps).map(str.encode)))
def test_no_body_makes_the_decoder_raise(body: bytes) -> None:
    outcome = decode_reply(body, "p")

    assert succeeded(outcome) or outcome.failure().message
