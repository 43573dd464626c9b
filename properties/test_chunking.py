"""However a network cuts a reply into chunks, it is the same reply."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from stepfold.transport import SseDecoder, SseEvent
from stepfold.values import ModelError, ModelErrorReason

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


def cut(stream: bytes, points: Sequence[int]) -> list[bytes]:
    """Cut at the points; equal points give empty chunks."""
    ends = [*sorted(min(point, len(stream)) for point in points), len(stream)]
    starts = [0, *ends[:-1]]
    return [stream[start:end] for start, end in zip(starts, ends, strict=True)]


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
