"""`stepfold decode`: what a provider sent, as the values that the codec makes of it."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import evolve

from stepfold.cli._lines import write_line
from stepfold.cli._screen import Screen
from stepfold.codec import JsonTree, to_json
from stepfold.loop import ReplyFold
from stepfold.providers import WireDecoder, protocol_named
from stepfold.values import (
    Failure,
    FinishReason,
    ModelError,
    ModelErrorReason,
    ModelReply,
    Outcome,
    StreamError,
    StreamPart,
    Success,
    UsageError,
    dump_json,
)

_BLANK_LINE: Final = re.compile(rb"(?:\r\n|\r|\n)(?:\r\n|\r|\n)")
_FAILED: Final = FinishReason("error")


def decode_file(name: str, protocol: str, *, is_stream: bool, screen: Screen) -> int:
    """Write what a file holds as JSON lines, and give the exit code; `-` is standard input.

    Raises:
        UsageError: there is no such protocol, or the file cannot be read.
        OutputClosed: nobody reads what is written any more.
    """
    entry = protocol_named(protocol)
    data = _read(name)
    codec = entry.load()
    if is_stream:
        return _decode_stream(codec.decoder(entry.provider), data, screen)
    return _tell_body(codec.decode(data, entry.provider), data, screen)


def _read(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror or error}") from error


# --- a body -----------------------------------------------------------------------------------


def _tell_body(decoded: Outcome[ModelReply, ModelErrorReason], data: bytes, screen: Screen) -> int:
    match decoded:
        case Success(reply):
            _write(to_json(reply))
        case Failure(reason):
            if reason.kind == "protocol":
                screen.complain(f"byte {_offset_of_fault(data)}: {reason.message}")
                return 1
            _write_error(reason)
            _write(to_json(ModelReply((), _FAILED)))
    return 0


def _offset_of_fault(data: bytes) -> int:
    """Where a body stops being JSON; 0 where it is JSON, but of another form."""
    text = data.decode("utf-8", "replace")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return len(text[: error.pos].encode("utf-8", "replace"))
    except RecursionError:
        return 0
    return 0


# --- a stream ---------------------------------------------------------------------------------


def _decode_stream(decoder: WireDecoder, data: bytes, screen: Screen) -> int:
    fold = ReplyFold()
    place = "line 1"
    for place, piece in _fed_pieces(data):
        ended = _take(decoder.feed(piece), fold, place, screen)
        if ended is not None:
            return ended
    ended = _take(decoder.end(), fold, place, screen)
    if ended is not None:
        return ended
    _write(to_json(fold.reply()))
    return 0


def _fed_pieces(data: bytes) -> Iterator[tuple[str, bytes]]:
    """What a decoder is to be given, piece by piece, each with its place.

    Text begins with no zero; binary messages do, and with their own length.
    """
    if not data.startswith(b"\0"):
        for number, line in enumerate(_fed_lines(data), start=1):
            yield f"line {number}", line
        return
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        yield f"byte {at}", data[at : at + max(size, 4)]
        at += max(size, 4)


def _fed_lines(data: bytes) -> Iterator[bytes]:
    """Each line as a decoder of event streams is to be given it.

    Without any empty line, each line is an event of its own: bare JSON, or after `data:`.
    """
    lines = data.removeprefix(b"\xef\xbb\xbf").splitlines()
    first = next((line for line in lines if line.strip()), b"")
    is_json = first.lstrip()[:1] in {b"{", b"["}
    is_framed = not is_json and _BLANK_LINE.search(data.strip()) is not None
    for line in lines:
        if is_framed:
            yield line + b"\n"
        elif not line.strip():
            yield b"\n"
        elif is_json:
            yield b"data: " + line + b"\n\n"
        else:
            yield line + (b"\n\n" if line.startswith(b"data:") else b"\n")


def _take(parts: tuple[StreamPart, ...], fold: ReplyFold, place: str, screen: Screen) -> int | None:
    """Write parts; the exit code, where they end what can be read."""
    for part in parts:
        if isinstance(part, StreamError):
            if part.reason.kind == "protocol":
                screen.complain(f"{place}: {part.reason.message}")
                return 1
            _write_error(part.reason)
            _write(to_json(evolve(fold.partial(), finish_reason=_FAILED)))
            return 0
        try:
            shown = fold.add(part)
        except ModelError as error:
            screen.complain(f"{place}: {error.reason.message}")
            return 1
        _write(to_json(shown))
    return None


# --- lines ------------------------------------------------------------------------------------


def _write_error(reason: ModelErrorReason) -> None:
    told = to_json(reason)
    told = {"reason": told["kind"], "is_retryable": reason.is_retryable, **told}
    del told["type"], told["kind"]
    _write({"type": "error", "error": told})


def _write(tree: JsonTree) -> None:
    write_line(dump_json(tree).encode())
