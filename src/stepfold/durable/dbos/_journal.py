"""The journal of a workflow, as a stream of the engine: the lines of a file, some at a time."""

from io import BytesIO
from typing import Final, final

from dbos import DBOS, error

from stepfold.durable._lines import payload_line, record_line
from stepfold.durable._recorded import stored_of
from stepfold.ports import (
    JournalConflict,
    JournalDamaged,
    JournalMissing,
    JournalRecord,
    StoredJournal,
)
from stepfold.values import Failure, Outcome, Success

JOURNAL: Final = "journal"
"""The key of the stream."""


@final
class RecordBuffer:
    """Keeps the records of one run until they are written into the stream."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._known: set[str] = set()

    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Outcome[int, JournalConflict]:
        """Keep a record: the engine lets nobody else advance the run."""
        for digest, data in record.payloads:
            if digest not in self._known:
                self._known.add(digest)
                self._lines.append(payload_line(digest, data))
        number = expected + 1
        self._lines.append(record_line(number, record, run=run if number == 1 else None))
        return Success(number)

    def take(self) -> str:
        """Give what is not written yet, as lines; nothing if all is."""
        lines, self._lines = self._lines, []
        return b"".join(lines).decode()


async def read_journal(run: str) -> Outcome[StoredJournal, JournalMissing | JournalDamaged]:
    """Read what has been written of a run; one that waits in a queue is not there yet."""
    pieces: list[bytes] = []
    try:
        async for piece in DBOS.read_stream_async(run, JOURNAL, timeout_seconds=0):
            if not isinstance(piece, str):
                return Failure(
                    JournalDamaged(run, f"expected text in its stream, got {piece!r:.80}")
                )
            pieces.append(piece.encode())
    except error.DBOSStreamTimeoutError:  # that is all there is by now
        pass
    except error.DBOSNonExistentWorkflowError:
        return Failure(JournalMissing(run))
    if not pieces:
        return Failure(JournalMissing(run))
    return stored_of(BytesIO(b"".join(pieces)), run)
