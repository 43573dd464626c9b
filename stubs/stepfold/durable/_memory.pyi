from collections.abc import Iterator, Mapping
from typing import final
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
from stepfold.values import Instant, Outcome

@final
class MemoryStore:
    def __init__(self) -> None: ...
    def kept(self) -> Iterator[tuple[str, tuple[JournalRecord, ...], Mapping[str, bytes]]]: ...
    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Outcome[int, JournalConflict]: ...
    async def read(self, run: str, /) -> Outcome[StoredJournal, JournalMissing]: ...
    async def list_runs(
        self, *, status: RunStatus | None = None, after: str = "", limit: int = 100
    ) -> tuple[StoredRun, ...]: ...
    async def fork(
        self, run: str, new: str, /, *, at: int
    ) -> Outcome[int, JournalMissing | JournalConflict]: ...
    async def delete(self, run: str, /) -> bool: ...
    async def claim(
        self, run: str, owner: str, /, *, now: Instant, until: Instant
    ) -> Outcome[Lease, LeaseHeld]: ...
    async def renew(
        self, lease: Lease, /, *, now: Instant, until: Instant
    ) -> Outcome[Lease, LeaseHeld]: ...
    async def release(self, lease: Lease, /) -> None: ...
