"""Kill a run that lets another run do its work, at every record of both; law 14 holds of the two.

    python -m tests.kill.children

The run of the tool call goes on from its own journal, within what the call was granted. The exit
code is 1 if anything was not as laws 9 and 14 say.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import anyio
from attrs import frozen

import stepfold as sf
from stepfold import durable
from stepfold.ports import JournalError, JournalStore, LeaseHeld
from stepfold.testing import laws
from tests.kill.program import parent_of, started_in
from tests.kill.stores import Boundary, KillingStore

STEPS = 3


@frozen
class Family:
    """A run, the run of its tool call, and what their tools have done."""

    folder: Path
    name: str

    @property
    def world(self) -> Path:
        """The file that tools write into."""
        return self.folder / f"{self.name}.world"

    async def carry_on(self, boundary: Boundary | None) -> int:
        """Carry both runs on, as far as it goes; gives how many records were stored."""
        store: JournalStore = durable.FileStore(self.folder / "runs")
        killing = KillingStore(store, boundary)
        agent = parent_of(self.world, killing.store, steps=STEPS)
        while True:
            try:
                await durable.run(agent, killing.store, "Go", run_id=self.name, lease_seconds=0.2)
            except JournalError as error:
                if not isinstance(error.fault, LeaseHeld):
                    raise
                await anyio.sleep(0.01)
            else:
                return killing.count

    def killed_at(self, boundary: Boundary) -> bool:
        """Carry both on in a process that is killed there; tells whether it was."""
        child = os.fork()
        if not child:
            anyio.run(self.carry_on, boundary)
            os._exit(0)
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])

    async def states(self) -> tuple[sf.LoopState, sf.LoopState]:
        """The states of both, at their ends."""
        store = durable.FileStore(self.folder / "runs")
        found = [
            (await durable.recording_of(store, name)).unwrap().snapshot
            for name in (self.name, f"{self.name}/0/0")
        ]
        parent, child = found
        if parent is None or child is None:
            raise RuntimeError(f"expected both runs of {self.name} at their ends")
        return parent, child

    def faults(self, undisturbed: tuple[sf.LoopState, sf.LoopState]) -> list[str]:
        """What is not as the laws say."""
        faults: list[str] = []
        parent, child = anyio.run(self.states)
        lost = frozenset(it.tool_call_id for step in child.steps for it in step.tool_errors)
        try:
            laws.resumed_run_is_the_same(undisturbed[0], parent, frozenset())
            laws.resumed_run_is_the_same(undisturbed[1], child, lost)
        except AssertionError as error:
            faults.append(str(error)[:500])
        if parent.ledger.reserved or parent.ledger.spent < child.ledger.spent:
            faults.append("what the run of the call has spent was not counted")
        booked = [key for name, key in started_in(self.world) if name == "book"]
        if len(set(booked)) != len(booked):
            faults.append("a call that must not run twice has started twice")
        if len(lost) > 2:  # what one kill can have met
            faults.append(f"closed as interrupted: {sorted(lost)}")
        return faults


def kill(folder: Path, stride: int) -> list[str]:
    """Kill at each n-th boundary, and give all that was not as it has to be."""
    whole = Family(folder, "undisturbed")
    records = anyio.run(whole.carry_on, None)
    undisturbed = anyio.run(whole.states)
    faults: list[str] = []
    kills = 0
    for place in range(0, 2 * records, stride):
        boundary = Boundary(1 + place // 2, "before" if place % 2 == 0 else "after")
        family = Family(folder, f"run-{place}")
        kills += family.killed_at(boundary)
        anyio.run(family.carry_on, None)
        faults += [f"killed at {boundary}: {fault}" for fault in family.faults(undisturbed)]
    print(f"{kills} kills, {records} records of two runs: {len(faults)} violations")
    return faults


def main() -> int:
    """Read the options, and run."""
    options = argparse.ArgumentParser(prog="python -m tests.kill.children")
    options.add_argument("--stride", type=int, default=1)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        faults = kill(Path(folder), given.stride)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
