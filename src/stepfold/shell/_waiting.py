"""The two ways of waiting: in an event loop, and in a thread of one's own.

Code above this module is written once, as coroutines. In an event loop they suspend; without
one, `run_now` runs each to its end, and whatever would suspend blocks instead.
"""

from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Literal, Protocol, TypeVar, final

import anyio
import anyio.to_thread
from typing_extensions import override

from stepfold.ports import Clock
from stepfold.values import Instant, UsageError

T = TypeVar("T")


class Waiting(Protocol):
    """How the shell waits."""

    async def in_thread(self, function: Callable[[], T], /) -> T:
        """Run a function that blocks."""
        ...

    async def until(
        self, deadline: Instant | None, clock: Clock, work: Callable[[], Awaitable[T]], /
    ) -> T | Literal["timeout"]:
        """Do the work, or give up at the deadline."""
        ...


@final
class LoopWaiting:
    """Waiting in an event loop, asyncio's or trio's: functions that block go to worker threads."""

    async def in_thread(self, function: Callable[[], T], /) -> T:
        """Run a function in a worker thread; a cancelled wait abandons the thread."""
        return await anyio.to_thread.run_sync(function, abandon_on_cancel=True)

    async def until(
        self, deadline: Instant | None, clock: Clock, work: Callable[[], Awaitable[T]], /
    ) -> T | Literal["timeout"]:
        """Do the work; at the deadline it is cancelled, wherever it is."""
        if deadline is None:
            return await work()
        with anyio.move_on_after(max(0, deadline - clock.now()) / 1e9):
            return await work()
        return "timeout"


@final
class ThreadWaiting:
    """Waiting without an event loop: everything runs here and now."""

    async def in_thread(self, function: Callable[[], T], /) -> T:
        """Run a function in this thread."""
        return function()

    async def until(
        self, deadline: Instant | None, clock: Clock, work: Callable[[], Awaitable[T]], /
    ) -> T | Literal["timeout"]:
        """Do the work; that it took too long shows when it is done."""
        result = await work()
        return "timeout" if deadline is not None and clock.now() > deadline else result


def run_now(work: Coroutine[object, object, T]) -> T:
    """Run a coroutine that never suspends.

    Raises:
        UsageError: it suspended, so it needs an event loop; the text names it.
    """
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    name = suspended_in(work)
    work.close()
    raise UsageError(
        f"drive_sync: {name} waits for an event loop; mark its tool async_only=True, or run it "
        "with drive, generate or stream"
    )


def suspended_in(work: object) -> str:
    """The innermost coroutine that is suspended, by name."""
    name = "a coroutine"
    while work is not None:
        found: object = getattr(work, "__qualname__", None)
        if isinstance(found, str):
            name = found
        inner: object = getattr(work, "cr_await", None)
        work = inner if inner is not None else getattr(work, "ag_await", None)
    return name


@final
class Watched(Awaitable[T]):
    """Awaits a coroutine and tells whether a cancellation came from outside or from within it.

    A tool that raises a cancellation that nobody asked for must not end the run.
    """

    __slots__ = ("_work", "was_thrown")

    def __init__(self, work: Awaitable[T]) -> None:
        self._work = work
        self.was_thrown: bool = False

    @override
    def __await__(self) -> Generator[object, object, T]:
        steps = self._work.__await__()
        resume: Callable[[], object] = lambda: next(steps)  # noqa: E731 - replaced below
        while True:
            try:
                wanted = resume()
            except StopIteration as done:
                result: T = done.value
                return result
            try:
                sent = yield wanted
            except BaseException as error:  # noqa: BLE001 - handed on to the coroutine
                self.was_thrown = True
                thrown = error
                resume = lambda: steps.throw(thrown)  # noqa: B023, E731 - used before the next turn
            else:
                resume = lambda: next(steps) if sent is None else steps.send(sent)  # noqa: B023, E731
