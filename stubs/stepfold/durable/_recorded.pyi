from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from os import PathLike
from stepfold.durable._journal import RunJournal
from stepfold.durable._recording import Recording
from stepfold.durable._seal import Seal
from stepfold.ports import JournalDamaged, JournalMissing, StoredJournal
from stepfold.values import Outcome

@asynccontextmanager
def record(
    path: str | PathLike[str], *, seal: Seal | None = None
) -> AsyncGenerator[RunJournal]: ...
def read_recording(
    path: str | PathLike[str], *, seal: Seal | None = None
) -> Outcome[Recording, JournalMissing | JournalDamaged]: ...
def stored_in(
    path: str | PathLike[str],
) -> Outcome[StoredJournal, JournalMissing | JournalDamaged]: ...
def write_recording(
    recording: Recording, path: str | PathLike[str], *, seal: Seal | None = None
) -> None: ...
