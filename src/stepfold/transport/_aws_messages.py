"""Amazon's binary event stream (`application/vnd.amazon.eventstream`), without I/O.

A message is, with all numbers big-endian:

    total length (4)  headers' length (4)  CRC-32 of these eight bytes (4)
    headers: length of the name (1), name, type of the value (1), value
    payload
    CRC-32 of everything before (4)

Both checksums are checked before anything is believed. Whatever is wrong ends the stream with a
`ModelError` of kind `protocol` that says at which byte the damaged message begins.

Time is linear in the bytes: a message in many chunks is joined when its end has come.
"""

from binascii import crc32
from collections.abc import Mapping
from typing import Final, TypeAlias, final

from attrs import field, frozen

from stepfold.values import ModelError, ModelErrorReason

DEFAULT_MESSAGE_LIMIT: Final = 25_165_824
_PRELUDE: Final = 12
_AROUND: Final = 16
_MOST_HEADERS: Final = 131_072

HeaderValue: TypeAlias = bool | int | bytes | str
"""The value of a header: an instant is its number of milliseconds, a UUID its 16 bytes."""

_NUMBER_SIZES: Final = {2: 1, 3: 2, 4: 4, 5: 8, 8: 8}


@final
@frozen(order=False)
class AwsMessage:
    """One message; `offset` is that of its first byte in the stream."""

    headers: tuple[tuple[str, HeaderValue], ...]
    payload: bytes = field(repr=lambda payload: f"<{len(payload)} bytes>")
    offset: int = 0

    def text(self, name: str) -> str | None:
        """A header that is a text; the last of several of one name."""
        for known, value in reversed(self.headers):
            if known == name:
                return value if isinstance(value, str) else None
        return None


def aws_message(headers: Mapping[str, str], payload: bytes = b"") -> bytes:
    """A message with headers that are texts, as a server sends it."""
    said = b"".join(
        b"%c%b\x07%b%b" % (len(name), name, len(value).to_bytes(2, "big"), value)
        for name, value in ((n.encode(), v.encode()) for n, v in headers.items())
    )
    sizes = _AROUND + len(said) + len(payload), len(said)
    prelude = b"".join(size.to_bytes(4, "big") for size in sizes)
    whole = prelude + _checksum(prelude) + said + payload
    return whole + _checksum(whole)


def _checksum(data: bytes) -> bytes:
    return crc32(data).to_bytes(4, "big")


@final
class AwsMessageDecoder:
    """Decodes messages chunk by chunk; any chunking gives the same messages.

    Where a message is damaged, or longer than `limit` bytes, the call that meets it returns the
    messages before it, and the next call raises; where there are none, the call itself raises.
    """

    __slots__ = ("_fault", "_limit", "_needed", "_offset", "_pieces", "_size")

    def __init__(self, limit: int = DEFAULT_MESSAGE_LIMIT) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._needed = _PRELUDE
        self._offset = 0
        self._fault: ModelErrorReason | None = None

    def feed(self, chunk: bytes) -> tuple[AwsMessage, ...]:
        """The messages that this chunk completes.

        Raises:
            ModelError: of kind `protocol`, at a message that is damaged or too long.
        """
        if self._fault is not None:
            raise ModelError(self._fault)
        if chunk:
            self._pieces.append(chunk)
            self._size += len(chunk)
        if self._size < self._needed:
            return ()
        data = b"".join(self._pieces)
        found: list[AwsMessage] = []
        at = 0
        try:
            while len(data) - at >= self._needed:
                if self._needed == _PRELUDE:
                    self._needed = self._length(data[at : at + _PRELUDE])
                    continue
                found.append(_message(data[at : at + self._needed], self._offset))
                at += self._needed
                self._offset += self._needed
                self._needed = _PRELUDE
        except _Damage as damage:
            self._fault = ModelErrorReason(
                "protocol", f"the event stream is damaged at byte {self._offset}: {damage}"
            )
        self._pieces = [data[at:]] if self._fault is None and at < len(data) else []
        self._size = len(data) - at
        if self._fault is not None and not found:
            raise ModelError(self._fault)
        return tuple(found)

    def end(self) -> None:
        """No more bytes come.

        Raises:
            ModelError: of kind `protocol`, if that is in the middle of a message, or if the last
                message was damaged.
        """
        if self._fault is None and self._size:
            self._fault = ModelErrorReason(
                "protocol",
                f"the event stream ended {self._size} bytes into the message at byte "
                f"{self._offset}",
            )
        if self._fault is not None:
            raise ModelError(self._fault)

    def _length(self, prelude: bytes) -> int:
        total, headers = _number(prelude[:4]), _number(prelude[4:8])
        if _checksum(prelude[:8]) != prelude[8:]:
            raise _Damage("the checksum of the lengths is wrong")
        if headers > min(total - _AROUND, _MOST_HEADERS):
            raise _Damage(f"{headers} bytes of headers in a message of {total}")
        if total > self._limit:
            raise _Damage(f"a message of {total} bytes, where {self._limit} are the most")
        return total


class _Damage(Exception):
    """What is wrong with a message."""


def _number(data: bytes, *, signed: bool = False) -> int:
    return int.from_bytes(data, "big", signed=signed)


def _message(data: bytes, offset: int) -> AwsMessage:
    if _checksum(data[:-4]) != data[-4:]:
        raise _Damage("the checksum of the message is wrong")
    end = _PRELUDE + _number(data[4:8])
    return AwsMessage(_headers(data[_PRELUDE:end]), data[end:-4], offset)


def _headers(data: bytes) -> tuple[tuple[str, HeaderValue], ...]:
    found: list[tuple[str, HeaderValue]] = []
    rest = data
    while rest:
        name, rest = _taken(rest[1:], rest[0])
        kind, rest = _taken(rest, 1)
        value, rest = _value(kind[0], rest)
        found.append((name.decode("utf-8", "replace"), value))
    return tuple(found)


def _value(kind: int, rest: bytes) -> tuple[HeaderValue, bytes]:
    if kind in {0, 1}:
        return kind == 0, rest
    if kind in _NUMBER_SIZES:
        number, rest = _taken(rest, _NUMBER_SIZES[kind])
        return _number(number, signed=True), rest
    if kind in {6, 7}:
        size, rest = _taken(rest, 2)
        value, rest = _taken(rest, _number(size))
        return value.decode("utf-8", "replace") if kind == 7 else value, rest
    if kind == 9:
        return _taken(rest, 16)
    raise _Damage(f"a header of the unknown type {kind}")


def _taken(data: bytes, size: int) -> tuple[bytes, bytes]:
    if len(data) < size:
        raise _Damage("a header is cut off")
    return data[:size], data[size:]
