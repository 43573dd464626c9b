"""Cancelling a run from beside it."""

from typing import Final, final

import anyio


@final
class CancelHandle:
    """Ends one run: call it with a reason, from the event loop that the run is in.

    The run then ends in `Cancelled(reason)` and is returned with all that was finished. A call
    before the run has begun ends it before anything is asked of a model; a second call changes
    nothing.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self._scopes: Final[list[anyio.CancelScope]] = []

    def __call__(self, reason: str = "cancelled") -> None:
        """Ask the run to end."""
        if self.reason is None:
            self.reason = reason
            for scope in self._scopes:
                scope.cancel()

    def attach(self, scope: anyio.CancelScope) -> None:
        """Let a scope be cancelled with the run."""
        self._scopes.append(scope)
        if self.reason is not None:
            scope.cancel()

    def detach(self, scope: anyio.CancelScope) -> None:
        """Forget a scope that was left."""
        self._scopes.remove(scope)
