"""What a file is, by its first bytes or its address."""

import pytest

from stepfold.values import (
    Failure,
    File,
    FileBytes,
    FileText,
    FileUrl,
    Outcome,
    Success,
    UsageError,
    media_type_of,
    parse_data_url,
)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF....WEBPVP8 ", "image/webp"),
        (b"RIFF....WAVEfmt ", "audio/wav"),
        (b"RIFF....AVI ", None),
        (b"....ftypavif", "image/avif"),
        (b"....ftypM4A ", "audio/mp4"),
        (b"....ftypisom", "video/mp4"),
        (b"%PDF-1.7", "application/pdf"),
        (b"Hello.", None),
        (b"", None),
    ],
)
def test_the_first_bytes_show_what_a_file_is(data: bytes, media_type: str | None) -> None:
    """Whatever was said of it; text shows nothing."""
    assert media_type_of(data) == media_type


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("data:image/png;base64,aGk=", Success(("image/png", b"hi"))),
        ("data:Text/Plain;charset=utf-8,h%69%20", Success(("text/plain", b"hi "))),
        ("data:text/plain;charset=utf-8;base64,aGk%3D", Success(("text/plain", b"hi"))),
        ("data:;base64,aGk=", Success((None, b"hi"))),
        ("data:,hi", Success((None, b"hi"))),
        ("data:image/png;base64", Failure("it has no comma before its content")),
        ("data:image/png;base64,a*k=", Failure("its content is no base64")),
        ("data:image/png;base64,aG*k=", Failure("its content is no base64")),
        ("data:image/png;base64,aGk", Failure("its content is no base64")),
    ],
)
def test_a_data_url_holds_its_content(
    url: str, found: Outcome[tuple[str | None, bytes], str]
) -> None:
    """In base64, or as text whose odd characters are written in hexadecimal."""
    assert parse_data_url(url) == found


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (b"hi", FileBytes(b"hi")),
        ("https://example.org/a.png", FileUrl("https://example.org/a.png")),
        ("http://example.org/a.png", FileUrl("http://example.org/a.png")),
        ("DATA:,hi", FileUrl("DATA:,hi")),
        (FileText("hi"), FileText("hi")),
    ],
)
def test_data_of_a_file_may_be_written_short(
    given: FileText | bytes | str, kept: FileBytes | FileUrl | FileText
) -> None:
    """Bytes are a content, and a string is an address."""
    assert File(given, "image/png").data == kept


def test_a_string_that_is_no_address_is_refused() -> None:
    """It may be text or base64: only its author knows."""
    with pytest.raises(UsageError, match=r"File\.data: expected bytes, or an address"):
        File("aGVsbG8=", "image/png")
