"""Timing: CPU and wall, best of several rounds taken in turns."""

import gc
import time
import tracemalloc
from collections.abc import Callable
from typing import final

from attrs import frozen


@final
@frozen(order=False)
class Figure:
    """What one run of a workload took, in seconds."""

    cpu: float
    wall: float


def timed(work: Callable[[], object]) -> Figure:
    """Run once and measure."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Figure(time.process_time() - cpu, time.perf_counter() - wall)


def best_of(rounds: int, *workloads: Callable[[], Figure]) -> tuple[Figure, ...]:
    """The best of several rounds of each, in turns, so that all see the same machine."""
    best: list[Figure | None] = [None] * len(workloads)
    for _ in range(rounds):
        for place, workload in enumerate(workloads):
            figure = workload()
            before = best[place]
            if before is None or figure.cpu < before.cpu:
                best[place] = figure
    return tuple(figure for figure in best if figure is not None)


def kept_per_step(run: Callable[[int], object]) -> float:
    """Kilobytes that a run of 1,000 steps holds on to, for each step."""
    steps = 1_000
    run(10)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    kept = run(steps)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return (after - before) / 1024 / steps
