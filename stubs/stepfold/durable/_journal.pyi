from typing import Self, final
from stepfold.durable._sealed import AnySeal
from stepfold.loop import JournalEntry, JournalHeader, LoopState, Transition
from stepfold.ports import JournalFault, JournalSink

@final
class RunJournal:
    def __init__(self, store: JournalSink, *, seal: AnySeal | None = None) -> None: ...
    @classmethod
    def continued(
        cls,
        store: JournalSink,
        run: str,
        version: int,
        kept: LoopState | None,
        *,
        seal: AnySeal | None = None,
    ) -> Self: ...
    @property
    def version(self) -> int: ...
    async def begin(self, header: JournalHeader, /) -> None: ...
    async def append(self, entry: JournalEntry, /) -> None: ...
    async def advance(self, entry: JournalEntry, transition: Transition, /) -> None: ...
    def fence(self, fault: JournalFault) -> None: ...
