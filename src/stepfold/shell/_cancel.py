"""Cancelling a run from beside it."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, final

import anyio


@final
class CancelHandle:
    """Ends one run: call it with a reason, from the event loop that the run is in.

    The run then ends in `Cancelled(reason)` and is returned with all that was finished. A call
    before the run has begun ends it before anything is asked of a model; a second call changes
    nothing.

    With `after_step=True` the step in flight is not interrupted: its reply comes to its end, its
    tools run, all of it is recorded, and the run ends before a model is asked again. A step that
    is the last one anyway ends the run as it would have. Where no step is in flight, as in a pause
    before a retry, the run ends at once. Who loses patience calls again without it.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.reason_after_step: str | None = None
        self.is_leaving: bool = False
        self._scopes: Final[list[anyio.CancelScope]] = []
        self._idle: Final[list[anyio.CancelScope]] = []
        self._followers: Final[list[CancelHandle]] = []

    def __call__(self, reason: str = "cancelled", *, after_step: bool = False) -> None:
        """Ask the run to end: now, or after the step in flight."""
        if self.reason is not None:
            return
        if not after_step:
            self.reason = reason
            for scope in self._scopes:
                scope.cancel()
        elif self.reason_after_step is None:
            self.reason_after_step = reason
            for scope in self._idle:
                scope.cancel()

    def leave(self) -> None:
        """Ask whoever drives the run to begin nothing more, and to give it up as it is then.

        The run does not end: what is in flight comes to its end and is recorded, a pause is left at
        once, and somebody else takes the run up. See `stepfold.durable.HandOver`.
        """
        self.is_leaving = True
        for scope in self._idle:
            scope.cancel()
        for follower in self._followers:
            follower.leave()

    @contextmanager
    def leading(self, follower: "CancelHandle") -> Generator[None]:
        """Let another run be given up together with this one; both are in one event loop."""
        self._followers.append(follower)
        if self.is_leaving:
            follower.leave()
        try:
            yield
        finally:
            self._followers.remove(follower)

    @contextmanager
    def idle(self) -> Generator[None]:
        """Do what need not be done for a run that shall end after its step."""
        with anyio.CancelScope() as scope:
            self._idle.append(scope)
            if self.reason_after_step is not None or self.is_leaving:
                scope.cancel()
            try:
                yield
            finally:
                self._idle.remove(scope)

    def attach(self, scope: anyio.CancelScope) -> None:
        """Let a scope be cancelled with the run."""
        self._scopes.append(scope)
        if self.reason is not None:
            scope.cancel()

    def detach(self, scope: anyio.CancelScope) -> None:
        """Forget a scope that was left."""
        self._scopes.remove(scope)
