"""The ports through which runs are written down: one run, and a store of many.

A `JournalStore` knows nothing of what it keeps: records are bytes, one for each event, in order,
and payloads are big texts that records refer to by digest. It holds two promises. A record is kept
whole or not at all, before `append` returns; and a record is appended at the version that its
writer expects, so that of two writers who both believe in the same state one is refused.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, Protocol, TypeAlias, final

from attrs import field, frozen
from typing_extensions import override

from stepfold.loop import JournalEntry, JournalHeader, Transition
from stepfold.values import Instant, Outcome, StepfoldError

# --- one run ----------------------------------------------------------------------------------


class Journal(Protocol):
    """Where the events of one run are kept, in the order in which they changed the state.

    An entry counts once `append` has returned; if it raises, the event did not happen. What is
    written is enough for `replay` to reach the same state.

    A journal that also has a method `advance(entry, transition)` is given that instead of
    `append`, so that it can keep what was decided and snapshots of the state.
    """

    def begin(self, header: JournalHeader, /) -> Awaitable[None]:
        """Keep how the run began; called once, before the first entry."""
        ...

    def append(self, entry: JournalEntry, /) -> Awaitable[None]:
        """Keep one event and the ids of the commands that it issued."""
        ...


def write_down(journal: Journal, entry: JournalEntry, transition: Transition) -> Awaitable[None]:
    """Write an entry down, with all that the journal wants to know of its transition."""
    advance: Callable[[JournalEntry, Transition], Awaitable[None]] | None = getattr(
        journal, "advance", None
    )
    return journal.append(entry) if advance is None else advance(entry, transition)


# --- a store of runs --------------------------------------------------------------------------

RunStatus: TypeAlias = Literal["running", "blocked", "completed", "stopped", "failed", "cancelled"]
"""Where a run stands: at work, waiting for an answer, or at one of its ends."""


@final
@frozen(order=False)
class JournalRecord:
    """What is appended for one event: `data` is one line of UTF-8 JSON, without a line end.

    `payloads` are pairs of a digest and a text that `data` refers to by it. A store keeps each
    once in a run, however often it comes. `status` is where the run stands after it.
    """

    data: bytes
    at: Instant
    status: RunStatus
    payloads: tuple[tuple[str, bytes], ...] = ()


@final
@frozen(order=False)
class StoredRun:
    """What a store tells of a run without reading it.

    `version` counts its records, `created` and `updated` are the times of the first and the last.
    A fork has a `parent`, and shares its first `forked_at` records with it. `leased_until` is how
    long somebody works on it, `None` if nobody ever said so.
    """

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
    """A whole run: its records in order, and the payloads that they refer to, by digest."""

    run: StoredRun
    records: tuple[bytes, ...]
    payloads: Mapping[str, bytes]


@final
@frozen(order=False)
class Lease:
    """The right to work on a run until an instant, given to one `owner` at a time.

    `token` grows each time that the run changes hands.
    """

    run: str
    owner: str
    token: int
    until: Instant


@final
@frozen(order=False)
class JournalMissing:
    """There is no run of this name in the store."""

    run: str

    @property
    def message(self) -> str:
        """What was looked for, and what to do."""
        return f"there is no run {self.run!r} in this store: look at list_runs()"


@final
@frozen(order=False)
class JournalConflict:
    """Another writer was there before: the run is at version `found`, not at `expected`."""

    run: str
    expected: int
    found: int

    @property
    def message(self) -> str:
        """Who was where, and what to do."""
        if self.expected == 0:
            return (
                f"the run {self.run!r} exists already, with {self.found} records: give another "
                "run_id, or take it up again"
            )
        return (
            f"the run {self.run!r} has moved on: expected it at version {self.expected}, found it "
            f"at {self.found}; read it again"
        )


@final
@frozen(order=False)
class LeaseHeld:
    """Somebody else works on the run; `until` is when that ends, unless it is renewed."""

    run: str
    owner: str
    until: Instant

    @property
    def message(self) -> str:
        """Who works on it."""
        return f"the run {self.run!r} is being worked on by {self.owner!r}"


@final
@frozen(order=False)
class JournalDamaged:
    """What a store holds is not what was written."""

    run: str
    problem: str

    @property
    def message(self) -> str:
        """What is wrong."""
        return f"the journal of {self.run!r} is damaged: {self.problem}"


@final
@frozen(order=False)
class JournalUnavailable:
    """The disk or the database did not do what it was asked."""

    run: str
    problem: str

    @property
    def message(self) -> str:
        """What it said."""
        return f"the journal of {self.run!r} cannot be reached: {self.problem}"


JournalFault: TypeAlias = (
    JournalMissing | JournalConflict | LeaseHeld | JournalDamaged | JournalUnavailable
)
"""Why a store did not do what it was asked; each has a `message`."""


@final
class JournalError(StepfoldError):
    """A journal cannot be written or read; `fault` says why, as a value."""

    __module__ = "stepfold"

    def __init__(self, fault: JournalFault) -> None:
        super().__init__(fault.message)
        self.fault: JournalFault = fault

    @override
    def __reduce__(self) -> tuple[type["JournalError"], tuple[JournalFault]]:
        return (JournalError, (self.fault,))


class JournalSink(Protocol):
    """Where the records of runs are appended: all of a store that a run at work needs."""

    def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Awaitable[Outcome[int, JournalConflict]]:
        """Append a record to a run that is at version `expected`, and give its new version.

        At 0 the run is made. Costs the same however long the run is.
        """
        ...


class JournalStore(JournalSink, Protocol):
    """Keeps the journals of many runs, on one machine or for many.

    Every method may be called by several tasks, threads and processes at once. A failure of the
    disk or the database raises `JournalError` with `JournalUnavailable`. Where `BLOCKING` is set,
    no method suspends. `stepfold.testing.conformance.check_journal` tries all this on a store.
    """

    def read(
        self, run: str, /
    ) -> Awaitable[Outcome[StoredJournal, JournalMissing | JournalDamaged]]:
        """Give all that was kept of a run."""
        ...

    def list_runs(
        self, *, status: RunStatus | None = None, after: str = "", limit: int = 100
    ) -> Awaitable[tuple[StoredRun, ...]]:
        """Give the first `limit` runs after a name, by name; of one status, or of any."""
        ...

    def fork(
        self, run: str, new: str, /, *, at: int
    ) -> Awaitable[Outcome[int, JournalMissing | JournalConflict | JournalDamaged]]:
        """Make a run of the first `at` records of another, and give its version."""
        ...

    def delete(self, run: str, /) -> Awaitable[bool]:
        """Forget a run, its payloads and its lease; tells whether it was there."""
        ...

    def claim(
        self, run: str, owner: str, /, *, now: Instant, until: Instant
    ) -> Awaitable[Outcome[Lease, LeaseHeld]]:
        """Get the right to work on a run, if nobody has it at `now`. The run need not exist yet."""
        ...

    def renew(
        self, lease: Lease, /, *, now: Instant, until: Instant
    ) -> Awaitable[Outcome[Lease, LeaseHeld]]:
        """Keep the right for longer; refused once somebody else has claimed the run."""
        ...

    def release(self, lease: Lease, /) -> Awaitable[None]:
        """Give the right back, if it is still held."""
        ...
