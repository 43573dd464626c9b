"""Kill workers of Temporal at random moments; say whether law 14 held.

    python -m tests.kill --store temporal --kills 50

Two workers share a few runs at a time, on a server of their own. Every now and then one of them is
killed by SIGKILL, and another takes its place, until there were as many kills as were asked for;
then the runs come to their end. What was in flight at a kill is told by the engine's histories:
the calls that it gave up.
"""

import asyncio
import json
import os
import random
import signal
import sys
import time
from base64 import b64decode
from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path

import anyio
from temporalio.client import Client
from temporalio.worker import Worker

import stepfold as sf
from stepfold.codec import decode, encode
from stepfold.durable import temporal
from stepfold.testing import laws
from tests.durable.temporal._server import temporal_server
from tests.durable.temporal.corpus import histories_of
from tests.kill.program import STEPS, agent_of, started_in
from tests.kill.temporal_program import WORLD, Killed, KilledCareless

QUEUE = "killed"
RUNS = 3
WORKERS = 2

_TOOL, _MODEL = ".run_tool", ".call_model"
_ASKED_AGAIN = "a model"
_MUST_NOT_RUN_TWICE = {f"{letter}{step}" for letter in "bd" for step in range(STEPS)}
_CALLS = "abcd"  # the calls of a step, by index


