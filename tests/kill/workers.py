"""Let workers share many runs of one store while they are killed: every run ends once.

    python -m tests.kill.workers --runs 200 --workers 4

Each worker goes through all runs in an order of its own and carries on with what nobody works on,
on one PostgreSQL. As long as runs are left, a worker is killed every now and then, and another one
takes its place. The exit code is 1 if a run did not end, did not end once, or if a tool that must
not run twice did.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

import anyio

from stepfold import durable
from stepfold.durable.sql import SqlStore
from stepfold.loop.notes import RunEnded
from stepfold.ports import JournalConflict, JournalError, LeaseHeld
from stepfold.values import Failure
from tests.durable._postgres import postgres
from tests.kill.program import agent_of, started_in

STEPS = 5
LEASE_SECONDS = 1.0


async def work(url: str, world: Path, runs: int) -> None:
    """Carry runs on until all have ended."""
    agent = agent_of(world, steps=STEPS)
    left = [f"run-{number:03}" for number in range(runs)]
    random.shuffle(left)
    async with SqlStore(url) as store:
        while left:
            run = left.pop()
            try:
                await durable.run(agent, store, "Go", run_id=run, lease_seconds=LEASE_SECONDS)
            except JournalError as error:
                if not isinstance(error.fault, LeaseHeld | JournalConflict):
                    raise
                left.insert(0, run)
                await anyio.sleep(0.05)


def start(url: str, world: Path, runs: int, backend: str) -> int:
    """Start a worker in a process of its own."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        anyio.run(partial(work, url, world, runs), backend=backend)
        code = 0
    finally:
        os._exit(code)


def kill_at_random(url: str, world: Path, runs: int, workers: int) -> int:
    """Keep the workers at it until one of them finds nothing more to do; gives the kills."""
    kills = 0
    backends = ("asyncio", "trio")
    alive = {start(url, world, runs, backends[number % 2]) for number in range(workers)}
    while True:
        time.sleep(random.uniform(0.3, 1.5))
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended:
            alive.discard(ended)
            if status:
                raise RuntimeError(f"a worker ended with {os.waitstatus_to_exitcode(status)}")
            break
        victim = random.choice(sorted(alive))
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        alive.discard(victim)
        kills += 1
        alive.add(start(url, world, runs, backends[kills % 2]))
    for child in alive:
        os.waitpid(child, 0)
    return kills


async def faults_in(url: str, world: Path, runs: int) -> list[str]:
    """What is not as it has to be when all have ended."""
    faults: list[str] = []
    agent = agent_of(world, steps=STEPS)
    async with SqlStore(url) as store:
        told = await store.list_runs(status="completed", limit=runs + 1)
        if len(told) != runs:
            faults.append(f"{len(told)} runs of {runs} are completed")
        for run in told:
            recording = (await durable.recording_of(store, run.run)).unwrap()
            notes = [note for it in recording.records for note in getattr(it, "notes", ())]
            ends = sum(isinstance(note, RunEnded) for note in notes)
            if ends != 1:
                faults.append(f"{run.run} ended {ends} times")
            replayed = durable.replayed(agent.program, recording)
            if isinstance(replayed, Failure):
                faults.append(f"{run.run}: an event is there twice, or is not: {replayed}")
    started = Counter(key for name, key in started_in(world) if name == "book")
    twice = [key for key, count in started.items() if count > 1]
    if twice:
        faults.append(f"started twice: {twice}")
    return faults


def main() -> int:
    """Read the options, and run."""
    options = argparse.ArgumentParser(prog="python -m tests.kill.workers")
    options.add_argument("--runs", type=int, default=200)
    options.add_argument("--workers", type=int, default=4)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, postgres() as url:
        world = Path(folder) / "world"
        kills = kill_at_random(url, world, given.runs, given.workers)
        faults = anyio.run(faults_in, url, world, given.runs)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{given.runs} runs, {given.workers} workers, {kills} kills: {len(faults)} violations")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
