"""Workers are processes that come and go; a run does not care."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from attrs import frozen
from temporalio.client import Client

import stepfold as sf
from stepfold.durable import FileChannel, StreamedPart, temporal
from stepfold.values import TextDelta
from tests.durable.temporal.conftest import Serving
from tests.durable.temporal.program import Booker, Looker, Speaker, Thinker, climb, seen, slow_book

ROOT = Path(__file__).parents[3]


@frozen
class Workers:
    """Workers of one queue, each a process."""

    address: str
    queue: str
    world: Path

    @contextmanager
    def one(self) -> Generator[subprocess.Popen[bytes]]:
        """Let one more work until it is killed."""
        command = [sys.executable, "-m", "tests.durable.temporal.worker"]
        there = os.environ | {"STEPFOLD_TEST_WORLD": str(self.world), "PYTHONPATH": str(ROOT)}
        worker = subprocess.Popen(
            [*command, self.address, self.queue, str(self.world)], env=there, cwd=self.world
        )
        try:
            yield worker
        finally:
            worker.kill()
            worker.wait()

    async def started(self) -> list[str]:
        """Wait until something has been started, and give all that has."""
        file = self.world / "started"
        await seen(file)
        return file.read_text().splitlines()

    def let_go_on(self) -> None:
        """Let all that was started come to its end."""
        (self.world / "go").touch()


@pytest.fixture
def workers(temporal_address: str, tmp_path: Path) -> Workers:
    return Workers(temporal_address, f"queue-{uuid4()}", tmp_path)


@pytest.fixture
async def serving(workers: Workers) -> Serving:
    """Give what begins runs for the workers."""
    client = await Client.connect(workers.address, plugins=[temporal.plugin()])
    return Serving(client, workers.queue)


async def test_a_call_of_a_lost_worker_is_made_again_under_its_key(
    serving: Serving, workers: Workers
) -> None:
    handle = await serving.start(Looker)
    with workers.one():
        await workers.started()
    workers.let_go_on()
    with workers.one():
        run = await handle.result()

    assert run.unwrap() == "Done."
    assert await workers.started() == [f"look {handle.id}/0/0"] * 2


async def test_a_call_that_must_not_run_twice_is_closed_as_interrupted(
    serving: Serving, workers: Workers
) -> None:
    handle = await serving.start(Booker)
    with workers.one():
        await workers.started()
    workers.let_go_on()
    with workers.one():
        run = await handle.result()

    [error] = run.steps[0].tool_errors
    assert error.kind == "interrupted"
    assert run.unwrap() == "Done."
    assert run.results_of(slow_book) == ()
    assert await workers.started() == [f"book {handle.id}/0/0"]


async def test_a_model_call_of_a_lost_worker_is_retried_by_the_loop(
    serving: Serving, workers: Workers
) -> None:
    handle = await serving.start(Thinker)
    with workers.one():
        await workers.started()
    workers.let_go_on()
    with workers.one():
        run = await handle.result()

    assert run.unwrap() == "Done."
    assert await workers.started() == [f"model {handle.id}/0/0", f"model {handle.id}/0/1"]


async def test_a_worker_that_is_told_to_stop_leaves_its_commands_to_others(
    serving: Serving, workers: Workers
) -> None:
    handle = await serving.start(Thinker)
    with workers.one() as first:
        await workers.started()
        first.terminate()
        first.wait(30)
    workers.let_go_on()
    with workers.one():
        run = await handle.result()

    assert run.unwrap() == "Done."


async def test_what_a_run_shows_is_seen_by_other_processes(
    serving: Serving, workers: Workers
) -> None:
    handle = await serving.start(Speaker)
    with workers.one():
        async with handle.stream(FileChannel(workers.world / "shown")) as parts:
            shown = [part async for part in parts]
        run = await handle.result()

    assert run.results_of(climb) == (2,)
    said = [shown_text(part) for part in shown if part.command == "CallModel/0/0"]
    assert "".join(said) == "Up I go."
    assert len([text for text in said if text]) > 1
    climbed = [part for part in shown if part.command.startswith("RunTool/")]
    values = [one.part.value.text for one in climbed if isinstance(one.part, sf.ToolProgressed)]
    assert values == ["0", "1", "2"]
    assert {(part.command, part.attempt) for part in climbed} == {("RunTool/0/0/0", 1)}
    for command in {part.command for part in shown}:
        places = [part.index for part in shown if part.command == command]
        assert places == list(range(len(places)))


def shown_text(part: StreamedPart) -> str:
    """The text that a part adds."""
    return part.part.delta if isinstance(part.part, TextDelta) else ""


async def test_a_reply_that_is_asked_for_again_is_told_apart(
    serving: Serving, workers: Workers
) -> None:
    handle = await serving.start(Thinker)
    with workers.one():
        await workers.started()
    workers.let_go_on()
    with workers.one():
        async with handle.stream(FileChannel(workers.world / "shown")) as parts:
            shown = [part async for part in parts]

    assert {part.command for part in shown} == {"CallModel/0/1"}
