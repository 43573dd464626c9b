"""The port through which the model calls of one run share what is costly to open.

Whoever opens a connection for a model call asks for the keeper of the run by the context. So
nothing in between, no middleware and no adapter, has to know of it or could lose it, and a model
that needs no connection needs no method for one.
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Protocol, TypeVar


class Kept(Protocol):
    """What can be kept until a run rests, such as an HTTP client."""

    def aclose(self) -> Awaitable[None]:
        """Let go of what it holds; never suspends where `BLOCKING` is set."""
        ...


K = TypeVar("K", bound=Kept)


class Keeper(Protocol):
    """Keeps what the model calls of one run share, and closes it when the run rests or ends.

    What is kept stays open between the calls, and between the parts of a stream. So it must hold
    no cancel scope and no task group.
    """

    def keep(self, key: object, make: Callable[[], K], /) -> K | None:
        """Give what is kept under a key, made by the first who asks for it.

        `None` where nothing can be kept: in another event loop than that of the run, or when the
        run has come to rest. What one then makes is one's own to close.
        """
        ...


KEEPER: ContextVar[Keeper | None] = ContextVar("stepfold_keeper", default=None)
"""The keeper of the run whose model is being asked; `None` outside of a run's model calls.

The drivers set it while a model's code runs, in a stream until the first words or calls come: not
for tools, and not for the consumer of a stream.
"""
