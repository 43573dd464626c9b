"""The two ways of waiting: in an event loop, and in a thread of one's own.

Code above this module is written once, as coroutines. In an event loop they suspend; without
one, `run_now` runs each to its end, and whatever would suspend blocks instead.
"""

import math
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from typing import Literal, Protocol, TypeVar, final

import anyio
import anyio.to_thread
from typing_extensions import override

from stepfold.ports import Clock
from stepfold.values import Instant, UsageError

T = TypeVar("T")


class Waiting(Protocol):
    """How the shell waits for the code of tools."""

    async def in_thread(self, function: Callable[[], T], /) -> T:
        """Run a function that blocks.

        Raises:
            SpuriousCancellationError: it raised a cancellation.
        """
        ...

    async def for_code(self, work: Awaitable[T], /) -> T:
        """Await what is not ours.

        Raises:
            SpuriousCancellationError: it raised a cancellation that nobody had asked for.
        """
        ...

    async def until(
        self, deadline: Instant | None, clock: Clock, work: Callable[[], Awaitable[T]], /
    ) -> T | Literal["timeout"]:
        """Do the work, or give up at the deadline."""
        ...


@final
class SpuriousCancellationError(Exception):
    """Code raised a cancellation that nobody had asked for."""


def is_cancellation(error: BaseException | None) -> bool:
    """Whether this is how asyncio or trio, whichever is running, interrupts a coroutine."""
    if error is None or isinstance(error, Exception):
        return False
    return any(kind.__name__ in {"CancelledError", "Cancelled"} for kind in type(error).__mro__)


def _guarded(function: Callable[[], T]) -> T:
    """Call a function in which nothing can be cancelled."""
    try:
        return function()
    except BaseException as error:
        if is_cancellation(error):
            raise SpuriousCancellationError from error
        raise


@final
class LoopWaiting:
    """Waiting in an event loop, asyncio's or trio's: functions that block go to worker threads."""

    async def in_thread(self, function: Callable[[], T], /) -> T:
        """Run a function in a worker thread; a cancelled wait abandons the thread."""
        # In a tuple, since trio refuses a coroutine that is made in a thread.
        work = lambda: (_guarded(function),)  # noqa: E731
        return (await anyio.to_thread.run_sync(work, abandon_on_cancel=True))[0]

    async def for_code(self, work: Awaitable[T], /) -> T:
        """Await what is not ours, and tell its own cancellations from those that came to it."""
        watched = Watched(work)
        try:
            return await watched
        except BaseException as error:
            if not is_cancellation(error) or watched.was_given(error):
                raise
            if anyio.current_effective_deadline() == -math.inf:  # trio hands them in by value
                raise
            raise SpuriousCancellationError from error

    async def until(
        self, deadline: Instant | None, clock: Clock, work: Callable[[], Awaitable[T]], /
    ) -> T | Literal["timeout"]:
        """Do the work; at the deadline it is cancelled, wherever it is.

        Work that shrugs off its cancellation has run out of time all the same.
        """
        if deadline is None:
            return await work()
        with anyio.move_on_after(max(0, deadline - clock.now()) / 1e9) as scope:
            result = await work()
            if not scope.cancel_called:
                return result
        return "timeout"


@final
class ThreadWaiting:
    """Waiting without an event loop: everything runs here and now."""

    async def in_thread(self, function: Callable[[], T], /) -> T:
        """Run a function in this thread."""
        return _guarded(function)

    async def for_code(self, work: Awaitable[T], /) -> T:
        """Await what is not ours; nobody can cancel it."""
        try:
            return await work
        except BaseException as error:
            if is_cancellation(error):
                raise SpuriousCancellationError from error
            raise

    async def until(
        self, deadline: Instant | None, clock: Clock, work: Callable[[], Awaitable[T]], /
    ) -> T | Literal["timeout"]:
        """Do the work; that it took too long shows when it is done."""
        result = await work()
        return "timeout" if deadline is not None and clock.now() > deadline else result


def in_event_loop() -> bool:
    """Whether this is called within a running event loop."""
    try:
        anyio.get_current_task()
    except RuntimeError:
        return False
    return True


def run_now(work: Coroutine[object, object, T], doing: Callable[[], str]) -> T:
    """Run a coroutine that never suspends; `doing` tells what it is at.

    Raises:
        UsageError: it suspended, so it needs an event loop; the text names what did.
    """
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    name = suspended_in(work)
    what = doing()
    work.close()
    raise needs_loop(f"{what} (in {name})")


def needs_loop(what: str) -> UsageError:
    """The error for code that cannot run without an event loop."""
    return UsageError(
        f"drive_sync: {what} waits for an event loop; mark a tool like this async_only=True, and "
        "use drive, generate or stream"
    )


_NO_LOOP = frozenset({"NoEventLoopError", "AsyncLibraryNotFoundError"})
_NO_LOOP_TEXTS = frozenset({"no running event loop", "must be called from async context"})


def missed_loop(error: BaseException) -> bool:
    """Whether an error says that there is no event loop, in the words of anyio, asyncio or trio."""
    return any(
        type(one).__name__ in _NO_LOOP
        or (isinstance(one, RuntimeError) and str(one) in _NO_LOOP_TEXTS)
        for one in _chain(error)
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that it came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


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
    """Awaits a coroutine and keeps what is thrown into it.

    A tool that raises a cancellation that nobody asked for must not end the run.
    """

    __slots__ = ("_thrown", "_work")

    def __init__(self, work: Awaitable[T]) -> None:
        self._work = work
        self._thrown: list[BaseException] = []

    def was_given(self, error: BaseException) -> bool:
        """Whether an error that came out is one that went in, or came of one."""
        return any(one is thrown for one in _chain(error) for thrown in self._thrown)

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
                self._thrown.append(error)
                thrown = error
                resume = lambda: steps.throw(thrown)  # noqa: B023, E731 - used before the next turn
            else:
                resume = lambda: next(steps) if sent is None else steps.send(sent)  # noqa: B023, E731
