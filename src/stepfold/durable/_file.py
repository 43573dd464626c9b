"""A store in a folder: a file of JSON lines for each run.

An append is one write of whole lines, and is on the disk before it counts. What a crash left of a
write has no good checksum at the end of the file; it is not there for readers, and the next writer
cuts it off. Writers of all processes on the machine take turns by locks, which the system lets go
when a process dies. A writer remembers where a run's file ended when it last wrote it, so an
append reads nothing, unless somebody else has written since.
"""

import hashlib
import json
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Final, TypeVar, cast, final
from urllib.parse import quote

from attrs import evolve, field, frozen

from stepfold.durable._lines import (
    BadLine,
    PayloadLine,
    RecordLine,
    last_record,
    lines_of,
    payload_line,
    record_line,
)
from stepfold.durable._locking import locked
from stepfold.durable._threads import waited
from stepfold.ports import (
    JournalConflict,
    JournalDamaged,
    JournalError,
    JournalMissing,
    JournalRecord,
    JournalUnavailable,
    Lease,
    LeaseHeld,
    RunStatus,
    StoredJournal,
    StoredRun,
)
from stepfold.values import Failure, Instant, Outcome, Success

T = TypeVar("T")

_LOCKS: Final = 64
_LONGEST_NAME: Final = 150


@final
@frozen(eq=False)
class _Tail:
    """Where a file ended, and what it held then."""

    size: int = 0
    version: int = 0
    digests: set[str] = field(factory=set[str])


