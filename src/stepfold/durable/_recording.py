"""What was recorded of a run: read without a program, and folded again with one."""

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, final

from attrs import evolve, field, frozen

from stepfold.durable._records import (
    BaseRecord,
    EntryRecord,
    HeaderRecord,
    decode_increment,
    decode_record,
)
from stepfold.durable._sealed import AnySeal, unsealed
from stepfold.durable._secret_store import inside, refers
from stepfold.loop import (
    RULES,
    Diverged,
    Increment,
    JournalEntry,
    JournalHeader,
    LoopState,
    Program,
    replay,
    replay_from,
    restored,
    step,
    unlike,
)
from stepfold.loop.commands import command_id
from stepfold.ports import (
    JournalDamaged,
    JournalMissing,
    JournalStore,
    StoredJournal,
    StoredRun,
)
from stepfold.values import Failure, IllegalEvent, Outcome, StepResult, Success

RecordingFault: TypeAlias = JournalMissing | JournalDamaged
"""Why a run cannot be read; each has a `message`."""


@final
@frozen(order=False)
class Recording:
    """One run as a journal holds it; needs no program.

    `records` are what followed the header: an `EntryRecord` for each event, and a `BaseRecord`
    where a fork left its parent. A recording that was exported `redacted`, or read without the
    `SecretStore` of its secrets, can be looked at, and not be replayed.
    """

    run: StoredRun
    header: JournalHeader
    records: tuple[EntryRecord | BaseRecord, ...] = field(repr=False)
    redacted: bool = False

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """The events in order, each with the ids of the commands that it issued."""
        return tuple(it.entry for it in self.records if isinstance(it, EntryRecord))

    @property
    def snapshot(self) -> LoopState | None:
        """The state when a step last came to rest; `None` if none has."""
        increments = self._increments()
        return restored(increments) if increments else None

    @property
    def steps(self) -> tuple[StepResult, ...]:
        """The steps that came to rest."""
        snapshot = self.snapshot
        return () if snapshot is None else snapshot.steps

    def snapshots(self) -> Iterator[tuple[int, LoopState]]:
        """Give each snapshot with the number of records up to it, the header included."""
        increments: list[Increment] = []
        for number, record in enumerate(self.records, start=2):
            if record.increment is not None:
                increments.append(record.increment)
                yield number, restored(increments)

    def _increments(self) -> list[Increment]:
        return [it.increment for it in self.records if it.increment is not None]


async def recording_of(
    store: JournalStore, run: str, *, seal: AnySeal | None = None
) -> Outcome[Recording, RecordingFault]:
    """Read a run from a store."""
    match await store.read(run):
        case Success(stored):
            return decoded(stored, seal=seal)
        case Failure(fault):
            return Failure(fault)


def decoded(
    stored: StoredJournal, *, seal: AnySeal | None = None
) -> Outcome[Recording, JournalDamaged]:
    """Read a run that a store gave."""
    run = stored.run.run
    opened = _opened(stored, seal)
    if isinstance(opened, Failure):
        return opened
    found = opened.unwrap()
    lines, payloads = found.lines, found.payloads
    header: HeaderRecord | None = None
    records: list[EntryRecord | BaseRecord] = []
    for number, line in enumerate(lines, start=1):
        outcome = decode_record(line, payloads)
        if isinstance(outcome, Failure):
            return Failure(JournalDamaged(run, f"record {number}: {outcome.failure()}"))
        record = outcome.unwrap()
        if not isinstance(record, HeaderRecord):
            records.append(record)
        elif header is None:
            header = record
    if header is None:
        return Failure(JournalDamaged(run, "expected a header first, found none"))
    redacted = header.redacted or found.lacks
    return Success(Recording(stored.run, header.header, tuple(records), redacted))


def is_of_a_call(stored: StoredJournal, *, seal: AnySeal | None = None) -> bool:
    """Whether a run is that of a tool call, as far as its header can be read.

    A fork of one is not: it has the header, and nobody calls it.
    """
    if stored.run.parent is not None:
        return False
    head = decoded(evolve(stored, records=stored.records[:1]), seal=seal)
    return isinstance(head, Success) and head.unwrap().header.granted is not None


@final
@frozen(order=False)
class _Opened:
    """The records of a run and the texts that they refer to; `lacks` are secrets not put back."""

    lines: Sequence[bytes]
    payloads: Mapping[str, bytes]
    lacks: bool


def _opened(stored: StoredJournal, seal: AnySeal | None) -> Outcome[_Opened, JournalDamaged]:
    lines: list[bytes] = []
    payloads: dict[str, bytes] = {}
    lacks = False
    for number, record in enumerate(stored.records, start=1):
        match unsealed(seal, record):
            case Success(line):
                lacks = lacks or refers(line)
                lines.append(inside(line) if refers(line) else line)
            case Failure(fault):
                return Failure(JournalDamaged(stored.run.run, f"record {number}: {fault}"))
    for digest, data in stored.payloads.items():
        if hashlib.sha256(data).hexdigest() == digest:
            payloads[digest] = data  # as it was said, and be it what looks like a sealed one
            continue
        match unsealed(seal, data):
            case Success(text):
                payloads[digest] = inside(text) if refers(text) else text
            case Failure(fault):
                return Failure(JournalDamaged(stored.run.run, f"payload {digest}: {fault}"))
    return Success(_Opened(lines, payloads, lacks))


# --- folding ----------------------------------------------------------------------------------


@final
@frozen(order=False)
class Recovered:
    """The state that a run had reached, its version in the store, and its last snapshot."""

    state: LoopState
    version: int
    kept: LoopState | None


