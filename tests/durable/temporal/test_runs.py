"""A run that is a workflow is the run that it is without an engine."""

from uuid import uuid4

from temporalio.client import Client
from temporalio.worker import Worker

from stepfold.durable import temporal
from tests.durable.temporal.program import Traveller


async def test_a_workflow_is_the_run_that_the_agent_would_make(temporal_address: str) -> None:
    plugin = temporal.plugin(temporal.serve(Traveller))
    client = await Client.connect(temporal_address, plugins=[plugin])
    alone = await Traveller.agent.generate("Go", run_id="alone")
    async with Worker(client, task_queue="runs"):
        handle = await temporal.start(
            client, Traveller, "Go", id=f"run-{uuid4()}", task_queue="runs"
        )
        run = await handle.result()

    assert run.unwrap() == "Done."
    assert [step.text for step in run.steps] == [step.text for step in alone.steps]
    assert run.state.ledger == alone.state.ledger
