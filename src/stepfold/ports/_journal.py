"""The port through which a run is written down."""

from collections.abc import Awaitable
from typing import Protocol

from stepfold.loop import JournalEntry, JournalHeader


class Journal(Protocol):
    """Where the events of one run are kept, in the order in which they changed the state.

    An entry counts once `append` has returned; if it raises, the event did not happen. What is
    written is enough for `replay` to reach the same state.
    """

    def begin(self, header: JournalHeader, /) -> Awaitable[None]:
        """Keep how the run began; called once, before the first entry."""
        ...

    def append(self, entry: JournalEntry, /) -> Awaitable[None]:
        """Keep one event and the ids of the commands that it issued."""
        ...
