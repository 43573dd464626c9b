from typing import final
from attrs import frozen
from stepfold.loop import Increment, JournalEntry
from stepfold.loop.notes import Note

@final
@frozen(order=False)
class EntryRecord:
    entry: JournalEntry
    notes: tuple[Note, ...] = ()
    increment: Increment | None = None

@final
@frozen(order=False)
class BaseRecord:
    increment: Increment
