import pytest

from stepfold.transport import SseDecoder, SseEvent
from stepfold.values import ModelError


def events_of(*chunks: bytes) -> list[SseEvent]:
    decoder = SseDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return [*events, *decoder.end()]


def test_an_event_is_given_with_the_chunk_that_ends_it() -> None:
    decoder = SseDecoder()

    assert decoder.feed(b"data: a\n") == ()
    assert decoder.feed(b"\ndata: b\n\nda") == (SseEvent("a"), SseEvent("b"))
    assert decoder.feed(b"ta: c\n\n") == (SseEvent("c"),)


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lines_end_in_three_ways(end: bytes) -> None:
    stream = end.join([b"event: tick", b"data: a", b"data:b", b"", b"data: c", b"", b""])

    assert events_of(stream) == [SseEvent("a\nb", "tick"), SseEvent("c")]


def test_a_line_end_may_be_cut_in_two() -> None:
    assert events_of(b"data: a\r", b"\n\r", b"\ndata: b\r", b"\r") == [SseEvent("a"), SseEvent("b")]


def test_comments_and_unknown_fields_are_nothing() -> None:
    assert events_of(b": hello\n\nfoo: bar\ndata: a\n: inside\nnot a field\n\n:\n\n") == [
        SseEvent("a")
    ]


def test_an_event_without_data_is_none_and_its_type_is_forgotten() -> None:
    assert events_of(b"event: x\n\ndata: a\n\n") == [SseEvent("a")]


def test_data_without_a_colon_is_an_empty_line() -> None:
    assert events_of(b"data\n\ndata\ndata\n\ndata:\n\n") == [
        SseEvent(""),
        SseEvent("\n"),
        SseEvent(""),
    ]


def test_one_space_is_dropped_after_the_colon() -> None:
    assert events_of(b"data:  a\n\n") == [SseEvent(" a")]


def test_the_last_id_stays_and_one_with_a_null_is_ignored() -> None:
    stream = b"id: 1\ndata: a\n\ndata: b\n\nid: 2\0\ndata: c\n\nid\ndata: d\n\n"

    assert [event.id for event in events_of(stream)] == ["1", "1", "1", ""]


@pytest.mark.parametrize(
    ("said", "retry"), [(b"1500", 1500), (b"1.5", None), (b"", None), (b"9" * 30, None)]
)
def test_retry_is_digits_only(said: bytes, retry: int | None) -> None:
    decoder = SseDecoder()
    decoder.feed(b"retry: " + said + b"\n\n")

    assert decoder.retry == retry


def test_a_byte_order_mark_is_dropped_once() -> None:
    mark = b"\xef\xbb\xbf"

    assert events_of(mark[:1], mark[1:], b"data: a\n\n") == [SseEvent("a")]
    assert events_of(mark + mark + b"data: a\n\ndata: b\n\n") == [SseEvent("b")]


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    assert events_of(b"data: \xff\xed\xa0\x80!\n\n") == [SseEvent("\ufffd" * 4 + "!")]


def test_a_character_may_be_cut_in_two() -> None:
    euro = "€".encode()

    assert events_of(b"data: " + euro[:1], euro[1:] + b"\n\n") == [SseEvent("€")]


def test_an_event_that_lacks_its_last_line_is_given_at_the_end() -> None:
    assert events_of(b"data: a\n\ndata: b") == [SseEvent("a"), SseEvent("b")]
    assert events_of(b"data: a\n") == [SseEvent("a")]
    assert events_of(b"event: x\n") == []


def test_an_oversized_event_ends_the_stream_after_those_before_it() -> None:
    decoder = SseDecoder(limit=20)

    assert decoder.feed(b"data: a\n\ndata: " + b"b" * 30) == (SseEvent("a"),)
    with pytest.raises(ModelError, match="longer than 20 bytes") as caught:
        decoder.feed(b"more")

    assert caught.value.reason.kind == "protocol"


def test_an_oversized_event_is_not_gathered_for_long() -> None:
    decoder = SseDecoder(limit=20)
    decoder.feed(b"data: 0123456789")

    with pytest.raises(ModelError):
        decoder.feed(b"0123456789")
    with pytest.raises(ModelError):
        decoder.end()


def test_after_an_oversized_event_nothing_is_read() -> None:
    decoder = SseDecoder(limit=20)

    assert decoder.feed(b"data: a\n\ndata: " + b"b" * 30 + b"\n\n") == (SseEvent("a"),)
    with pytest.raises(ModelError):
        decoder.feed(b"data: c\n\n")


def test_events_may_be_read_as_data_alone() -> None:
    assert SseDecoder().feed_data(b"data: a\n\nevent: x\ndata: b\ndata: c\n\n: d\n\n") == [
        "a",
        "b\nc",
    ]
