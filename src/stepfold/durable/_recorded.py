"""Recordings in a file of their own: made beside a run, and read again for `replay`."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from stepfold.durable._file import journal_in
from stepfold.durable._journal import RunJournal
from stepfold.durable._lines import payload_line, record_line
from stepfold.durable._memory import MemoryStore
from stepfold.durable._recording import Recording, decoded
from stepfold.durable._records import HeaderRecord, encode_record
from stepfold.durable._sealed import AnySeal, salt_for, sealed
from stepfold.ports import (
    JournalConflict,
    JournalDamaged,
    JournalError,
    JournalMissing,
    JournalRecord,
    JournalUnavailable,
    StoredJournal,
    StoredRun,
)
from stepfold.values import Failure, Outcome, Success


@asynccontextmanager
async def record(
    path: str | PathLike[str], *, seal: AnySeal | None = None
) -> AsyncGenerator[RunJournal]:
    """Record one run into a file: give what this yields as `journal=` to any entry point.

        async with durable.record("weather.jsonl") as journal:
            await agent.generate("Is it warm in Oslo?", journal=journal)

    The file is written when the block is left, however it is left, in the place of one that was
    there. For runs that shall survive a crash, use a store.

    Raises:
        JournalError: the file cannot be written.
    """
    store = MemoryStore()
    journal = RunJournal(store, seal=seal)
    try:
        yield journal
    finally:
        _write(path, _data_of(store))  # a short while, at the very end


def _write(path: str | PathLike[str], data: bytes) -> None:
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        problem = f"{error.strerror or error} ({path})"
        raise JournalError(JournalUnavailable("*", problem)) from error


def _data_of(store: MemoryStore) -> bytes:
    lines: list[bytes] = []
    for run, records, payloads in store.kept():
        lines += [payload_line(digest, data) for digest, data in payloads.items()]
        for number, one in enumerate(records, start=1):
            lines.append(record_line(number, one, run=run if number == 1 else None))
    return b"".join(lines)


def read_recording(
    path: str | PathLike[str], *, seal: AnySeal | None = None
) -> Outcome[Recording, JournalMissing | JournalDamaged]:
    """Read a recording, or the file of a run in a `FileStore`.

    Raises:
        JournalError: the file cannot be read.
    """
    match stored_in(path):
        case Success(stored):
            return decoded(stored, seal=seal)
        case Failure(fault):
            return Failure(fault)


def stored_in(path: str | PathLike[str]) -> Outcome[StoredJournal, JournalMissing | JournalDamaged]:
    """Read what a file holds, as a store would give it.

    Raises:
        JournalError: the file cannot be read.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            return stored_of(file, name)
    except FileNotFoundError:
        return Failure(JournalMissing(name))
    except OSError as error:
        raise JournalError(JournalUnavailable(name, error.strerror or str(error))) from error


def stored_of(file: BinaryIO, name: str) -> Outcome[StoredJournal, JournalDamaged]:
    """Read the lines of one run, whatever holds them; `name` is for what is wrong with them."""
    lines, payloads, problem = journal_in(file)
    if problem is not None:
        return Failure(JournalDamaged(name, problem))
    if not lines or lines[0].run is None:
        return Failure(JournalDamaged(name, "it holds no run: expected a file of JSON lines"))
    first, last = lines[0], lines[-1]
    told = StoredRun(
        lines[0].run,
        last.number,
        last.status,
        first.at,
        last.at,
        parent=first.parent,
        forked_at=first.forked_at,
    )
    return Success(StoredJournal(told, tuple(line.data for line in lines), payloads))


def write_recording(
    recording: Recording, path: str | PathLike[str], *, seal: AnySeal | None = None
) -> None:
    """Write a recording into a new file: an export, of `redacted(recording)` for instance.

    Raises:
        JournalError: there is such a file, or it cannot be written.
    """
    salt = salt_for(seal)
    lines: list[bytes] = []
    payloads: dict[str, bytes] = {}
    header = HeaderRecord(recording.header, recording.redacted)
    for one in (header, *recording.records):
        line, big = encode_record(one, salt=salt)
        lines.append(sealed(seal, line))
        payloads |= {digest: sealed(seal, data, is_text=True) for digest, data in big.items()}
    write_records(Path(path), StoredJournal(recording.run, tuple(lines), payloads))


def write_records(path: Path, stored: StoredJournal) -> None:
    """Write a run into a new file of its own.

    Raises:
        JournalError: there is such a file, or it cannot be written.
    """
    run = stored.run
    lines = [payload_line(digest, data) for digest, data in stored.payloads.items()]
    for number, data in enumerate(stored.records, start=1):
        first = number == 1
        record = JournalRecord(data, run.created if first else run.updated, run.status)
        named = {"run": run.run, "parent": run.parent} if first else {}
        lines.append(record_line(number, record, forked_at=run.forked_at, **named))
    try:
        with path.open("xb") as file:
            file.write(b"".join(lines))
    except FileExistsError:
        raise JournalError(JournalConflict(run.run, 0, 1)) from None
    except OSError as error:
        problem = f"{error.strerror or error} ({path})"
        raise JournalError(JournalUnavailable(run.run, problem)) from error
