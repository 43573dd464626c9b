from collections.abc import Awaitable
from typing import Protocol
from stepfold.loop import JournalEntry, JournalHeader

class Journal(Protocol):
    def begin(self, header: JournalHeader, /) -> Awaitable[None]: ...
    def append(self, entry: JournalEntry, /) -> Awaitable[None]: ...
