from collections.abc import Iterator
from typing import TypeAlias, final
from attrs import field, frozen
from stepfold.durable._records import BaseRecord, EntryRecord
from stepfold.durable._sealed import AnySeal
from stepfold.loop import Diverged, JournalEntry, JournalHeader, LoopState, Program
from stepfold.ports import JournalDamaged, JournalMissing, JournalStore, StoredRun
from stepfold.values import Outcome, StepResult

RecordingFault: TypeAlias = JournalMissing | JournalDamaged

@final
@frozen(order=False)
class Recording:
    run: StoredRun
    header: JournalHeader
    records: tuple[EntryRecord | BaseRecord, ...] = field()
    redacted: bool = False

    @property
    def entries(self) -> tuple[JournalEntry, ...]: ...
    @property
    def snapshot(self) -> LoopState | None: ...
    @property
    def steps(self) -> tuple[StepResult, ...]: ...
    def snapshots(self) -> Iterator[tuple[int, LoopState]]: ...

async def recording_of(
    store: JournalStore, run: str, *, seal: AnySeal | None = None
) -> Outcome[Recording, RecordingFault]: ...
def replayed(
    program: Program, recording: Recording, *, allow_other_program: bool = False
) -> Outcome[LoopState, Diverged]: ...
def replayed_states(
    program: Program, recording: Recording, *, allow_other_program: bool = False
) -> Iterator[Outcome[LoopState, Diverged]]: ...
def explained(program: Program, recording: Recording, diverged: Diverged) -> str: ...
