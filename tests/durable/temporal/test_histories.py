"""Histories that were written once are replayed for ever.

`tests/data/temporal/*.json` were left by `python -m tests.durable.temporal.corpus`. Files are
added, never changed and never removed. A history that is not replayed any more is a run that a
worker with this version would break.
"""

import json
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

import stepfold as sf
from stepfold.durable import temporal
from stepfold.testing import ScriptedModel, call, reply
from tests.durable.temporal.corpus import FOLDER, SCENARIOS
from tests.durable.temporal.kept import KEPT, look

HISTORIES = sorted(FOLDER.glob("*.json"))


def replayer(*workflows: type[object]) -> Replayer:
    return Replayer(workflows=workflows, plugins=[temporal.plugin()])


def history_in(path: Path) -> WorkflowHistory:
    return WorkflowHistory.from_json(path.stem, path.read_text("utf-8"))


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
async def test_a_history_is_replayed_for_ever(path: Path) -> None:
    await replayer(*KEPT).replay_workflow(history_in(path))


def test_there_is_a_history_of_each_scenario() -> None:
    names = {path.stem.rsplit("-", 2)[0] for path in HISTORIES}

    assert names == set(SCENARIOS)


def test_the_histories_hold_what_can_become_of_a_run() -> None:
    kinds = {
        event["eventType"].removeprefix("EVENT_TYPE_")
        for path in HISTORIES
        for event in json.loads(path.read_text("utf-8"))["events"]
    }

    assert kinds >= {
        "ACTIVITY_TASK_COMPLETED",
        "ACTIVITY_TASK_TIMED_OUT",
        "TIMER_CANCELED",
        "TIMER_FIRED",
        "WORKFLOW_EXECUTION_CANCEL_REQUESTED",
        "WORKFLOW_EXECUTION_COMPLETED",
        "WORKFLOW_EXECUTION_CONTINUED_AS_NEW",
        "WORKFLOW_EXECUTION_FAILED",
        "WORKFLOW_EXECUTION_UPDATE_ACCEPTED",
    }


class Changed(temporal.RunWorkflow, name="KeptTools"):
    """As the program that was kept, but that it looks again."""

    agent = sf.Agent(
        model=ScriptedModel([reply(call(look, {"place": "a"}))]), tools=[look], stop_when=sf.always
    )
    engine = temporal.EngineOptions(allow_other_program=True)


class Stranger(temporal.RunWorkflow, name="KeptTools"):
    """As above, but that nobody allowed it."""

    agent = Changed.agent


async def test_a_program_that_decides_otherwise_is_found() -> None:
    """The check fails where a run would break."""
    [path] = FOLDER.glob("tools-*-0.json")
    with pytest.raises(NondeterminismError):
        await replayer(Changed).replay_workflow(history_in(path))


async def test_a_program_that_is_another_one_is_told_before_it_decides() -> None:
    [path] = FOLDER.glob("tools-*-0.json")

    with pytest.raises(RuntimeError, match="was not begun with the program of this worker"):
        await replayer(Stranger).replay_workflow(history_in(path))
