"""The lines of a journal in a file: what is around a record, and how a torn one is told.

    {"n":3,"at":…,"status":"running","record":{…},"crc":"6f1b2c3d"}
    {"payload":"<digest>","text":"…","crc":"0a1b2c3d"}

The first record line also has `run`, and that of a fork `parent` and `forked_at`. The checksum is
over all that comes before it. Payloads come before the record that refers to them first, and a
record counts once its line is whole.
"""

import json
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final, TypeAlias, cast, final

from attrs import frozen

from stepfold.ports import JournalRecord, RunStatus
from stepfold.values import Instant, dump_tree

_CRC: Final = b',"crc":"%08x"}\n'
_CRC_LENGTH: Final = len(_CRC % 0)
_RECORD: Final = b'"record":'
_PAYLOAD: Final = b'{"payload":'


@final
@frozen(order=False)
class RecordLine:
    """A record, and what stands around it; `end` is the offset after its line."""

    number: int
    at: Instant
    status: RunStatus
    data: bytes
    end: int
    run: str | None = None
    parent: str | None = None
    forked_at: int = 0


@final
@frozen(order=False)
class PayloadLine:
    """A big text under its digest; `end` is the offset after its line."""

    digest: str
    data: bytes
    end: int


@final
@frozen(order=False)
class BadLine:
    """A line that was not written so. `is_torn` if it can be what a crash left of a write."""

    start: int
    is_torn: bool


Line: TypeAlias = RecordLine | PayloadLine | BadLine


def _sealed(body: bytes) -> bytes:
    """A line of an object's JSON, with its checksum."""
    start = body[:-1]
    return start + _CRC % zlib.crc32(start)


def record_line(
    number: int,
    record: JournalRecord,
    *,
    run: str | None = None,
    parent: str | None = None,
    forked_at: int = 0,
) -> bytes:
    """Write the line of a record; `run` stands in the first one of a file."""
    head: dict[str, object] = {"n": number, "at": record.at, "status": record.status}
    if run is not None:
        head["run"] = run
    if parent is not None:
        head |= {"parent": parent, "forked_at": forked_at}
    start = dump_tree(head).encode()[:-1]
    return _sealed(start + b"," + _RECORD + record.data + b"}")


def payload_line(digest: str, data: bytes) -> bytes:
    """Write the line of a payload."""
    return _sealed(dump_tree({"payload": digest, "text": data.decode()}).encode())


def lines_of(file: BinaryIO, start: int = 0) -> Iterator[Line]:
    """Read lines from an offset on, up to the first that is not as it was written."""
    file.seek(start)
    for raw in file:
        end = start + len(raw)
        line = _line(raw, end)
        if line is None:
            is_last = not file.read(1)
            yield BadLine(start, is_last and (not raw.endswith(b"\n") or b"\0" in raw))
            return
        yield line
        start = end


def _line(raw: bytes, end: int) -> RecordLine | PayloadLine | None:
    body = raw[:-_CRC_LENGTH]
    if raw[-_CRC_LENGTH:] != _CRC % zlib.crc32(body):
        return None
    if body.startswith(_PAYLOAD):
        told = cast("dict[str, str]", json.loads(body + b"}"))
        return PayloadLine(told["payload"], told["text"].encode(), end)
    place = body.find(_RECORD)
    if place < 0:
        return None
    head = cast("dict[str, object]", json.loads(body[:place] + _RECORD + b"0}"))
    return RecordLine(
        cast("int", head["n"]),
        cast("int", head["at"]),
        cast("RunStatus", head["status"]),
        body[place + len(_RECORD) :],
        end,
        cast("str | None", head.get("run")),
        cast("str | None", head.get("parent")),
        cast("int", head.get("forked_at", 0)),
    )


def last_record(file: BinaryIO) -> RecordLine | None:
    """Read the last whole record of a file, from its end."""
    size = file.seek(0, 2)
    reach = 65_536
    while True:
        start = max(0, size - reach)
        file.seek(start)
        tail = file.read(size - start)
        if start:
            tail = tail.partition(b"\n")[2]
        for raw in reversed(tail.splitlines(keepends=True)):
            line = _line(raw, size)
            if isinstance(line, RecordLine):
                return line
        if not start:
            return None
        reach *= 8
