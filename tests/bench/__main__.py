"""Measure this loop beside a bare one, in one run, and hold its growth to a bound.

Figures are CPU time, the best of several runs taken in turns, since the machine may be shared;
compare ratios, not microseconds. What is aimed at is told for the machine on which the aims were
set: a figure is scaled by what the bare loop costs here and cost there. The exit status is 1 if a
step costs over 1.5 times as much at 4,000 steps as at 100, if the exponent from 100 to 1,000 steps
is over 1.05, or if an object of a long array costs over 1.5 times one of a short one. With PEERS=1,
other libraries run the same workloads in environments of their own (see `against_peers`).
"""

import math
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import final

from attrs import frozen

from tests.bench import bare, journals, loop, outputs, pipelines, startup, wire
from tests.bench.measure import Figure, best_of, kept_per_step

GUARD = 1.5
EXPONENT = 1.05
STEPS = (10, 100, 1_000, 4_000)
DELTAS = 100_000


@final
@frozen(order=False)
class Compared:
    """What a unit of a workload took, in seconds: the bare loop's, and ours."""

    floor: float
    own: float

    @property
    def ratio(self) -> float:
        """How many times the bare loop's ours is."""
        return self.own / self.floor


@final
@frozen(order=False)
class Aim:
    """What a unit may take where the bare loop takes `floor`; all in seconds."""

    what: str
    floor: float
    most: float


STEP = Aim("a step, of 1,000 (µs)", 3.8e-6, 60e-6)
PARALLEL = Aim("100 parallel tools that do not suspend (µs)", 0.64e-3, 1.5e-3)
DELTA = Aim("a delta, of 100,000 (µs)", 0.46e-6, 2.5e-6)
RUN = Aim("a run of three steps, 1,000 at once (µs)", 1 / 60_025, 1 / 6_000)


def main() -> int:
    """Print all tables; give the exit status."""
    print("best CPU time of several runs, taken in turns\n")
    steps = tool_loop()
    parallel = one_off("100 parallel tools that do not suspend", bare.parallel, loop.parallel)
    one_off("100 parallel tools that suspend", bare.parallel_nap, loop.parallel_nap)
    (threads,) = best_of(5, loop.parallel_threads)
    print(f"100 sync tools in worker threads: loop {threads.cpu * 1e6:,.2f} µs")
    deltas = one_off(
        f"a delta, of {DELTAS:,}",
        partial(bare.deltas, DELTAS),
        partial(loop.deltas, DELTAS),
        DELTAS,
    )
    runs = one_off("a run of three steps, 1,000 at once", bare.concurrent, loop.concurrent, 1_000)
    print(f"so {1 / runs.own:,.0f} runs a second of CPU, the bare loop {1 / runs.floor:,.0f}")
    print(f"kept for a step, of 1,000: {kept_per_step(loop.kept):.2f} KB\n")
    growth = outputs.report()
    pipelines.report()
    wire.report()
    journals.report()
    startup.report()
    consists_of()
    aimed_at({STEP: steps[1_000], PARALLEL: parallel, DELTA: deltas, RUN: runs})
    if os.environ.get("PEERS"):
        from tests.bench import against_peers

        against_peers.report()
    return guard({size: compared.own for size, compared in steps.items()}, growth)


def tool_loop() -> dict[int, Compared]:
    """A tool call a step: ours, the pure reducer alone, and the bare loop."""
    heads = ("a step of a tool loop", "bare µs", "reducer µs", "loop µs", "x bare")
    print("{:>24} {:>10} {:>11} {:>9} {:>7}".format(*heads))
    ours: dict[int, Compared] = {}
    for size in STEPS:
        floor, pure, mine = best_of(
            5,
            partial(bare.tool_loop, size),
            partial(loop.reducer_only, size),
            partial(loop.tool_loop, size),
        )
        ours[size] = Compared(floor.cpu / size, mine.cpu / size)
        per = [figure.cpu / size * 1e6 for figure in (floor, pure, mine)]
        print(f"{size:>24,} {per[0]:>10.1f} {per[1]:>11.1f} {per[2]:>9.1f} {per[2] / per[0]:>7.1f}")
    print()
    return ours


def exponent(per_step: dict[int, float], low: int, high: int) -> float:
    """How the cost of a whole run grows with its steps: 1 is linear."""
    return 1 + math.log(per_step[high] / per_step[low], high / low)


def one_off(
    what: str, floor: Callable[[], Figure], mine: Callable[[], Figure], units: int = 1
) -> Compared:
    """One workload, ours beside the bare loop."""
    low, own = best_of(5, floor, mine)
    compared = Compared(low.cpu / units, own.cpu / units)
    costs = f"bare {compared.floor * 1e6:,.2f}, loop {compared.own * 1e6:,.2f} µs"
    print(f"{what}: {costs} ({compared.ratio:.1f} x)")
    return compared


def aimed_at(figures: Mapping[Aim, Compared]) -> None:
    """What each unit would take on the machine of the aims, judged by the bare loop alone."""
    print(f"{'scaled to the machine of the aims':>46} {'bare':>8} {'loop':>8} {'aim':>8}")
    for aim, compared in figures.items():
        own = compared.ratio * aim.floor
        met = "met" if own <= aim.most else f"missed by {own / aim.most - 1:.0%}"
        row = f"{aim.floor * 1e6:>8.2f} {own * 1e6:>8.2f} {aim.most * 1e6:>8.2f}"
        print(f"{aim.what:>46} {row}  {met}")
    print()


def consists_of() -> None:
    """Where the time of a step goes: the functions with the most time of their own."""
    print("what a step consists of (share of the profiled time of 1,000 steps, by room)")
    for name, share in loop.profile(1_000):
        print(f"{share:>7.1%}  {name}")
    print()


def guard(per_step: dict[int, float], output_growth: float) -> int:
    """Fail if the loop, or what an output costs while it comes, is not linear."""
    growth, power = per_step[4_000] / per_step[100], exponent(per_step, 100, 1_000)
    failed = growth > GUARD or power > EXPONENT or output_growth > GUARD
    print(
        f"{'not ' * failed}linear: a step at 4,000 costs {growth:.2f} times one at 100, an object "
        f"of a long array {output_growth:.2f} times one of a short one (at most {GUARD}); "
        f"exponent 100 to 1,000 {power:.3f} (at most {EXPONENT})"
    )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
