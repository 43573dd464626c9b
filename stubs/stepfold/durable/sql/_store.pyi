from types import TracebackType
from typing import Self, final
from stepfold.ports import (
    JournalConflict,
    JournalDamaged,
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
class SqlStore:
    def __init__(self, url: str) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    async def aclose(self) -> None: ...
    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Outcome[int, JournalConflict]: ...
    async def read(
        self, run: str, /
    ) -> Outcome[StoredJournal, JournalMissing | JournalDamaged]: ...
    async def list_runs(
        self, *, status: RunStatus | None = None, after: str = "", limit: int = 100
    ) -> tuple[StoredRun, ...]: ...
    async def fork(
        self, run: str, new: str, /, *, at: int
    ) -> Outcome[int, JournalMissing | JournalConflict | JournalDamaged]: ...
    async def delete(self, run: str, /) -> bool: ...
    async def claim(
        self, run: str, owner: str, /, *, now: Instant, until: Instant
    ) -> Outcome[Lease, LeaseHeld]: ...
    async def renew(
        self, lease: Lease, /, *, now: Instant, until: Instant
    ) -> Outcome[Lease, LeaseHeld]: ...
    async def release(self, lease: Lease, /) -> None: ...
