"""Floor 7: runs that survive their process.

`run` begins a run under a name in a store, or takes it up where it was left; `resume`, `answer`
and `take_over` do so from the journal alone. `record` keeps a run in a file, `replayed` decides a
recording anew, and `fork` lets another run begin in the middle of one. `page_of` draws one.

`MemoryStore` and `FileStore` keep journals; `stepfold.durable.sql` keeps them in SQLite and
PostgreSQL. `stepfold.durable.temporal` and `stepfold.durable.dbos` make workflows of runs. Runs
that go on elsewhere show what they are at by a `StreamChannel`, such as `FileChannel`.
"""

from stepfold.durable._channel import ShownPart, StreamChannel, StreamedPart
from stepfold.durable._file import FileStore
from stepfold.durable._file_channel import FileChannel
from stepfold.durable._fork import fork, fork_recording
from stepfold.durable._hand_over import HandedOver, HandOver
from stepfold.durable._journal import RunJournal
from stepfold.durable._memory import MemoryStore
from stepfold.durable._page import page_of
from stepfold.durable._recorded import read_recording, record, stored_in, write_recording
from stepfold.durable._recording import (
    Recording,
    explained,
    recording_of,
    replayed,
    replayed_states,
)
from stepfold.durable._records import BaseRecord, EntryRecord
from stepfold.durable._redacted import redacted
from stepfold.durable._resume import answer, resume, run, take_over
from stepfold.durable._seal import Seal
from stepfold.durable._secret_store import SecretStore
from stepfold.durable._stream import stream
from stepfold.durable._timeline import Change, Span, changes, spans_of
from stepfold.durable._working import DurableOptions

__all__ = (
    "BaseRecord",
    "Change",
    "DurableOptions",
    "EntryRecord",
    "FileChannel",
    "FileStore",
    "HandOver",
    "HandedOver",
    "MemoryStore",
    "Recording",
    "RunJournal",
    "Seal",
    "SecretStore",
    "ShownPart",
    "Span",
    "StreamChannel",
    "StreamedPart",
    "answer",
    "changes",
    "explained",
    "fork",
    "fork_recording",
    "page_of",
    "read_recording",
    "record",
    "recording_of",
    "redacted",
    "replayed",
    "replayed_states",
    "resume",
    "run",
    "spans_of",
    "stored_in",
    "stream",
    "take_over",
    "write_recording",
)
