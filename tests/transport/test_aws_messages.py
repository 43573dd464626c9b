"""Amazon's binary messages, as `botocore` reads them, and what is said of damaged ones."""

from binascii import crc32

import pytest
from botocore.eventstream import EventStreamBuffer

from stepfold.transport import AwsMessage, AwsMessageDecoder, aws_message
from stepfold.values import ModelError

HELLO = aws_message({":event-type": "hello", ":message-type": "event"}, b'{"a":1}')
# One header of each type there is.
EVERY_TYPE = b"".join(
    (
        b"\x01t\x00",
        b"\x01f\x01",
        b"\x01b\x02\xff",
        b"\x01s\x03\xff\xfe",
        b"\x01i\x04\x00\x01\x00\x00",
        b"\x01l\x05" + b"\xff" * 8,
        b"\x01x\x06\x00\x02hi",
        b"\x01w\x07\x00\x02hi",
        b"\x01d\x08" + (1_700_000_000_000).to_bytes(8, "big"),
        b"\x01u\x09" + b"0123456789abcdef",
    )
)


def framed(headers: bytes, payload: bytes = b"") -> bytes:
    sizes = 16 + len(headers) + len(payload), len(headers)
    prelude = b"".join(size.to_bytes(4, "big") for size in sizes)
    whole = prelude + crc32(prelude).to_bytes(4, "big") + headers + payload
    return whole + crc32(whole).to_bytes(4, "big")


def read_all(decoder: AwsMessageDecoder, stream: bytes) -> None:
    decoder.feed(stream)
    decoder.end()


def fault_of(stream: bytes, *, limit: int = 1_000) -> str:
    with pytest.raises(ModelError) as caught:
        read_all(AwsMessageDecoder(limit), stream)
    assert caught.value.reason.kind == "protocol"
    return caught.value.reason.message


def test_a_message_holds_headers_and_a_payload() -> None:
    (message,) = AwsMessageDecoder().feed(HELLO)

    assert message == AwsMessage(
        ((":event-type", "hello"), (":message-type", "event")), b'{"a":1}', 0
    )
    assert (message.text(":event-type"), message.text("other")) == ("hello", None)
    assert repr(message).endswith("payload=<7 bytes>, offset=0)")


def test_headers_of_every_type_are_read_as_the_official_client_reads_them() -> None:
    data = framed(EVERY_TYPE, b"x")
    theirs = EventStreamBuffer()
    theirs.add_data(data)

    (message,) = AwsMessageDecoder().feed(data)

    expected: object = theirs.next().headers
    assert expected == dict(message.headers)
    assert message.text("i") is None


def test_a_message_knows_where_it_began() -> None:
    first, second = AwsMessageDecoder().feed(HELLO + HELLO)

    assert (first.offset, second.offset) == (0, len(HELLO))


def test_messages_before_a_damaged_one_are_given() -> None:
    decoder = AwsMessageDecoder()
    found = decoder.feed(HELLO + HELLO[:-1] + b"?")

    assert len(found) == 1
    with pytest.raises(ModelError, match=f"at byte {len(HELLO)}: the checksum of the message"):
        decoder.feed(HELLO)
    with pytest.raises(ModelError, match="damaged"):
        decoder.end()


def test_an_end_between_messages_is_no_fault() -> None:
    decoder = AwsMessageDecoder()
    decoder.feed(HELLO)
    decoder.end()


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (HELLO[:-3], f"ended {len(HELLO) - 3} bytes into the message at byte 0"),
        (HELLO + HELLO[:5], f"ended 5 bytes into the message at byte {len(HELLO)}"),
        (HELLO[:8] + b"????" + HELLO[12:], "at byte 0: the checksum of the lengths is wrong"),
        (framed(b"", b"x" * 985), "a message of 1001 bytes, where 1000 are the most"),
        (framed(b"\x01a\x0a"), "a header of the unknown type 10"),
        (framed(b"\x05abc"), "a header is cut off"),
        (framed(b"\x01a\x04\x00"), "a header is cut off"),
        (framed(b"\x01a\x07\x00\x09x"), "a header is cut off"),
        (framed(b"\x01a"), "a header is cut off"),
    ],
)
def test_what_is_wrong_is_said_with_the_place(stream: bytes, message: str) -> None:
    assert message in fault_of(stream)


def test_lengths_that_cannot_be_are_refused_before_anything_is_kept() -> None:
    for total, headers in ((15, 0), (16, 1), (0, 0), (2**32 - 1, 131_073)):
        prelude = total.to_bytes(4, "big") + headers.to_bytes(4, "big")
        stream = prelude + crc32(prelude).to_bytes(4, "big")
        assert f"{headers} bytes of headers in a message of {total}" in fault_of(
            stream, limit=2**32
        )
