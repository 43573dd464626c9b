"""The port through which a run learns the time."""

from typing import Protocol

from stepfold.values import Instant


class Clock(Protocol):
    """Where the shell takes the time of events from."""

    def now(self) -> Instant:
        """Nanoseconds of wall-clock time since 1970-01-01 UTC."""
        ...

    async def sleep_until(self, instant: Instant, /) -> None:
        """Return when `now()` is at least `instant`."""
        ...
