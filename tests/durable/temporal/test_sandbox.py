"""Programs are loaded in the engine's sandbox, and stepfold is not."""

import pytest
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

import stepfold as sf
from stepfold.durable import temporal
from tests.durable.temporal import program
from tests.durable.temporal.conftest import Serve
from tests.durable.temporal.program import Patient, Traveller


async def test_a_worker_without_the_plugin_is_told_what_is_missing(plain_client: Client) -> None:
    served = temporal.serve(Traveller)
    with pytest.raises(RuntimeError, match="Failed validating workflow Traveller") as failed:
        Worker(
            plain_client,
            task_queue="none",
            workflows=[served.workflow],
            activities=list(served.activities),
        )

    cause = failed.value.__cause__
    assert isinstance(cause, ImportError)
    assert "plugins=[stepfold.durable.temporal.plugin(…)]" in str(cause)
    assert "sandbox" in str(cause)


async def test_a_worker_without_a_sandbox_needs_no_plugin(
    plain_client: Client,
) -> None:
    served = temporal.serve(Traveller)
    Worker(
        plain_client,
        task_queue="none",
        workflows=[served.workflow],
        activities=list(served.activities),
        workflow_runner=UnsandboxedWorkflowRunner(),
    )


async def test_the_program_is_loaded_inside(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the module of a program holds outside is not what it holds in the sandbox."""
    monkeypatch.setattr(program, "OUTSIDE", True)
    async with serve(temporal.serve(program.Inside)) as serving:
        run = await (await serving.start(program.Inside)).result()

    assert run.unwrap() == "Done."


def test_a_workflow_needs_an_agent() -> None:
    with pytest.raises(sf.UsageError, match=r"expected agent = Agent"):
        type("Nobody", (temporal.RunWorkflow,), {"__qualname__": "Nobody"})


def test_a_workflow_is_found_by_its_name() -> None:
    with pytest.raises(sf.UsageError, match="on the top of its module"):

        class Hidden(temporal.RunWorkflow):
            agent = Traveller.agent


def test_deps_are_asked_for_when_they_are_missing() -> None:
    with pytest.raises(sf.UsageError, match="deps"):
        temporal.serve(Patient)  # type: ignore[arg-type]
