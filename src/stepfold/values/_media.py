"""What files are, as far as their first bytes and `data:` addresses show."""

import binascii
from base64 import b64decode
from typing import Final
from urllib.parse import unquote_to_bytes

from stepfold.values._outcome import Failure, Outcome, Success

# By what stands at the start, and for containers at another place as well.
_SIGNATURES: Final[tuple[tuple[str, bytes, int, bytes], ...]] = (
    ("image/png", b"\x89PNG\r\n\x1a\n", 0, b""),
    ("image/jpeg", b"\xff\xd8\xff", 0, b""),
    ("image/gif", b"GIF8", 0, b""),
    ("image/webp", b"RIFF", 8, b"WEBP"),
    ("image/bmp", b"BM", 0, b""),
    ("image/tiff", b"II*\x00", 0, b""),
    ("image/tiff", b"MM\x00*", 0, b""),
    ("image/avif", b"", 4, b"ftypavif"),
    ("image/heic", b"", 4, b"ftypheic"),
    ("application/pdf", b"%PDF-", 0, b""),
    ("audio/wav", b"RIFF", 8, b"WAVE"),
    ("audio/mpeg", b"ID3", 0, b""),
    ("audio/mpeg", b"\xff\xfb", 0, b""),
    ("audio/mpeg", b"\xff\xf3", 0, b""),
    ("audio/mpeg", b"\xff\xf2", 0, b""),
    ("audio/flac", b"fLaC", 0, b""),
    ("audio/ogg", b"OggS", 0, b""),
    ("audio/mp4", b"", 4, b"ftypM4A"),
    ("video/mp4", b"", 4, b"ftyp"),
    ("video/webm", b"\x1aE\xdf\xa3", 0, b""),
)


def media_type_of(data: bytes) -> str | None:
    """The IANA type that the first bytes show: of images, sound, video and PDF; else `None`."""
    for media_type, start, offset, inner in _SIGNATURES:
        if data.startswith(start) and data.startswith(inner, offset):
            return media_type
    return None


def parse_data_url(url: str) -> Outcome[tuple[str | None, bytes], str]:
    """The media type of a `data:` address, if it names one, and its content; or what is wrong."""
    head, comma, body = url.removeprefix("data:").partition(",")
    if not comma:
        return Failure("it has no comma before its content")
    *parameters, last = head.split(";")
    is_base64 = bool(parameters) and last.strip().lower() == "base64"
    media_type = head.partition(";")[0].strip().lower() or None
    content = unquote_to_bytes(body)
    if not is_base64:
        return Success((media_type, content))
    try:
        return Success((media_type, b64decode(content, validate=True)))
    except binascii.Error:
        return Failure("its content is no base64")