def start(main: Callable[[], Coroutine[object, object, None]], folder: Path) -> int:
    """Run a coroutine in a process of its own, in a folder."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.chdir(folder)
        asyncio.run(main())
        code = 0
    finally:
        os._exit(code)


async def work(address: str) -> None:
    """Serve runs until the process is killed."""
    plugin = temporal.plugin(temporal.serve(Killed), temporal.serve(KilledCareless))
    client = await Client.connect(address, plugins=[plugin])
    soon = timedelta(seconds=0.3)
    async with Worker(
        client,
        task_queue=QUEUE,
        max_heartbeat_throttle_interval=soon,
        sticky_queue_schedule_to_start_timeout=soon,
    ):
        await asyncio.Event().wait()


async def run(address: str, names: list[str], *, careless: bool) -> None:
    """Begin runs, wait for their ends, and write down what came of them."""
    client = await Client.connect(address, plugins=[temporal.plugin()])
    workflow = KilledCareless if careless else Killed
    handles = [
        await temporal.start(client, workflow, "Go", id=name, task_queue=QUEUE, task_timeout=1.0)
        for name in names
    ]
    for handle in handles:
        ended = await handle.result()
        await anyio.Path(f"{handle.id}.state").write_bytes(encode(ended.state))
        histories = json.dumps(await histories_of(client, handle))
        await anyio.Path(f"{handle.id}.histories").write_text(histories, "utf-8")


def kill(folder: Path, kills: int, *, careless: bool) -> list[str]:
    """Kill so many workers, and give all that was not as it has to be."""
    undisturbed = asyncio.run(_undisturbed(folder))
    made, names = 0, list[str]()
    with temporal_server() as address:
        workers = [start(lambda: work(address), folder) for _ in range(WORKERS)]
        try:
            while made < kills or not names:
                batch = [f"run-{len(names) + number}" for number in range(RUNS)]
                names += batch
                client = start(lambda: run(address, batch, careless=careless), folder)  # noqa: B023
                while not _has_ended(client):
                    time.sleep(random.uniform(0.3, 1.2))
                    if made < kills:
                        victim = workers.pop(random.randrange(WORKERS))
                        os.kill(victim, signal.SIGKILL)
                        os.waitpid(victim, 0)
                        made += 1
                        workers.append(start(lambda: work(address), folder))
        finally:
            for worker in workers:
                os.kill(worker, signal.SIGKILL)
                os.waitpid(worker, 0)
    faults = [fault for name in names for fault in faults_of(folder, name, undisturbed)]
    histories = sum(len(_histories(folder, name)) for name in names)
    print(f"{made} kills, {len(names)} runs, {histories} histories: {len(faults)} violations")
    return faults


def _has_ended(client: int) -> bool:
    ended, status = os.waitpid(client, os.WNOHANG)
    if ended and status:
        raise RuntimeError(f"a client ended with {os.waitstatus_to_exitcode(status)}")
    return bool(ended)


async def _undisturbed(folder: Path) -> sf.LoopState:
    return (await agent_of(folder / "undisturbed").generate("Go", run_id="undisturbed")).state


def _histories(folder: Path, name: str) -> list[str]:
    found: list[str] = json.loads((folder / f"{name}.histories").read_text("utf-8"))
    return found


def faults_of(folder: Path, name: str, undisturbed: sf.LoopState) -> list[str]:
    """What is not as it has to be in a run that has ended."""
    state = decode((folder / f"{name}.state").read_bytes(), sf.LoopState).unwrap()
    ended = Killed.agent.run_of(state)
    faults: list[str] = []
    if not isinstance(ended.end, sf.Completed):
        faults.append(f"the run ended in {ended.end}")
    interrupted = {
        error.tool_call_id
        for step in ended.steps
        for error in step.tool_errors
        if error.kind == "interrupted"
    }
    given_up = _given_up(_histories(folder, name))
    asked_again = given_up & {_ASKED_AGAIN}
    given_up -= asked_again
    if interrupted != given_up:
        faults.append(f"closed as interrupted: {sorted(interrupted)}, lost: {sorted(given_up)}")
    if not interrupted <= _MUST_NOT_RUN_TWICE:
        faults.append(f"interrupted though it may run again: {sorted(interrupted)}")
    try:
        # What an attempt at a model has used is not known if its worker is lost.
        laws.resumed_run_is_the_same(undisturbed, state, frozenset(interrupted | asked_again))
    except AssertionError as error:
        faults.append(str(error)[:500])
    started = [
        (tool, key.removeprefix(f"{name}/"))
        for tool, key in started_in(folder / WORLD)
        if key.startswith(f"{name}/")
    ]
    booked = [place for tool, place in started if tool == "book"]
    twice = sorted({place for place in booked if booked.count(place) > 1})
    if twice:
        faults.append(f"started twice: {twice}")
    made = {
        (call.tool_name, f"{step.step}/{index}")
        for step in undisturbed.steps
        for index, call in enumerate(step.tool_calls)
    }
    never = made - set(started)
    lost = {_place(call) for call in interrupted}
    if any(tool == "look" or place not in lost for tool, place in never):
        faults.append(f"never started: {sorted(never)}")
    for fault in faults:
        print(f"{name}: {fault}", file=sys.stderr)
    return faults


def _place(call: str) -> str:
    """Where a call is: those of step 7 are called a7, b7, c7, d7."""
    return f"{call[1:]}/{_CALLS.index(call[0])}"


def _given_up(histories: list[str]) -> set[str]:
    """The commands for which the engine got no answer and asks no other worker."""
    lost: set[str] = set()
    for history in histories:
        called: dict[str, str] = {}
        for event in json.loads(history)["events"]:
            match event:
                case {"activityTaskScheduledEventAttributes": {"activityType": {"name": kind}}}:
                    if kind.endswith(_TOOL):
                        called[event["eventId"]] = _call_in(event)
                    elif kind.endswith(_MODEL):
                        called[event["eventId"]] = _ASKED_AGAIN
                case {"activityTaskTimedOutEventAttributes": {"scheduledEventId": asked}} | {
                    "activityTaskFailedEventAttributes": {"scheduledEventId": asked}
                } if asked in called:
                    lost.add(called[asked])
                case _:
                    pass
    return lost


def _call_in(event: dict[str, dict[str, dict[str, list[dict[str, str]]]]]) -> str:
    first = event["activityTaskScheduledEventAttributes"]["input"]["payloads"][0]
    key = json.loads(b64decode(first["data"]))["key"]
    return f"{_CALLS[key['index']]}{key['step']}"
