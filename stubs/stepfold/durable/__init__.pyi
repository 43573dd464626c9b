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
