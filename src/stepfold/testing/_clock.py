"""A clock that never waits."""

from typing import final

from stepfold.values import Instant, UsageError

_SECOND = 1_000_000_000


@final
class VirtualClock:
    """A clock that stands still until somebody sleeps, and then is there at once.

    Runs are so quick and give equal times on every machine. `start` is the first instant, in
    nanoseconds; `slept` lists the instants that were waited for, in order.
    """

    def __init__(self, start: Instant = 1_000_000_000_000_000_000) -> None:
        self._now: Instant = start
        self._slept: list[Instant] = []

    @property
    def slept(self) -> tuple[Instant, ...]:
        """The instants that were waited for so far."""
        return tuple(self._slept)

    def now(self) -> Instant:
        """The time that the clock stands at, in nanoseconds."""
        return self._now

    async def sleep_until(self, instant: Instant, /) -> None:
        """Set the clock to this instant, unless it is past already; return at once."""
        self._slept.append(instant)
        self._now = max(self._now, instant)

    def advance(self, seconds: float) -> None:
        """Set the clock forward.

        Raises:
            UsageError: the time would run back.
        """
        if seconds < 0:
            msg = f"VirtualClock.advance: expected seconds that are not negative, got {seconds!r}"
            raise UsageError(msg)
        self._now += round(seconds * _SECOND)
