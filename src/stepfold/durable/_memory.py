"""A store in memory: for tests, demos, and what need not outlive the process."""

import threading
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import final

from attrs import evolve, frozen

from stepfold.ports import (
    JournalConflict,
    JournalMissing,
    JournalRecord,
    Lease,
    LeaseHeld,
    RunStatus,
    StoredJournal,
    StoredRun,
)
from stepfold.values import Failure, Instant, Outcome, Success


@final
@frozen(eq=False)
class _Kept:
    run: StoredRun
    records: list[JournalRecord]
    payloads: dict[str, bytes]


@final
class MemoryStore:
    """Keeps runs for as long as it lives; safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, _Kept] = {}
        self._leases: dict[str, Lease] = {}

    def kept(self) -> Iterator[tuple[str, tuple[JournalRecord, ...], Mapping[str, bytes]]]:
        """Give each run by name: its records, and its payloads by digest."""
        with self._lock:
            runs = dict(self._runs)
        for run, kept in sorted(runs.items()):
            yield run, tuple(kept.records), MappingProxyType(dict(kept.payloads))

    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Outcome[int, JournalConflict]:
        """Append a record to a run that is at version `expected`, and give its new version."""
        with self._lock:
            kept = self._runs.get(run)
            found = 0 if kept is None else kept.run.version
            if found != expected:
                return Failure(JournalConflict(run, expected, found))
            if kept is None:
                kept = _Kept(StoredRun(run, 0, record.status, record.at, record.at), [], {})
            self._runs[run] = evolve(
                kept,
                run=evolve(kept.run, version=expected + 1, status=record.status, updated=record.at),
            )
            kept.records.append(evolve(record, payloads=()))
            kept.payloads.update(record.payloads)
            return Success(expected + 1)

    async def read(self, run: str, /) -> Outcome[StoredJournal, JournalMissing]:
        """Give all that was kept of a run."""
        with self._lock:
            kept = self._runs.get(run)
            if kept is None:
                return Failure(JournalMissing(run))
            payloads: Mapping[str, bytes] = MappingProxyType(dict(kept.payloads))
            records = tuple(record.data for record in kept.records)
            return Success(StoredJournal(self._told(kept), records, payloads))

    async def list_runs(
        self, *, status: RunStatus | None = None, after: str = "", limit: int = 100
    ) -> tuple[StoredRun, ...]:
        """Give the first `limit` runs after a name, by name; of one status, or of any."""
        with self._lock:
            told = (self._told(self._runs[run]) for run in sorted(self._runs) if run > after)
            fitting = [run for run in told if status is None or run.status == status]
            return tuple(fitting[:limit])

    async def fork(
        self, run: str, new: str, /, *, at: int
    ) -> Outcome[int, JournalMissing | JournalConflict]:
        """Make a run of the first `at` records of another, and give its version."""
        with self._lock:
            kept = self._runs.get(run)
            if kept is None:
                return Failure(JournalMissing(run))
            there = self._runs.get(new)
            if there is not None:
                return Failure(JournalConflict(new, 0, there.run.version))
            if not 0 < at <= kept.run.version:
                return Failure(JournalConflict(run, at, kept.run.version))
            records = kept.records[:at]
            made = StoredRun(
                new,
                at,
                records[-1].status,
                records[0].at,
                records[-1].at,
                parent=run,
                forked_at=at,
            )
            self._runs[new] = _Kept(made, list(records), dict(kept.payloads))
            return Success(at)

    async def delete(self, run: str, /) -> bool:
        """Forget a run, its payloads and its lease; tells whether it was there."""
        with self._lock:
            self._leases.pop(run, None)
            return self._runs.pop(run, None) is not None

    async def claim(
        self, run: str, owner: str, /, *, now: Instant, until: Instant
    ) -> Outcome[Lease, LeaseHeld]:
        """Get the right to work on a run, if nobody has it at `now`."""
        with self._lock:
            held = self._leases.get(run)
            if held is not None and held.until > now:
                return Failure(LeaseHeld(run, held.owner, held.until))
            lease = Lease(run, owner, 1 if held is None else held.token + 1, until)
            self._leases[run] = lease
            return Success(lease)

    async def renew(
        self, lease: Lease, /, *, now: Instant, until: Instant
    ) -> Outcome[Lease, LeaseHeld]:
        """Keep the right for longer; refused once somebody else has claimed the run."""
        with self._lock:
            held = self._leases.get(lease.run)
            if held is None or held.token != lease.token:
                owner, ends = ("nobody", now) if held is None else (held.owner, held.until)
                return Failure(LeaseHeld(lease.run, owner, ends))
            self._leases[lease.run] = renewed = evolve(lease, until=until)
            return Success(renewed)

    async def release(self, lease: Lease, /) -> None:
        """Give the right back, if it is still held."""
        with self._lock:
            held = self._leases.get(lease.run)
            if held is not None and held.token == lease.token:
                self._leases[lease.run] = evolve(held, until=0)

    def _told(self, kept: _Kept) -> StoredRun:
        lease = self._leases.get(kept.run.run)
        return evolve(kept.run, leased_until=None if lease is None else lease.until)