def recovered(
    program: Program,
    stored: StoredJournal,
    *,
    seal: AnySeal | None = None,
    allow_other_program: bool = False,
) -> Outcome[Recovered, Diverged | JournalDamaged]:
    """Find the state that a run had reached: its snapshots, and the events of the open step.

    What came before the last snapshot is not decided anew, so that a run may go on under another
    version of the program, if that is allowed.
    """
    run = stored.run.run
    opened = _opened(stored, seal)
    if isinstance(opened, Failure):
        return opened
    found = opened.unwrap()
    if found.lacks:
        problem = "secrets stand in it as references: give the SecretStore that has them"
        return Failure(JournalDamaged(run, problem))
    lines, payloads = found.lines, found.payloads
    increments: list[Increment] = []
    settled = 1
    for number, line in enumerate(lines, start=1):
        match decode_increment(line, payloads):
            case Failure(fault):
                return Failure(JournalDamaged(run, f"record {number}: {fault}"))
            case Success(None):
                pass
            case Success(increment):
                if increment is not None:
                    increments.append(increment)
                    settled = number
    tail: list[HeaderRecord | EntryRecord | BaseRecord] = []
    for number, line in enumerate((lines[0], *lines[settled:]), start=settled):
        match decode_record(line, payloads):
            case Failure(fault):
                return Failure(JournalDamaged(run, f"record {number}: {fault}"))
            case Success(record):
                tail.append(record)
    header = tail[0]
    if not isinstance(header, HeaderRecord):
        return Failure(JournalDamaged(run, "expected a header first, found none"))
    if header.redacted:
        problem = "it was exported without what was said: take the journal itself"
        return Failure(JournalDamaged(run, problem))
    entries = [record.entry for record in tail if isinstance(record, EntryRecord)]
    kept = restored(increments) if increments else None
    match _folded(program, header.header, kept, entries, settled - 1, allows=allow_other_program):
        case Success(state):
            return Success(Recovered(state, len(lines), kept))
        case Failure(diverged):
            return Failure(diverged)


def _folded(
    program: Program,
    header: JournalHeader,
    kept: LoopState | None,
    entries: Sequence[JournalEntry],
    position: int,
    *,
    allows: bool,
) -> Outcome[LoopState, Diverged]:
    if kept is None:
        return replay(program, header, entries, allow_other_fingerprint=allows)
    identity = kept.identity
    other = unlike(program, identity.fingerprint, identity.rules)
    if other is not None and not (allows and identity.rules == RULES):
        return Failure(other)
    return replay_from(program, kept, entries, position=position)


def replayed(
    program: Program, recording: Recording, *, allow_other_program: bool = False
) -> Outcome[LoopState, Diverged]:
    """Decide the whole recording anew, without touching the world, and give the state reached.

    Fails at the first event at which this program decides otherwise than it did then. `position`
    counts the records after the header, from 0.
    """
    states = replayed_states(program, recording, allow_other_program=allow_other_program)
    (reached,) = deque(states, maxlen=1)
    return reached


def replayed_states(
    program: Program, recording: Recording, *, allow_other_program: bool = False
) -> Iterator[Outcome[LoopState, Diverged]]:
    """As `replayed`, but gives the state after the header and after each record; a failure ends it.

    Raises nothing.
    """
    if recording.redacted:
        yield Failure(
            Diverged(
                -1,
                "the journal as it was written",
                "one exported redacted, or read without its secrets",
            )
        )
        return
    first = replay(program, recording.header, (), allow_other_fingerprint=allow_other_program)
    yield first
    for position, record in enumerate(recording.records):
        if isinstance(first, Failure):
            return
        state = first.unwrap()
        match record:
            case BaseRecord(increment):
                first = Success(restored([increment]))
            case EntryRecord(entry):
                first = replay_from(program, state, (entry,), position=position)
        yield first


def explained(program: Program, recording: Recording, diverged: Diverged) -> str:
    """Show where a recording and a program part: the event, and what each makes of it, as a diff.

    Lines with `-` are the commands that the recording expects, lines with `+` those of this
    program in full, others are in both.
    """
    if not 0 <= diverged.position < len(recording.records):
        return f"at the beginning\n- {diverged.expected}\n+ {diverged.got}"
    record = recording.records[diverged.position]
    if isinstance(record, BaseRecord):
        return f"at record {diverged.position + 2}\n- {diverged.expected}\n+ {diverged.got}"
    event = record.entry.event
    head = f"at record {diverged.position + 2}, {type(event).__name__}"
    state = _state_before(program, recording, diverged.position)
    try:
        issued = () if state is None else step(program, state, event).commands
    except IllegalEvent as error:
        return f"{head}\n- a legal event\n+ refused: {error}"
    got = {command_id(command): repr(command) for command in issued}
    expected = record.entry.commands
    lines = [f"  {got[name]}" if name in got else f"- {name}" for name in expected]
    lines += [f"+ {text}" for name, text in got.items() if name not in expected]
    if not expected and not got:
        lines = [f"- {diverged.expected}", f"+ {diverged.got}"]
    elif not got:
        lines.append("+ nothing")
    elif not expected:
        lines.insert(0, "- nothing")
    return "\n".join((head, *lines))


def _state_before(program: Program, recording: Recording, position: int) -> LoopState | None:
    """The state that an event met, whatever the program's fingerprint is."""
    states = replayed_states(program, recording, allow_other_program=True)
    for place, outcome in enumerate(states):
        if isinstance(outcome, Success) and place == position:
            return outcome.unwrap()
    return None
