"""Kill a run at every boundary of its events, and at any moment; say whether law 14 held.

    python -m tests.kill --store file --kills 500

Half of the kills come right before or right after the n-th record is stored, for n as far as they
go; each leaves a run that another process takes up. The other half come at random moments, one
after another, to whichever process works on the run. A kill is SIGKILL; each worker is a process
of its own. How workers of Temporal are killed is told in `tests.kill.temporal`. The exit code is 1
if anything was not as law 14 says. With `--careless` the tools lie about what they are, which has
to be found.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
from attrs import define, field

import stepfold as sf
from stepfold import durable
from stepfold.durable import _recording as recording
from stepfold.durable.sql import SqlStore
from stepfold.loop import Working
from stepfold.ports import JournalError, JournalStore, LeaseHeld
from stepfold.values import Failure
from tests.durable._postgres import postgres
from tests.kill import on_dbos
from tests.kill.judging import faults_of
from tests.kill.program import agent_of
from tests.kill.stores import Boundary, KillingStore
from tests.kill.temporal import kill as kill_workers

LEASE_SECONDS = 0.2
NO_WORKER = 0
STORES = ("file", "sqlite", "postgres", "temporal", "dbos", "dbos-postgres")


@define
class Trial:
    """One run, its kills, and what must hold when it has ended."""

    open_store: Callable[[], JournalStore]
    run: str
    world: Path
    backend: str
    careless: bool
    prefix: tuple[bytes, ...] = ()
    interrupted: set[str] = field(factory=set[str])
    faults: list[str] = field(factory=list[str])

    def start(self, boundary: Boundary | None = None) -> int:
        """Start a worker, and give its process."""
        child = os.fork()
        if child != NO_WORKER:
            return child
        code = 70
        try:
            anyio.run(partial(self._work, boundary), backend=self.backend)
            code = 0
        finally:
            os._exit(code)

    async def _work(self, boundary: Boundary | None) -> None:
        store = self.open_store()
        if boundary is not None:
            store = KillingStore(store, boundary).store
        agent = agent_of(self.world, careless=self.careless)
        while True:
            try:
                await durable.run(agent, store, "Go", run_id=self.run, lease_seconds=LEASE_SECONDS)
            except JournalError as error:
                if not isinstance(error.fault, LeaseHeld):
                    raise
                await anyio.sleep(0.01)
            else:
                return

    def ended(self, child: int) -> bool:
        """Wait for a worker; tells whether it was killed."""
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            anyio.run(self._look_after_a_kill)
            return True
        if status:
            self.faults.append(f"a worker ended with {os.waitstatus_to_exitcode(status)}")
        return False

    async def _look_after_a_kill(self) -> None:
        """What was in flight, by the journal alone; and that nothing that was there is gone."""
        async with closed(self.open_store()) as store:
            stored = await store.read(self.run)
        if isinstance(stored, Failure):
            return  # killed before anything was stored
        journal = stored.unwrap()
        if journal.records[: len(self.prefix)] != self.prefix:
            self.faults.append("records that had been stored are gone, or have changed")
        self.prefix = journal.records
        program = agent_of(self.world, careless=self.careless).program
        state = recording.recovered(program, journal).unwrap().state
        if isinstance(state.phase, Working):
            self.interrupted |= {
                slot.call.tool_call_id
                for slot in state.phase.slots
                if slot.status == "running" and slot.started
            }

    async def check(self, undisturbed: sf.LoopState) -> None:
        """Compare with the run that nobody disturbed."""
        agent = agent_of(self.world, careless=self.careless)
        async with closed(self.open_store()) as store:
            found = (await durable.recording_of(store, self.run)).unwrap()
        replayed = durable.replayed(agent.program, found)
        if isinstance(replayed, Failure):
            self.faults.append(f"the journal does not replay: {replayed.failure()}")
            return
        state = replayed.unwrap()
        if found.snapshot != state:
            self.faults.append("the snapshots are not the state that was reached")
        self.faults += faults_of(agent, undisturbed, state, self.interrupted, self.world)


@asynccontextmanager
async def closed(store: JournalStore) -> AsyncGenerator[JournalStore]:
    """Close a store after use, if it has to be."""
    yield store
    if isinstance(store, SqlStore):
        await store.aclose()


def kill(
    open_store: Callable[[], JournalStore], folder: Path, kills: int, *, careless: bool
) -> list[str]:
    """Kill so many workers, and give all that was not as it has to be."""
    undisturbed = anyio.run(_undisturbed, folder)
    boundaries = anyio.run(_count, open_store, folder)
    faults: list[str] = []

    def trial_of(number: int) -> Trial:
        backend = ("asyncio", "trio")[number % 2]
        world = folder / f"world-{number}"
        return Trial(open_store, f"run-{number}", world, backend, careless)

    made = 0
    at_boundaries = kills // 2
    stride = max(1.0, 2 * boundaries / max(1, at_boundaries))
    for number in range(at_boundaries):
        place = int(number * stride) % (2 * boundaries)
        boundary = Boundary(1 + place // 2, "before" if place % 2 == 0 else "after")
        trial = trial_of(number)
        made += trial.ended(trial.start(boundary))
        trial.ended(trial.start())
        faults += _judged(trial, undisturbed, f"{boundary}")
    number = at_boundaries
    while made < kills:
        trial = trial_of(number)
        number += 1
        while True:
            child = trial.start()
            if made < kills:
                time.sleep(random.uniform(0.01, 0.6))
                os.kill(child, signal.SIGKILL)
            if not trial.ended(child):
                break
            made += 1
        faults += _judged(trial, undisturbed, "random moments")
    print(f"{made} kills, {number} runs, {boundaries} records a run: {len(faults)} violations")
    return faults


def _judged(trial: Trial, undisturbed: sf.LoopState, where: str) -> list[str]:
    anyio.run(trial.check, undisturbed)
    for fault in trial.faults:
        print(f"{trial.run}, killed at {where}: {fault}", file=sys.stderr)
    return trial.faults


async def _undisturbed(folder: Path) -> sf.LoopState:
    agent = agent_of(folder / "undisturbed")
    return (await agent.generate("Go", run_id="undisturbed")).state


async def _count(open_store: Callable[[], JournalStore], folder: Path) -> int:
    async with closed(open_store()) as store:
        await durable.run(agent_of(folder / "counted"), store, "Go", run_id="counted")
        return (await store.read("counted")).unwrap().run.version


def main() -> int:
    """Read the options, and run."""
    options = argparse.ArgumentParser(prog="python -m tests.kill")
    options.add_argument("--store", choices=STORES, required=True)
    options.add_argument("--kills", type=int, default=20)
    options.add_argument("--careless", action="store_true")
    given = options.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if given.store == "temporal":
            return 1 if kill_workers(folder, given.kills, careless=given.careless) else 0
        open_store: Callable[[], JournalStore]
        match given.store:
            case "dbos":
                url = f"sqlite:///{folder / 'dbos.db'}"
                return 1 if on_dbos.kill(url, folder, given.kills, careless=given.careless) else 0
            case "dbos-postgres":
                url = stack.enter_context(postgres())
                return 1 if on_dbos.kill(url, folder, given.kills, careless=given.careless) else 0
            case "file":
                open_store = partial(durable.FileStore, folder / "runs")
            case "sqlite":
                open_store = partial(SqlStore, f"sqlite:///{folder / 'runs.db'}")
            case _:
                open_store = partial(SqlStore, stack.enter_context(postgres()))
        return 1 if kill(open_store, folder, given.kills, careless=given.careless) else 0


if __name__ == "__main__":
    sys.exit(main())
