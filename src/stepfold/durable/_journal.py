"""`RunJournal`: the journal of one run in a store, as the drivers write it."""

from typing import Self, final

from stepfold.durable._records import (
    EntryRecord,
    HeaderRecord,
    Record,
    encode_record,
    kept_notes,
)
from stepfold.durable._sealed import AnySeal, salt_for, sealed
from stepfold.loop import (
    Done,
    JournalEntry,
    JournalHeader,
    LoopState,
    Resting,
    Transition,
    increment_of,
)
from stepfold.ports import JournalError, JournalFault, JournalRecord, JournalSink, RunStatus
from stepfold.values import (
    Blocked,
    Cancelled,
    Completed,
    Failed,
    Failure,
    Instant,
    Stopped,
    Success,
    UsageError,
)


@final
class RunJournal:
    """One run in a store: `agent.generate(…, journal=RunJournal(store), run_id="order-17")`.

    The run keeps the name that it was begun with. Each event is one record; where a step came to
    rest, its record holds a snapshot of the state, as an increment. Used for one run.

    Raises:
        JournalError: the store refuses a record: another writer has advanced the run, or there is
            one of this name already. What was not written has not happened.
    """

    def __init__(self, store: JournalSink, *, seal: AnySeal | None = None) -> None:
        self._store = store
        self._seal = seal
        self._salt = salt_for(seal)
        self._run: str | None = None
        self._version = 0
        self._status: RunStatus = "running"
        self._kept: LoopState | None = None
        self._fenced: JournalFault | None = None

    @classmethod
    def continued(
        cls,
        store: JournalSink,
        run: str,
        version: int,
        kept: LoopState | None,
        *,
        seal: AnySeal | None = None,
    ) -> Self:
        """The journal of a run that is taken up again; `kept` is the state of its last snapshot."""
        journal = cls(store, seal=seal)
        journal._run, journal._version, journal._kept = run, version, kept
        return journal

    @property
    def version(self) -> int:
        """How many records the run has."""
        return self._version

    async def begin(self, header: JournalHeader, /) -> None:
        """Keep how the run began.

        Raises:
            UsageError: this journal already holds a run.
            JournalError: the store holds a run of this name.
        """
        if self._run is not None:
            raise UsageError(f"expected a new RunJournal, got one that holds the run {self._run!r}")
        self._run = header.run
        await self._write(HeaderRecord(header), header.at)

    async def append(self, entry: JournalEntry, /) -> None:
        """Keep one event, without what came of it."""
        await self._write(EntryRecord(entry), entry.event.at)

    async def advance(self, entry: JournalEntry, transition: Transition, /) -> None:
        """Keep one event, what the loop noted, and a snapshot if a step came to rest."""
        state = transition.state
        self._status = status_of(state)
        increment = None
        if _is_worth_keeping(self._kept, state):
            increment = increment_of(self._kept, state)
        await self._write(
            EntryRecord(entry, kept_notes(transition.notes), increment), entry.event.at
        )
        if increment is not None:
            self._kept = state

    def fence(self, fault: JournalFault) -> None:
        """Refuse all that is written from now on: somebody else works on the run."""
        self._fenced = fault

    async def _write(self, record: Record, at: Instant) -> None:
        run = self._run
        if run is None:
            raise UsageError("expected a run to have begun: this RunJournal holds none")
        if self._fenced is not None:
            raise JournalError(self._fenced)
        line, payloads = encode_record(record, salt=self._salt)
        kept = JournalRecord(
            sealed(self._seal, line),
            at,
            self._status,
            tuple(
                (digest, sealed(self._seal, data, is_text=True))
                for digest, data in payloads.items()
            ),
        )
        match await self._store.append(run, kept, expected=self._version):
            case Success(version):
                self._version = version
            case Failure(conflict):
                self._fenced = conflict
                raise JournalError(conflict)


def _is_worth_keeping(kept: LoopState | None, state: LoopState) -> bool:
    """Whether the history has grown since the last snapshot, or nothing more is to come."""
    if isinstance(state.phase, Done | Resting):
        return True
    known = state.transcript.initial if kept is None else len(kept.messages)
    return len(state.messages) > known


def status_of(state: LoopState) -> RunStatus:
    """Where a run stands, in one word."""
    phase = state.phase
    if isinstance(phase, Resting):
        return "blocked"
    if not isinstance(phase, Done):
        return "running"
    match phase.end:
        case Completed():
            return "completed"
        case Stopped():
            return "stopped"
        case Failed():
            return "failed"
        case Cancelled():
            return "cancelled"
        case Blocked():
            return "blocked"
