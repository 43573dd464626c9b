from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from os import PathLike
from stepfold.durable._journal import RunJournal
from stepfold.durable._recording import Recording
from stepfold.durable._sealed import AnySeal
from stepfold.ports import JournalDamaged, JournalMissing, StoredJournal
from stepfold.values import Outcome

@asynccontextmanager
def record(
    path: str | PathLike[str], *, seal: AnySeal | None = None
) -> AsyncGenerator[RunJournal]: ...
def read_recording(
    path: str | PathLike[str], *, seal: AnySeal | None = None
) -> Outcome[Recording, JournalMissing | JournalDamaged]: ...
def stored_in(
    path: str | PathLike[str],
) -> Outcome[StoredJournal, JournalMissing | JournalDamaged]: ...
def write_recording(
    recording: Recording, path: str | PathLike[str], *, seal: AnySeal | None = None
) -> None: ...
