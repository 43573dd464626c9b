from collections.abc import Awaitable, Mapping
from typing import Literal, Protocol, TypeAlias, final
from attrs import field, frozen
from typing_extensions import override
from stepfold.loop import JournalEntry, JournalHeader, Transition
from stepfold.values import Instant, Outcome, StepfoldError

class Journal(Protocol):
    def begin(self, header: JournalHeader, /) -> Awaitable[None]: ...
    def append(self, entry: JournalEntry, /) -> Awaitable[None]: ...

def write_down(
    journal: Journal, entry: JournalEntry, transition: Transition
) -> Awaitable[None]: ...

RunStatus: TypeAlias = Literal["running", "blocked", "completed", "stopped", "failed", "cancelled"]

@final
@frozen(order=False)
class JournalRecord:
    data: bytes
    at: Instant
    status: RunStatus
    payloads: tuple[tuple[str, bytes], ...] = ()

@final
@frozen(order=False)
class StoredRun:
    run: str
    version: int
    status: RunStatus
    created: Instant
    updated: Instant
    parent: str | None = field(default=None, kw_only=True)
    forked_at: int = field(default=0, kw_only=True)
    leased_until: Instant | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class StoredJournal:
    run: StoredRun
    records: tuple[bytes, ...]
    payloads: Mapping[str, bytes]

@final
@frozen(order=False)
class Lease:
    run: str
    owner: str
    token: int
    until: Instant

@final
@frozen(order=False)
class JournalMissing:
    run: str

    @property
    def message(self) -> str: ...

@final
@frozen(order=False)
class JournalConflict:
    run: str
    expected: int
    found: int

    @property
    def message(self) -> str: ...

@final
@frozen(order=False)
class LeaseHeld:
    run: str
    owner: str
    until: Instant

    @property
    def message(self) -> str: ...

@final
@frozen(order=False)
class JournalDamaged:
    run: str
    problem: str

    @property
    def message(self) -> str: ...

@final
@frozen(order=False)
class JournalUnavailable:
    run: str
    problem: str

    @property
    def message(self) -> str: ...

JournalFault: TypeAlias = (
    JournalMissing | JournalConflict | LeaseHeld | JournalDamaged | JournalUnavailable
)

@final
class JournalError(StepfoldError):
    __module__ = "stepfold"

    def __init__(self, fault: JournalFault) -> None: ...
    fault: JournalFault

    @override
    def __reduce__(self) -> tuple[type["JournalError"], tuple[JournalFault]]: ...

class JournalSink(Protocol):
    def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Awaitable[Outcome[int, JournalConflict]]: ...

class JournalStore(JournalSink, Protocol):
    def read(
        self, run: str, /
    ) -> Awaitable[Outcome[StoredJournal, JournalMissing | JournalDamaged]]: ...
    def list_runs(
        self, *, status: RunStatus | None = None, after: str = "", limit: int = 100
    ) -> Awaitable[tuple[StoredRun, ...]]: ...
    def fork(
        self, run: str, new: str, /, *, at: int
    ) -> Awaitable[Outcome[int, JournalMissing | JournalConflict | JournalDamaged]]: ...
    def delete(self, run: str, /) -> Awaitable[bool]: ...
    def claim(
        self, run: str, owner: str, /, *, now: Instant, until: Instant
    ) -> Awaitable[Outcome[Lease, LeaseHeld]]: ...
    def renew(
        self, lease: Lease, /, *, now: Instant, until: Instant
    ) -> Awaitable[Outcome[Lease, LeaseHeld]]: ...
    def release(self, lease: Lease, /) -> Awaitable[None]: ...
