"""When a run of a pipeline shall end before it has come to its end."""

from contextlib import AbstractContextManager
from typing import Final, final

import anyio

from stepfold.ports import Clock
from stepfold.shell import CancelHandle

_SECOND: Final = 1_000_000_000


@final
class Ending:
    """Watches a handle and a time limit, which counts from when this is made."""

    def __init__(self, cancel: CancelHandle | None, seconds: float | None, clock: Clock) -> None:
        self._cancel = CancelHandle() if cancel is None else cancel
        self._seconds = seconds
        self._clock = clock
        self._ends = None if seconds is None else clock.now() + int(seconds * _SECOND)
        self._is_up = False

    @property
    def reason(self) -> str | None:
        """Why the run has to end now, if it has to."""
        if self._cancel.reason is not None:
            return self._cancel.reason
        if self._ends is not None and (self._is_up or self._clock.now() >= self._ends):
            return f"its time limit of {self._seconds:g} s was reached"
        return None

    @property
    def reason_at_rest(self) -> str | None:
        """Why it has to end as soon as no stage is in flight, if it has to."""
        return self.reason or self._cancel.reason_after_step

    async def asked(self) -> None:
        """Wait until there is a reason to end now; to be cancelled if nobody asks."""
        with anyio.CancelScope() as scope:
            if self._ends is not None:
                left = (self._ends - self._clock.now()) / _SECOND
                scope.deadline = anyio.current_time() + left
            self._cancel.attach(scope)
            try:
                await anyio.sleep_forever()
            finally:
                self._cancel.detach(scope)
        self._is_up = self._cancel.reason is None

    def idle(self) -> AbstractContextManager[None]:
        """Do what need not be done for a run that shall end when no stage is in flight."""
        return self._cancel.idle()
