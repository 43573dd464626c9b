"""User code that is run and watched: does it end, block the event loop, heed a cancellation?"""

import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from importlib.util import find_spec
from typing import Final, TypeAlias, cast, final

import anyio
from anyio.abc import TaskStatus
from attrs import evolve, frozen

from stepfold.values import UsageError

Work: TypeAlias = Callable[[], Awaitable[Sequence[object]]]
"""What is run: it gives its results."""

CANCELLED_AFTER: Final = 0.05
PROMPTLY: Final = 1.0
PATIENCE: Final = 10.0
BLOCKED: Final = 0.5


@final
@frozen(order=False, eq=False, kw_only=True)
class Ended:
    """How a call ended: its results or what it raised, how long it took and blocked the loop."""

    results: Sequence[object] = ()
    error: BaseException | None = None
    took: float = 0.0
    blocked: float = 0.0


def _run(work: Work, where: str) -> Ended:
    ticks: list[float] = []

    async def timed() -> Ended:
        started = time.monotonic()
        try:
            ended = Ended(results=await work())
        except Exception as error:  # noqa: BLE001 - it is a result as well
            ended = Ended(error=error)
        now = time.monotonic()
        return evolve(ended, took=now - started, blocked=now - ticks[-1])

    async def beside() -> None:
        async with anyio.create_task_group() as group:
            await group.start(_tick, ticks)
            came.append(await timed())
            group.cancel_scope.cancel()

    came: list[Ended] = []
    try:
        anyio.run(beside, backend=where)
    except BaseException as error:  # noqa: BLE001 - whatever it raises is what is told
        return Ended(error=_first(error))
    return came[0]


def _first(error: BaseException) -> BaseException:
    """What a task group has packed, if it is one error."""
    packed: object = getattr(error, "exceptions", None)
    if isinstance(packed, tuple) and packed:
        first: object = cast("tuple[object, ...]", packed)[0]
        return first if isinstance(first, BaseException) else error
    return error


async def _tick(ticks: list[float], *, task_status: TaskStatus[None]) -> None:
    """Note the time, over and over, as long as the loop lets it."""
    ticks.append(time.monotonic())
    task_status.started()
    while True:
        await anyio.sleep(0.01)
        ticks[-1] = time.monotonic()


def require_loops(check: str, backends: Sequence[str]) -> None:
    """Refuse event loops that are not there.

    Raises:
        UsageError: one is unknown or not installed, or none is named.
    """
    there = [name for name in ("asyncio", "trio") if find_spec(name) is not None]
    if not backends or not {*backends} <= {*there}:
        told = " or ".join(there)
        raise UsageError(f"{check}: expected backends from {told}, got {[*backends]!r}")


def watched(work: Work, where: str) -> Ended | None:
    """Run something to its end on an event loop; `None` if it has none within `PATIENCE`.

    It runs in a thread of its own, that may be left behind.
    """
    came: list[Ended] = []
    thread = threading.Thread(target=lambda: came.append(_run(work, where)), daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return came[0] if came else None


def cancelled(work: Work) -> Work:
    """The same, cancelled soon after it has begun."""

    async def shortly() -> Sequence[object]:
        with anyio.move_on_after(CANCELLED_AFTER):
            return await work()
        return ()

    return shortly


def was_blocked(ended: Ended) -> float:
    """For how many seconds the event loop was blocked; 0 if not for long."""
    return ended.blocked if ended.blocked > BLOCKED else 0.0


def was_late(ended: Ended) -> float:
    """By how many seconds a cancelled run ended too late; 0 if it ended promptly."""
    late = ended.took - CANCELLED_AFTER
    return late if late > PROMPTLY and ended.error is None else 0.0


def for_sure(
    ended: Ended, again: Callable[[], Ended], figure_of: Callable[[Ended], float]
) -> float:
    """A figure that is 0 where all is well, seen twice if it is not: a machine may be busy once."""
    seen = figure_of(ended)
    return min(seen, figure_of(again())) if seen else 0.0
