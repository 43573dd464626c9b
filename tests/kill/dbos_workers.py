"""Three worker processes on one queue, one of which is killed: each run ends once.

python -m tests.kill.dbos_workers URL WORLD
"""

import os
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread
from dbos import DBOS

import stepfold as sf
from stepfold.durable.dbos import DbosAgent, RunHandle
from tests.durable._dbos import config_of, prepared
from tests.kill.program import agent_of, started_in

QUEUE, RUNS, WORKERS, STEPS = "runs", 12, 3, 3


def launched(url: str, executor: str, world: Path) -> DbosAgent[str]:
    """Launch one worker, or a process that only starts runs."""
    DBOS(config=config_of(url, executor))
    runs = DbosAgent(agent_of(world, steps=STEPS), name="shared", polling_seconds=0.05)
    if executor == "client":
        DBOS.listen_queues([])
    DBOS.launch()
    DBOS.register_queue(QUEUE, worker_concurrency=2, polling_interval_sec=0.1)
    return runs


def work(url: str, executor: str, world: Path) -> int:
    """Fork a worker that works until it is killed; gives its process."""
    child = os.fork()
    if child:
        return child
    starter = os.getppid()
    launched(url, executor, world)
    while os.getppid() == starter:
        time.sleep(0.2)
    os._exit(0)


async def _at_work(executor: str) -> int:
    """How many runs a worker carries on."""
    return len(await DBOS.list_workflows_async(status="PENDING", executor_id=executor))


async def follow(runs: DbosAgent[str], world: Path, victim: int) -> None:
    """Begin runs, let a worker be lost, and see that all end."""
    handles: list[RunHandle[str]] = [
        await runs.start("Go", run_id=f"run-{number:02}", queue=QUEUE) for number in range(RUNS)
    ]
    with anyio.fail_after(30):
        while not await _at_work("worker-0"):  # noqa: ASYNC110 - another process
            await anyio.sleep(0.01)
    os.kill(victim, signal.SIGKILL)
    await anyio.to_thread.run_sync(os.waitpid, victim, 0)
    taken = await runs.take_over("worker-0")
    assert taken, "the worker that was killed had nothing to do"
    with anyio.fail_after(90):
        ended = [await handle.result() for handle in handles]
    assert all(isinstance(run.end, sf.Completed) for run in ended), [run.end for run in ended]
    booked = Counter(key for name, key in started_in(world) if name == "book")
    assert all(count == 1 for count in booked.values()), booked
    workers = {
        str(it.executor_id)
        for it in await DBOS.list_workflows_async(name=runs.name, status="SUCCESS")
    }
    assert len(workers) > 1, f"one worker did it all: {workers}"
    print(f"{RUNS} runs ended once, {len(taken)} of them were taken over, by {sorted(workers)}")


def main() -> int:
    """Fork the workers before anything here has threads."""
    url, world = sys.argv[1], Path(sys.argv[2])
    if not os.fork():
        prepared(url)
        os._exit(0)
    os.wait()
    workers = [work(url, f"worker-{number}", world) for number in range(WORKERS)]
    try:
        anyio.run(follow, launched(url, "client", world), world, workers[0])
    finally:
        for process in workers:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # the engine's threads have nothing more to do
