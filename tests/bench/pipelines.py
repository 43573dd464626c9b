"""What a stage of a pipeline costs beside a bare await of the same function."""

import gc
import time
from collections.abc import Awaitable, Callable
from functools import partial

import anyio
import anyio.lowlevel

import stepfold as sf
from stepfold.durable import MemoryStore
from tests.bench.measure import Figure, best_of

SIZE = 1_000


def _add(number: int) -> int:
    return number + 1


async def _add_later(number: int) -> int:
    await anyio.lowlevel.checkpoint()
    return number + 1


def _chain(link: sf.Stage[int, int, object]) -> sf.Stage[int, int, object]:
    chain: sf.Stage[int, int, object] = sf.given(int)
    for _ in range(SIZE):
        chain = chain >> link
    return chain


SYNC, ASYNC = sf.stage(_add), sf.stage(_add_later)
PIPELINES: dict[str, sf.Stage[int, object, object]] = {
    "a chain of sync stages": _chain(SYNC),
    "a chain of async stages": _chain(ASYNC),
    "sync stages side by side": sf.parallel_all([SYNC] * SIZE),
    "async stages side by side": sf.parallel_all([ASYNC] * SIZE),
}


async def _bare_chain() -> None:
    number = 0
    for _ in range(SIZE):
        number = _add(number)


async def _bare_async_chain() -> None:
    number = 0
    for _ in range(SIZE):
        number = await _add_later(number)


async def _bare_fan() -> None:
    if len([_add(0) for _ in range(SIZE)]) != SIZE:
        raise AssertionError


async def _bare_async_fan() -> None:
    results: list[int] = []

    async def one() -> None:
        results.append(await _add_later(0))

    async with anyio.create_task_group() as group:
        for _ in range(SIZE):
            group.start_soon(one)
    if len(results) != SIZE:
        raise AssertionError


BARE: dict[str, Callable[[], Awaitable[None]]] = {
    "a chain of sync stages": _bare_chain,
    "a chain of async stages": _bare_async_chain,
    "sync stages side by side": _bare_fan,
    "async stages side by side": _bare_async_fan,
}


def _timed(work: Callable[[], Awaitable[object]]) -> Figure:
    """One run in an event loop that is up; a run before it makes the wiring ready."""

    async def main() -> Figure:
        await work()
        gc.collect()
        wall, cpu = time.perf_counter(), time.process_time()
        await work()
        return Figure(time.process_time() - cpu, time.perf_counter() - wall)

    return anyio.run(main)


async def _kept() -> None:
    """The chain of sync stages, each answer written to a store in memory."""
    run = await PIPELINES["a chain of sync stages"].start(0, journal=MemoryStore(), run_id="r")
    if not isinstance(run.end, sf.Finished):
        raise TypeError(run)


def report() -> None:
    """Print a line for each kind of pipeline."""
    heads = ("of 1,000", "bare µs", "stage µs")
    print("{:>28} {:>9} {:>9}".format(*heads))
    for name, pipeline in PIPELINES.items():
        mine = partial(_timed, partial(pipeline.run, 0))
        low, own = best_of(5, partial(_timed, BARE[name]), mine)
        print(f"{name:>28} {low.cpu / SIZE * 1e6:>9.2f} {own.cpu / SIZE * 1e6:>9.2f}")
    (kept,) = best_of(3, partial(_timed, _kept))
    print(f"{'the first one, kept':>28} {'':>9} {kept.cpu / SIZE * 1e6:>9.2f}")
    print()
