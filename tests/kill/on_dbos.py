"""Kill workers of DBOS: at everything that the engine writes, and at any moment.

As `tests.kill`: half of the kills come right before or right after the n-th commit of a
transaction that writes. The worker that follows bears the name of the one that was killed, so the
engine gives it the runs of that one.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

import anyio
import sqlalchemy as sa
from attrs import define, field, frozen
from dbos import DBOS, StepInfo

import stepfold as sf
from stepfold import durable
from stepfold.codec import decode
from stepfold.durable.dbos import DbosAgent
from stepfold.loop.events import ToolReturned
from stepfold.values import Failure
from tests.durable._dbos import client_of, config_of, prepared
from tests.kill.judging import faults_of
from tests.kill.program import agent_of

Moment: TypeAlias = Literal["before", "after"]
NO_WORKER = 0
_WRITING = ("INSERT", "UPDATE", "DELETE")


@frozen
class Boundary:
    """Where a worker kills itself: before or after its n-th commit."""

    number: int
    moment: Moment


def watch_commits(boundary: Boundary | None) -> Callable[[], int]:
    """Die where it is time; gives how many commits there were."""
    count = 0

    def executes(connection: sa.Connection, cursor: object, statement: str, *rest: object) -> None:
        if statement.lstrip().upper().startswith(_WRITING):
            connection.info["writes"] = True

    def commits(connection: sa.Connection) -> None:
        nonlocal count
        if not connection.info.pop("writes", False):
            return
        count += 1
        if boundary == Boundary(count, "before"):
            os.kill(os.getpid(), signal.SIGKILL)
        if boundary == Boundary(count, "after"):
            connection.info["dies"] = True

    def comes_back(connection: object, record: sa.pool.ConnectionPoolEntry) -> None:
        if record.info.get("dies"):
            os.kill(os.getpid(), signal.SIGKILL)

    sa.event.listen(sa.Engine, "before_cursor_execute", executes)
    sa.event.listen(sa.Engine, "commit", commits)
    sa.event.listen(sa.pool.Pool, "checkin", comes_back)
    return lambda: count


@define
class Trial:
    """One run, its kills, and what must hold when it has ended."""

    url: str
    run: str
    world: Path
    careless: bool
    kept: tuple[tuple[int, str, str], ...] = ()
    in_flight: set[str] = field(factory=set[str])
    faults: list[str] = field(factory=list[str])

    def start(self, boundary: Boundary | None = None) -> int:
        """Start a worker, and give its process."""
        child = os.fork()
        if child != NO_WORKER:
            return child
        code = 70
        try:
            anyio.run(self._work, boundary)
            code = 0
        finally:
            os._exit(code)

    async def _work(self, boundary: Boundary | None) -> None:
        DBOS(config=config_of(self.url))
        agent = agent_of(self.world, careless=self.careless)
        runs = DbosAgent(agent, name="killed", polling_seconds=0.05)
        count = watch_commits(boundary)
        DBOS.launch()
        handle = await runs.start("Go", run_id=self.run)
        await handle.result()
        (self.world.parent / "commits").write_text(str(count()))

    def ended(self, child: int) -> bool:
        """Wait for a worker; tells whether it was killed."""
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            self._look_after_a_kill()
            return True
        if status:
            self.faults.append(f"a worker ended with {os.waitstatus_to_exitcode(status)}")
        return False

    def _steps(self) -> list[StepInfo]:
        with client_of(self.url) as client:
            return client.list_workflow_steps(self.run)

    def _look_after_a_kill(self) -> None:
        """What was in flight, by what is kept alone; and that nothing that was kept is gone."""
        steps = self._steps()
        kept = tuple((it["function_id"], it["function_name"], repr(it["output"])) for it in steps)
        if not set(self.kept) <= set(kept):
            self.faults.append("answers that were kept are gone, or have changed")
        self.kept = kept
        names = {name for _, name, _ in kept}
        for name in names:
            head, _, command = name.partition("/")
            if head == "ToolStarted" and command not in names:
                _, step, index, _ = command.split("/")
                self.in_flight.add(f"{'abcd'[int(index)]}{step}")

    def check(self, undisturbed: sf.LoopState) -> None:
        """Compare with the run that nobody disturbed."""
        with client_of(self.url) as client:
            ended: str = client.retrieve_workflow(self.run).get_result()
            lines = "".join(client.read_stream(self.run, "journal"))
        state = decode(ended, sf.LoopState).unwrap()
        agent = agent_of(self.world, careless=self.careless)
        path = self.world.with_suffix(".jsonl")
        path.write_text(lines, "utf-8")
        recording = durable.read_recording(path).unwrap()
        replayed = durable.replayed(agent.program, recording)
        if isinstance(replayed, Failure) or replayed.unwrap() != state:
            self.faults.append("the journal is not that of the run")
        answers = [entry for entry in recording.entries if isinstance(entry.event, ToolReturned)]
        if len({entry.event for entry in answers}) != len(answers):
            self.faults.append("an answer has happened twice")
        self.faults += faults_of(agent, undisturbed, state, self.in_flight, self.world)


def kill(url: str, folder: Path, kills: int, *, careless: bool) -> list[str]:
    """Kill so many workers, and give all that was not as it has to be."""
    undisturbed = anyio.run(_undisturbed, folder)
    prepare = os.fork()
    if prepare == NO_WORKER:
        prepared(url)
        os._exit(0)
    os.waitpid(prepare, 0)
    counted = Trial(url, "counted", folder / "counted", careless=careless)
    counted.ended(counted.start())
    boundaries = int((folder / "commits").read_text())
    faults = list(counted.faults)
    made = 0
    at_boundaries = kills // 2
    stride = max(1.0, 2 * boundaries / max(1, at_boundaries))
    for number in range(at_boundaries):
        place = int(number * stride) % (2 * boundaries)
        boundary = Boundary(1 + place // 2, "before" if place % 2 == 0 else "after")
        trial = Trial(url, f"run-{number}", folder / f"world-{number}", careless=careless)
        made += trial.ended(trial.start(boundary))
        trial.ended(trial.start())
        faults += _judged(trial, undisturbed, f"{boundary}")
    number = at_boundaries
    while made < kills:
        trial = Trial(url, f"run-{number}", folder / f"world-{number}", careless=careless)
        number += 1
        while True:
            child = trial.start()
            if made < kills:
                time.sleep(random.uniform(0.2, 1.5))
                os.kill(child, signal.SIGKILL)
            if not trial.ended(child):
                break
            made += 1
        faults += _judged(trial, undisturbed, "random moments")
    print(f"{made} kills, {number} runs, {boundaries} commits a run: {len(faults)} violations")
    return faults


def _judged(trial: Trial, undisturbed: sf.LoopState, where: str) -> list[str]:
    trial.check(undisturbed)
    for fault in trial.faults:
        print(f"{trial.run}, killed at {where}: {fault}", file=sys.stderr)
    return trial.faults


async def _undisturbed(folder: Path) -> sf.LoopState:
    agent = agent_of(folder / "undisturbed")
    return (await agent.generate("Go", run_id="undisturbed")).state
