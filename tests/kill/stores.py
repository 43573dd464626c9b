"""A store that is killed with its process."""

import os
import signal
from typing import Literal, TypeAlias, cast

from attrs import frozen

from stepfold.ports import JournalConflict, JournalRecord, JournalStore
from stepfold.values import Outcome

Moment: TypeAlias = Literal["before", "after"]


@frozen
class Boundary:
    """Where a worker kills itself: before or after it has stored its n-th record."""

    number: int
    moment: Moment


class KillingStore:
    """A store that is killed with its process at a boundary; it counts the records of all runs."""

    def __init__(self, inner: JournalStore, boundary: Boundary | None) -> None:
        self._inner = inner
        self._boundary = boundary
        self.count = 0

    @property
    def store(self) -> JournalStore:
        """This store, by its type: what it does not define is the inner one's."""
        return cast("JournalStore", self)

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Outcome[int, JournalConflict]:
        """Append a record, unless it is time."""
        self.count += 1
        number = self.count
        if self._boundary == Boundary(number, "before"):
            os.kill(os.getpid(), signal.SIGKILL)
        outcome = await self._inner.append(run, record, expected=expected)
        if self._boundary == Boundary(number, "after"):
            os.kill(os.getpid(), signal.SIGKILL)
        return outcome
