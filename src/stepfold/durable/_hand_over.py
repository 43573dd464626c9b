"""Giving runs up on purpose, so that another process takes them up at once."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, final

from typing_extensions import override

from stepfold.shell import CancelHandle
from stepfold.values import StepfoldError


@final
class HandedOver(StepfoldError):
    """This process has given a run up, and somebody else may take it up; the run goes on."""

    __module__ = "stepfold.durable"

    def __init__(self, run: str) -> None:
        super().__init__(
            f"the run {run!r} was handed over: resume it, or let another process take it over"
        )
        self.run: str = run

    @override
    def __reduce__(self) -> tuple[type["HandedOver"], tuple[str]]:
        return (HandedOver, (self.run,))


@final
class HandOver:
    """Lets all runs that it was given to be handed over: call it where a process shall end.

    It is given as `hand_over=` to `run`, `resume`, `answer` and `take_over`, for any number of
    runs, and called from the event loop that they are in. Nothing new is begun then: what is in
    flight comes to its end and is written down, pauses are left, and each run is released. Who
    waits for it gets `HandedOver`, and so does who begins one with it afterwards.

    Runs of tool calls, `run(…, parent=context)`, are handed over with the run that called, and are
    not given it themselves. That call has no answer then: it is made again, and goes on with its
    run. One of a tool that must not run twice comes to its end first, with all that it began.
    """

    def __init__(self) -> None:
        self.is_asked: bool = False
        self._handles: Final[set[CancelHandle]] = set()

    def __call__(self) -> None:
        """Hand all runs over; a second call changes nothing."""
        self.is_asked = True
        for handle in self._handles:
            handle.leave()

    @contextmanager
    def covering(self, handle: CancelHandle) -> Generator[None]:
        """Hand the run over that has this handle, if it is asked for meanwhile."""
        self._handles.add(handle)
        if self.is_asked:
            handle.leave()
        try:
            yield
        finally:
            self._handles.discard(handle)
