"""Add to the histories that have to be replayed for ever.

    python -m tests.durable.temporal.corpus 1

Runs each scenario on a server of its own, and writes the histories that it leaves into
tests/data/temporal, named after the scenario, what is given here, and their order. What is there
is never written over.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias, TypeVar

from temporalio.client import Client
from temporalio.worker import Worker

import stepfold as sf
from stepfold.durable import temporal
from stepfold.loop import open_requests
from stepfold.values import OpenApproval, OpenCall
from tests.durable.temporal import kept
from tests.durable.temporal._server import temporal_server

FOLDER = Path(__file__).parents[2] / "data" / "temporal"

D = TypeVar("D")
Out = TypeVar("Out")
QUEUE = "kept"


async def _begun(
    client: Client, workflow: type[temporal.RunWorkflow[D, Out]], scenario: str
) -> temporal.RunHandle[Out]:
    return await temporal.start(
        client, workflow, "Go", id=f"{workflow.workflow_name}-{scenario}", task_queue=QUEUE, seed=7
    )


async def tools(client: Client) -> temporal.RunHandle[str]:
    """Let a run come to its end."""
    return await _begun(client, kept.KeptTools, "tools")


async def losses(client: Client) -> temporal.RunHandle[str]:
    """Let a worker be taken for lost."""
    return await _begun(client, kept.KeptLosses, "losses")


async def failure(client: Client) -> temporal.RunHandle[str]:
    """Let a run fail."""
    return await _begun(client, kept.KeptFailure, "failure")


async def long(client: Client) -> temporal.RunHandle[str]:
    """Let a run go on in new histories."""
    return await _begun(client, kept.KeptLong, "long")


async def answers(client: Client) -> temporal.RunHandle[str]:
    """Answer what a run asks, and speak to it."""
    handle = await _begun(client, kept.KeptPeople, "answers")
    approval, question = open_requests((await handle.at_rest()).state)
    if not isinstance(approval, OpenApproval) or not isinstance(question, OpenCall):
        raise TypeError(f"expected an approval and a call, got {approval} and {question}")
    await handle.answer([sf.tool_output(question, value=True)])
    await handle.answer([sf.deny(approval, reason="too much")])
    await handle.at_rest()
    await handle.queue("And then?", key="queued")
    await handle.steer("Never mind.", key="steered")
    return handle


async def cancelled(client: Client) -> temporal.RunHandle[str]:
    """Cancel a blocked run by its handle."""
    handle = await _begun(client, kept.KeptPeople, "cancelled")
    await handle.at_rest()
    await handle.cancel("enough")
    return handle


async def cancelled_at_work(client: Client) -> temporal.RunHandle[str]:
    """Cancel a run whose tools are at work."""
    handle = await _begun(client, kept.KeptCrowd, "cancelled-at-work")
    for _ in range(600):
        described = await handle.workflow.describe()
        if len(described.raw_description.pending_activities) == 8:
            break
        await asyncio.sleep(0.05)
    await handle.cancel("enough")
    return handle


async def cancelled_by_engine(client: Client) -> temporal.RunHandle[str]:
    """Cancel a blocked run by the engine's own means."""
    handle = await _begun(client, kept.KeptPeople, "cancelled-by-engine")
    await handle.at_rest()
    await handle.workflow.cancel()
    return handle


Scenario: TypeAlias = Callable[[Client], Awaitable[temporal.RunHandle[str]]]
SCENARIOS: dict[str, Scenario] = {
    "tools": tools,
    "losses": losses,
    "failure": failure,
    "long": long,
    "answers": answers,
    "cancelled": cancelled,
    "cancelled-at-work": cancelled_at_work,
    "cancelled-by-engine": cancelled_by_engine,
}


async def histories_of(client: Client, handle: temporal.RunHandle[str]) -> list[str]:
    """All histories of a run, as JSON, in order."""
    found: list[str] = []
    run_id = handle.workflow.first_execution_run_id
    while run_id:
        history = await client.get_workflow_handle(handle.id, run_id=run_id).fetch_history()
        found.append(history.to_json())
        ended = history.events[-1].workflow_execution_continued_as_new_event_attributes
        run_id = ended.new_execution_run_id
    return found


def without_traces(tree: object) -> object:
    """A history without where on this machine an exception came from."""
    match tree:
        case dict():
            return {k: without_traces(v) for k, v in tree.items() if k != "stackTrace"}
        case list():
            return [without_traces(one) for one in tree]
        case _:
            return tree


async def record(address: str, version: str) -> list[Path]:
    """Run all scenarios, and write what is not there yet."""
    written: list[Path] = []
    plugin = temporal.plugin(*(temporal.serve(workflow) for workflow in kept.KEPT))
    client = await Client.connect(address, plugins=[plugin], identity="corpus")
    async with Worker(client, task_queue=QUEUE):
        for name, scenario in SCENARIOS.items():
            handle = await scenario(client)
            with suppress(sf.RunFailed):
                await handle.result()
            for number, text in enumerate(await histories_of(client, handle)):
                path = FOLDER / f"{name}-{version}-{number}.json"
                if not path.exists():
                    kept_text = json.dumps(without_traces(json.loads(text)), indent=1)
                    path.write_text(kept_text + "\n", "utf-8")
                    written.append(path)
    return written


def main() -> None:
    """Read what the histories shall be named after, and run."""
    [version] = sys.argv[1:]
    FOLDER.mkdir(parents=True, exist_ok=True)
    with temporal_server() as address:
        for path in asyncio.run(record(address, version)):
            sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
