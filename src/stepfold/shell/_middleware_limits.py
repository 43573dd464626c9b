"""Middleware that makes model calls wait: for each other, and for a time when they are allowed.

Who waits is served in the order of coming, and can be cancelled at any time without a loss. An
event loop has a queue of its own, since none can wake another.
"""

import itertools
import math
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final, final

import anyio
from anyio.lowlevel import RunVar
from attrs import frozen

from stepfold.ports import BLOCKING, Clock, Middleware, ModelStream
from stepfold.shell._clock import SystemClock
from stepfold.shell._middleware_layers import Layer
from stepfold.values import Instant, ModelReply, ModelRequest, StreamPart, UsageError

_numbers: Final = itertools.count()


def _unique(name: str) -> str:
    # Some versions of anyio tell variables of an event loop apart by their names.
    return f"{name}_{next(_numbers)}"


def limit_concurrency(calls: int, /) -> Middleware:
    """Let at most so many calls of a model be at work at once; the others wait in order.

    All models that one such middleware is put around share its places. A streamed call keeps its
    place until its stream is left. The places are counted for each event loop; runs without one
    (`drive_sync`) share places among their threads.

    Raises:
        UsageError: `calls` is less than one.
    """
    if calls < 1:
        raise UsageError(f"limit_concurrency: expected at least 1 call, got {calls!r}")
    places = _Places(calls)
    return lambda model: _WaitingLayer(model, places.held)


def limit_rate(requests: int, /, per_seconds: float, *, clock: Clock | None = None) -> Middleware:
    """Let at most so many calls begin within any stretch of this length; the others wait.

    All models that one such middleware is put around share the count. The count holds for the
    whole process, the order of waiting for each event loop.

    Args:
        requests: How many calls may begin.
        per_seconds: The length of the stretch, which slides.
        clock: What measures it; the system's by default.

    Raises:
        UsageError: `requests` is less than one, or `per_seconds` is not positive and finite.
    """
    if requests < 1:
        raise UsageError(f"limit_rate: expected at least 1 request, got {requests!r}")
    if not (math.isfinite(per_seconds) and per_seconds > 0):
        raise UsageError(
            f"limit_rate: expected per_seconds to be positive and finite, got {per_seconds!r}"
        )
    window = _Window(
        requests, math.ceil(per_seconds * 1e9), SystemClock() if clock is None else clock
    )
    return lambda model: _WaitingLayer(model, window.entered)


@final
@frozen(eq=False)
class _WaitingLayer(Layer):
    """Asks the inner model within a context that may have to be waited for."""

    admitted: Callable[[], AbstractAsyncContextManager[None]]

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        async with self.admitted():
            return await self.inner.generate(request)

    def stream(self, request: ModelRequest, /) -> ModelStream:
        return self._admitted_stream(request)

    @asynccontextmanager
    async def _admitted_stream(
        self, request: ModelRequest
    ) -> AsyncGenerator[AsyncIterator[StreamPart]]:
        async with self.admitted(), self.inner.stream(request) as parts:
            yield parts


@final
class _Places:
    """So many places in each event loop, and so many without one."""

    def __init__(self, count: int) -> None:
        self._count: Final = count
        self._in_loop: Final = RunVar[anyio.Semaphore](_unique("stepfold_places"))
        self._in_threads: Final = threading.Semaphore(count)

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        """Wait for a place, and keep it."""
        if BLOCKING.get():
            with self._in_threads:
                yield
            return
        semaphore = self._in_loop.get(None)
        if semaphore is None:
            semaphore = anyio.Semaphore(self._count)
            self._in_loop.set(semaphore)
        async with semaphore:
            yield


@final
class _Window:
    """The times at which the last calls began; another may begin when the first is old enough."""

    def __init__(self, count: int, length: int, clock: Clock) -> None:
        self._count: Final = count
        self._length: Final = length
        self._clock: Final = clock
        self._begun: deque[Instant] = deque()
        self._guard: Final = threading.Lock()  # never held while waiting
        self._in_loop: Final = RunVar[anyio.Lock](_unique("stepfold_turn"))

    @asynccontextmanager
    async def entered(self) -> AsyncGenerator[None]:
        """Wait until another call may begin."""
        if BLOCKING.get():
            await self._enter()
        else:
            lock = self._in_loop.get(None)
            if lock is None:
                lock = anyio.Lock()
                self._in_loop.set(lock)
            async with lock:
                await self._enter()
        yield

    async def _enter(self) -> None:
        while (at := self._begin()) is not None:
            await self._clock.sleep_until(at)

    def _begin(self) -> Instant | None:
        """Count a call that begins now, or say when to ask again."""
        with self._guard:
            now = self._clock.now()
            if len(self._begun) == self._count:
                at = self._begun[0] + self._length
                if at > now:
                    return at
                self._begun.popleft()
            self._begun.append(now)
            return None
