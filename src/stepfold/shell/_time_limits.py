"""The time limits of a run while it is driven.

They are instants of the run's own clock, so a clock that never waits is obeyed too. What is in
flight is cut by the scopes that are attached here; where there is no event loop there are none,
and a limit holds as soon as a command has been carried out. The time of a step counts from when it
was seen to begin: a run that was taken up again starts it anew, and at rest it does not count.
"""

import math
from typing import Final, Literal, TypeAlias, final

import anyio

from stepfold.loop import Done, Phase, Resting, Timeouts
from stepfold.loop.events import TimedOut
from stepfold.ports import Clock
from stepfold.values import Instant, ModelReply

_SECOND = 1_000_000_000

LeftOff: TypeAlias = tuple[Instant | None, int | None, Instant | None]
"""When the run will have taken too long, at which step it was, and when that will have."""


@final
class TimeLimits:
    """When a run, and the step that it is in, will have taken too long."""

    __slots__ = ("_at_step", "_clock", "_scopes", "_step_ends", "_timeouts", "_total_ends")

    def __init__(self, timeouts: Timeouts, clock: Clock) -> None:
        self._timeouts: Final = timeouts
        self._clock: Final = clock
        self._total_ends: Instant | None = None
        self._step_ends: Instant | None = None
        self._at_step: int | None = None
        self._scopes: Final[list[anyio.CancelScope]] = []

    def begin(self, phase: Phase) -> None:
        """Let the time of the run count from now."""
        total = self._timeouts.total
        if total is not None:
            self._total_ends = self._clock.now() + int(total * _SECOND)
        self.follow(phase)

    def follow(self, phase: Phase) -> None:
        """Let the time of a step count from when the run has come to it."""
        limit = self._timeouts.step
        at_step = None if isinstance(phase, Done | Resting) else phase.step
        if limit is None or at_step == self._at_step:
            return
        self._at_step = at_step
        self._step_ends = None if at_step is None else self._clock.now() + int(limit * _SECOND)
        for scope in self._scopes:
            self._aim(scope)

    def left_off(self) -> LeftOff:
        """What has to be known to go on elsewhere: see `go_on`."""
        return self._total_ends, self._at_step, self._step_ends

    def go_on(self, left_off: LeftOff) -> None:
        """Let the time count as it did where the run was until now."""
        self._total_ends, self._at_step, self._step_ends = left_off

    @property
    def ends(self) -> Instant | None:
        """When the first of the limits is reached."""
        total, step = self._total_ends, self._step_ends
        if total is None or step is None:
            return step if total is None else total
        return min(total, step)

    @property
    def is_reached(self) -> bool:
        """Whether the time is up."""
        ends = self.ends
        return ends is not None and self._clock.now() >= ends

    def event(self, at_step: int, partial: ModelReply | None) -> TimedOut:
        """What happens to a run whose time is up."""
        total = self._total_ends is not None and self._total_ends == self.ends
        limit: Literal["total", "step"] = "total" if total else "step"
        return TimedOut(limit, at_step, self._clock.now(), partial=partial)

    # --- what is in flight --------------------------------------------------------------------

    def attach(self, scope: anyio.CancelScope) -> None:
        """Let a scope be cancelled when the time is up, wherever it is then."""
        self._scopes.append(scope)
        self._aim(scope)

    def detach(self, scope: anyio.CancelScope) -> None:
        """Forget a scope that was left."""
        self._scopes.remove(scope)

    def _aim(self, scope: anyio.CancelScope) -> None:
        ends = self.ends
        left = math.inf if ends is None else (ends - self._clock.now()) / _SECOND
        scope.deadline = anyio.current_time() + left


def limits_of(timeouts: Timeouts, clock: Clock) -> TimeLimits | None:
    """The limits of a run, if it has any."""
    if timeouts.total is None and timeouts.step is None:
        return None
    return TimeLimits(timeouts, clock)
