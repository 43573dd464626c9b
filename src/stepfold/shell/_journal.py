"""A journal in memory: what tests, demos and `replay` need."""

from typing import final

from stepfold.loop import JournalEntry, JournalHeader
from stepfold.values import UsageError


@final
class MemoryJournal:
    """Keeps one run in memory; `header` and `entries` are what `replay` takes."""

    def __init__(self) -> None:
        self._header: JournalHeader | None = None
        self._entries: list[JournalEntry] = []

    @property
    def header(self) -> JournalHeader:
        """How the run began.

        Raises:
            UsageError: no run has begun.
        """
        if self._header is None:
            raise UsageError("the journal is empty: expected a run to have begun")
        return self._header

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """What happened, in order."""
        return tuple(self._entries)

    async def begin(self, header: JournalHeader, /) -> None:
        """Keep how the run began.

        Raises:
            UsageError: this journal already holds a run.
        """
        if self._header is not None:
            raise UsageError(
                f"expected a new journal, got one that holds the run {self._header.run!r}"
            )
        self._header = header

    async def append(self, entry: JournalEntry, /) -> None:
        """Keep one event and the ids of the commands that it issued."""
        self._entries.append(entry)
