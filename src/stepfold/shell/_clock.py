"""The clock of the machine."""

import time
from typing import final

import anyio

from stepfold.ports import BLOCKING
from stepfold.values import Instant


@final
class SystemClock:
    """Wall-clock time that never runs back: it is read once, and from then on elapses evenly."""

    __slots__ = ("_offset",)

    def __init__(self) -> None:
        self._offset: int = time.time_ns() - time.perf_counter_ns()

    def now(self) -> Instant:
        """Nanoseconds since 1970-01-01 UTC."""
        return self._offset + time.perf_counter_ns()

    async def sleep_until(self, instant: Instant, /) -> None:
        """Return when `now()` is at least `instant`; blocks where there is no event loop."""
        while (left := instant - self.now()) > 0:
            if BLOCKING.get():
                time.sleep(left / 1e9)  # noqa: ASYNC251 - there is no event loop to block
            else:
                await anyio.sleep(left / 1e9)