@final
class FileStore:
    """Keeps runs in a folder, which is made where it is not there.

    Crash-safe on one machine; not for folders that several machines share.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder: Final = Path(folder)
        self._tails: dict[str, _Tail] = {}

    def path_of(self, run: str, /) -> Path:
        """Where the run is, or would be: a file that `stepfold inspect` and the like take."""
        return self._folder / f"{_file_name(run)}.jsonl"

    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Outcome[int, JournalConflict]:
        """Append a record to a run that is at version `expected`, and give its new version."""
        return await self._done(run, lambda: self._append(run, record, expected))

    async def read(self, run: str, /) -> Outcome[StoredJournal, JournalMissing | JournalDamaged]:
        """Give all that was kept of a run."""
        return await self._done(run, lambda: self._read(run))

    async def list_runs(
        self, *, status: RunStatus | None = None, after: str = "", limit: int = 100
    ) -> tuple[StoredRun, ...]:
        """Give the first `limit` runs after a name, by name; of one status, or of any.

        Looks at the first and the last line of every file.
        """

        def listed() -> tuple[StoredRun, ...]:
            found = (self._told(path) for path in self._folder.glob("*.jsonl"))
            fitting = [
                run
                for run in found
                if run is not None and run.run > after and status in {None, run.status}
            ]
            return tuple(sorted(fitting, key=lambda run: run.run)[:limit])

        return await self._done("*", listed)

    async def fork(
        self, run: str, new: str, /, *, at: int
    ) -> Outcome[int, JournalMissing | JournalConflict | JournalDamaged]:
        """Make a run of the first `at` records of another, and give its version."""
        return await self._done(new, lambda: self._fork(run, new, at))

    async def delete(self, run: str, /) -> bool:
        """Forget a run, its payloads and its lease; tells whether it was there."""

        def deleted() -> bool:
            with self._locked(run):
                self._tails.pop(run, None)
                self._lease_path(run).unlink(missing_ok=True)
                path = self.path_of(run)
                was_there = path.exists()
                path.unlink(missing_ok=True)
                _write_out_folder(self._folder)
                return was_there

        return await self._done(run, deleted)

    async def claim(
        self, run: str, owner: str, /, *, now: Instant, until: Instant
    ) -> Outcome[Lease, LeaseHeld]:
        """Get the right to work on a run, if nobody has it at `now`."""

        def claimed() -> Outcome[Lease, LeaseHeld]:
            with self._locked(run):
                held = self._lease(run)
                if held is not None and held.until > now:
                    return Failure(LeaseHeld(run, held.owner, held.until))
                lease = Lease(run, owner, 1 if held is None else held.token + 1, until)
                self._keep_lease(lease)
                return Success(lease)

        return await self._done(run, claimed)

    async def renew(
        self, lease: Lease, /, *, now: Instant, until: Instant
    ) -> Outcome[Lease, LeaseHeld]:
        """Keep the right for longer; refused once somebody else has claimed the run."""

        def renewed() -> Outcome[Lease, LeaseHeld]:
            with self._locked(lease.run):
                held = self._lease(lease.run)
                if held is None or held.token != lease.token:
                    owner, ends = ("nobody", now) if held is None else (held.owner, held.until)
                    return Failure(LeaseHeld(lease.run, owner, ends))
                longer = evolve(lease, until=until)
                self._keep_lease(longer)
                return Success(longer)

        return await self._done(lease.run, renewed)

    async def release(self, lease: Lease, /) -> None:
        """Give the right back, if it is still held."""

        def released() -> None:
            with self._locked(lease.run):
                held = self._lease(lease.run)
                if held is not None and held.token == lease.token:
                    self._keep_lease(evolve(held, until=0))

        await self._done(lease.run, released)

    # --- in a thread --------------------------------------------------------------------------

    async def _done(self, run: str, work: Callable[[], T]) -> T:
        try:
            return await waited(work)
        except OSError as error:
            problem = error.strerror or str(error)
            where = f" ({error.filename})" if error.filename else ""
            raise JournalError(JournalUnavailable(run, problem + where)) from error

    @contextmanager
    def _locked(self, run: str) -> Generator[None]:
        number = int(hashlib.sha256(_file_name(run).encode()).hexdigest(), 16) % _LOCKS
        folder = self._folder / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / f"{number:02}"):
            yield

    def _append(
        self, run: str, record: JournalRecord, expected: int
    ) -> Outcome[int, JournalConflict]:
        path = self.path_of(run)
        with self._locked(run):
            is_new = not path.exists()
            if is_new and expected:
                return Failure(JournalConflict(run, expected, 0))
            with path.open("ab+") as file:
                tail = self._tail(run, file)
                if tail.version != expected:
                    return Failure(JournalConflict(run, expected, tail.version))
                new = [pair for pair in record.payloads if pair[0] not in tail.digests]
                lines = [payload_line(digest, data) for digest, data in new]
                lines.append(record_line(expected + 1, record, run=run if expected == 0 else None))
                written = b"".join(lines)
                _write_out(file, written)
                if is_new:
                    _write_out_folder(self._folder)
            tail.digests.update(digest for digest, _ in new)
            if record.status == "running":
                size = tail.size + len(written)
                self._tails[run] = _Tail(size, expected + 1, tail.digests)
            else:
                self._tails.pop(run, None)
            return Success(expected + 1)

    def _tail(self, run: str, file: BinaryIO) -> _Tail:
        """Find where a file ends; what a crash left there is cut off."""
        size = os.fstat(file.fileno()).st_size
        tail = self._tails.get(run, _Tail())
        if tail.size == size:
            return tail
        if tail.size > size:
            tail = _Tail()
        end, version, digests = tail.size, tail.version, set(tail.digests)
        for line in lines_of(file, end):
            match line:
                case RecordLine():
                    end, version = line.end, line.number
                case PayloadLine(digest):
                    end = line.end
                    digests.add(digest)
                case BadLine(start, is_torn=True):
                    file.truncate(start)
                case BadLine(start):
                    raise JournalError(JournalDamaged(run, _problem(start)))
        return _Tail(end, version, digests)

    def _read(self, run: str) -> Outcome[StoredJournal, JournalMissing | JournalDamaged]:
        try:
            with self.path_of(run).open("rb") as file:
                lines, payloads, problem = journal_in(file)
        except FileNotFoundError:
            return Failure(JournalMissing(run))
        if problem is not None:
            return Failure(JournalDamaged(run, problem))
        if not lines:
            return Failure(JournalMissing(run))
        told = self._summary(run, lines[0], lines[-1])
        records = tuple(line.data for line in lines)
        return Success(StoredJournal(told, records, MappingProxyType(payloads)))

    def _fork(
        self, run: str, new: str, at: int
    ) -> Outcome[int, JournalMissing | JournalConflict | JournalDamaged]:
        try:
            with self.path_of(run).open("rb") as file:
                lines, payloads, problem = journal_in(file)
        except FileNotFoundError:
            return Failure(JournalMissing(run))
        if problem is not None:
            return Failure(JournalDamaged(run, problem))
        if not 0 < at <= len(lines):
            return Failure(JournalConflict(run, at, len(lines)))
        path = self.path_of(new)
        with self._locked(new):
            there = self._told(path) if path.exists() else None
            if there is not None:
                return Failure(JournalConflict(new, 0, there.version))
            written = [payload_line(digest, data) for digest, data in payloads.items()]
            for number, line in enumerate(lines[:at], start=1):
                record = JournalRecord(line.data, line.at, line.status)
                first = number == 1
                written.append(
                    record_line(
                        number,
                        record,
                        run=new if first else None,
                        parent=run if first else None,
                        forked_at=at,
                    )
                )
            beside = path.with_suffix(".new")
            with beside.open("wb") as made:
                _write_out(made, b"".join(written))
            beside.replace(path)
            _write_out_folder(self._folder)
            return Success(at)

    # --- what is told of a run ----------------------------------------------------------------

    def _told(self, path: Path) -> StoredRun | None:
        try:
            with path.open("rb") as file:
                records = (line for line in lines_of(file) if isinstance(line, RecordLine))
                first = next(records, None)
                last = last_record(file)
        except FileNotFoundError:
            return None
        if first is None or last is None or first.run is None:
            return None
        return self._summary(first.run, first, last)

    def _summary(self, run: str, first: RecordLine, last: RecordLine) -> StoredRun:
        lease = self._lease(run)
        return StoredRun(
            run,
            last.number,
            last.status,
            first.at,
            last.at,
            parent=first.parent,
            forked_at=first.forked_at,
            leased_until=None if lease is None else lease.until,
        )

    def _lease_path(self, run: str) -> Path:
        return self._folder / f"{_file_name(run)}.lease"

    def _lease(self, run: str) -> Lease | None:
        try:
            told = cast("dict[str, object]", json.loads(self._lease_path(run).read_bytes()))
        except FileNotFoundError:
            return None
        owner, token, until = told["owner"], told["token"], told["until"]
        return Lease(run, cast("str", owner), cast("int", token), cast("int", until))

    def _keep_lease(self, lease: Lease) -> None:
        path = self._lease_path(lease.run)
        told = {"owner": lease.owner, "token": lease.token, "until": lease.until}
        beside = path.with_suffix(".lease-new")
        beside.write_text(json.dumps(told), "utf-8")
        beside.replace(path)


def journal_in(
    file: BinaryIO,
) -> tuple[list[RecordLine], dict[str, bytes], str | None]:
    """Read a whole file: its records and payloads, and what is wrong with it, if anything is.

    What a crash left of a last write is not there, and nothing is wrong with that.
    """
    records: list[RecordLine] = []
    payloads: dict[str, bytes] = {}
    for line in lines_of(file):
        match line:
            case RecordLine():
                records.append(line)
                if line.number != len(records):
                    return records, payloads, f"record {len(records)} is missing"
            case PayloadLine(digest, data):
                payloads[digest] = data
            case BadLine(start, is_torn):
                if not is_torn:
                    return records, payloads, _problem(start)
    return records, payloads, None


def _problem(start: int) -> str:
    return f"the line at byte {start} is not as a journal's lines are written"


def _file_name(run: str) -> str:
    """A name for every run that no file system confuses with another's."""
    name = quote(run, safe="").lower()
    if run == run.lower() and len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_LONGEST_NAME]}.{hashlib.sha256(run.encode()).hexdigest()[:16]}"


def _write_out(file: BinaryIO, data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def _write_out_folder(folder: Path) -> None:
    with suppress(PermissionError):  # Windows opens no folder, and needs none written out
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
