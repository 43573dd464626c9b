"""Measure this loop beside a bare one, in one run, and hold its growth to a bound.

Figures are CPU time, the best of several runs taken in turns, since the machine may be shared;
compare ratios, not microseconds. The exit status is 1 if a step costs over 1.5 times as much at
4,000 steps as at 100, or if the exponent from 100 to 1,000 steps is over 1.05. With PEERS=1,
other libraries run the same workloads in environments of their own (see `against_peers`).
"""

import math
import os
import sys
from collections.abc import Callable
from functools import partial

from tests.bench import bare, loop, outputs, startup, wire
from tests.bench.measure import Figure, best_of, kept_per_step

GUARD = 1.5
EXPONENT = 1.05
STEPS = (10, 100, 1_000, 4_000)


def main() -> int:
    """Print all tables; give the exit status."""
    print("best CPU time of several runs, taken in turns\n")
    steps = tool_loop()
    one_off("100 parallel tools that do not suspend", "ms", 1e3, bare.parallel, loop.parallel)
    one_off("100 parallel tools that suspend", "ms", 1e3, bare.parallel_nap, loop.parallel_nap)
    one_off("100 sync tools in worker threads", "ms", 1e3, None, loop.parallel_threads)
    one_off(
        "a delta, of 100,000",
        "µs",
        1e6 / 100_000,
        partial(bare.deltas, 100_000),
        partial(loop.deltas, 100_000),
    )
    runs = 1e3 / 1_000
    one_off("a run of three steps, 1,000 at once", "ms", runs, bare.concurrent, loop.concurrent)
    print(f"kept for a step, of 1,000: {kept_per_step(loop.kept):.2f} KB\n")
    outputs.report()
    wire.report()
    startup.report()
    consists_of()
    if os.environ.get("PEERS"):
        from tests.bench import against_peers

        against_peers.report()
    return guard(steps)


def tool_loop() -> dict[int, float]:
    """A tool call a step: ours, the pure reducer alone, and the bare loop."""
    heads = ("a step of a tool loop", "bare µs", "reducer µs", "loop µs", "x bare")
    print("{:>24} {:>10} {:>11} {:>9} {:>7}".format(*heads))
    ours: dict[int, float] = {}
    for size in STEPS:
        floor, pure, mine = best_of(
            5,
            partial(bare.tool_loop, size),
            partial(loop.reducer_only, size),
            partial(loop.tool_loop, size),
        )
        ours[size] = mine.cpu / size
        per = [figure.cpu / size * 1e6 for figure in (floor, pure, mine)]
        print(f"{size:>24,} {per[0]:>10.1f} {per[1]:>11.1f} {per[2]:>9.1f} {per[2] / per[0]:>7.1f}")
    print(f"exponent 100 to 1,000: {exponent(ours, 100, 1_000):.3f}; ", end="")
    print(f"a step at 4,000 costs {ours[4_000] / ours[100]:.2f} times one at 100\n")
    return ours


def exponent(per_step: dict[int, float], low: int, high: int) -> float:
    """How the cost of a whole run grows with its steps: 1 is linear."""
    return 1 + math.log(per_step[high] / per_step[low], high / low)


def one_off(
    what: str,
    unit: str,
    factor: float,
    floor: Callable[[], Figure] | None,
    mine: Callable[[], Figure],
) -> None:
    """One workload, ours beside the bare loop."""
    if floor is None:
        (own,) = best_of(5, mine)
        print(f"{what}: {own.cpu * factor:.2f} {unit} CPU, {own.wall * factor:.2f} {unit} wall\n")
        return
    low, own = best_of(5, floor, mine)
    ratio = own.cpu / low.cpu
    print(
        f"{what}: bare {low.cpu * factor:.2f}, loop {own.cpu * factor:.2f} {unit} ({ratio:.1f} x)\n"
    )


def consists_of() -> None:
    """Where the time of a step goes: the functions with the most time of their own."""
    print("what a step consists of (share of the profiled time of 1,000 steps, by room)")
    for name, share in loop.profile(1_000):
        print(f"{share:>7.1%}  {name}")
    print()


def guard(per_step: dict[int, float]) -> int:
    """Fail if the loop is not linear."""
    growth, power = per_step[4_000] / per_step[100], exponent(per_step, 100, 1_000)
    failed = growth > GUARD or power > EXPONENT
    print(
        f"{'not ' * failed}linear: growth {growth:.2f} (at most {GUARD}), "
        f"exponent {power:.3f} (at most {EXPONENT})"
    )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
