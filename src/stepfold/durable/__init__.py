"""Floor 7: runs that survive their process.

`run` begins a run under a name in a store, or takes it up where it was left; `resume`, `answer`
and `take_over` do so from the journal alone. `MemoryStore` and `FileStore` keep journals;
`stepfold.durable.sql` keeps them in SQLite and PostgreSQL.
"""

from stepfold.durable._file import FileStore
from stepfold.durable._journal import RunJournal
from stepfold.durable._memory import MemoryStore
from stepfold.durable._recording import Recording, recording_of, replayed
from stepfold.durable._records import BaseRecord, EntryRecord
from stepfold.durable._resume import DurableOptions, answer, resume, run, take_over
from stepfold.durable._seal import Seal

__all__ = (
    "BaseRecord",
    "DurableOptions",
    "EntryRecord",
    "FileStore",
    "MemoryStore",
    "Recording",
    "RunJournal",
    "Seal",
    "answer",
    "recording_of",
    "replayed",
    "resume",
    "run",
    "take_over",
)
