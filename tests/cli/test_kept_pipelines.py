"""`inspect`, `replay` and `fork`, on the journal of a pipeline that was there."""

from pathlib import Path

import anyio
import pytest

import stepfold as sf
from stepfold.durable import FileStore
from tests.cli._desk import Command

CHAIN = """
import stepfold as sf
from stepfold.testing import ScriptedModel, reply


def prompt(words: list[str]) -> str:
    return " ".join(words)


@sf.stage
def split(text: str) -> list[str]:
    return text.split()


@sf.stage
def loud(text: str) -> str:
    return text.upper()


@sf.stage
def long(text: str) -> int:
    return len(text)


agent = sf.Agent(model=ScriptedModel([reply("Far away.")]))
answered = split.then(agent.stage(prompt))
chain = answered >> loud
other = answered >> long
"""


@pytest.fixture
def journal(desk: Path) -> str:
    """Keep a run in the folder that the commands look into."""
    (desk / "chains.py").write_text(CHAIN, "utf-8")
    space: dict[str, object] = {}
    exec(CHAIN, space)
    chain = space["chain"]
    assert isinstance(chain, sf.Stage)

    async def keep() -> None:
        await chain.start("the moon", journal=FileStore("runs"), run_id="r-1")

    anyio.run(keep)
    return "runs/r-1.jsonl"


def test_inspect_shows_stages_without_a_pipeline(stepfold: Command, journal: str) -> None:
    done = stepfold("inspect", journal)

    assert done.code == 0
    assert "pipeline run r-1  completed" in done.out
    assert "given the moon" in done.out
    assert 'succeeded ["the", "moon"]' in done.out
    assert "FAR AWAY." in done.out
    assert "(1 model call)" in done.out
    assert "model-replied" not in done.out


def test_inspect_shows_every_record_and_nothing_that_was_said(
    stepfold: Command, journal: str
) -> None:
    done = stepfold("inspect", journal, "--events", "--redact")

    assert done.code == 0
    assert "agent: model-replied" in done.out
    assert "begun" in done.out
    assert "moon" not in done.out
    assert "FAR AWAY" not in done.out


def test_replay_tells_where_a_pipeline_parts(stepfold: Command, journal: str) -> None:
    same = stepfold("replay", journal, "--program", "chains:chain")
    parted = stepfold("replay", journal, "--program", "chains:other")

    assert (same.code, parted.code) == (0, 1)
    assert "the same: 7 records, completed" in same.out
    assert "- the stage loud" in parted.out
    assert "+ the stage long" in parted.out


def test_fork_writes_a_run_that_goes_on(stepfold: Command, journal: str) -> None:
    done = stepfold("fork", journal, "--program", "chains:other", "--at", "loud", "--run", "r-2")
    numbered = stepfold("fork", journal, "--program", "chains:chain", "--at", "2")

    assert (done.code, numbered.code) == (0, 0)
    assert "r-2.jsonl: the run r-2, from loud of r-1" in done.out
    assert "r-1-2.jsonl" in numbered.out
    shown = stepfold("inspect", "runs/r-2.jsonl")
    assert "a fork of r-1 after record 6" in shown.out
    assert "from here on it is r-2" in shown.out


def test_what_does_not_fit_is_told(stepfold: Command, journal: str) -> None:
    agent = stepfold("replay", journal, "--program", "chains:agent")
    far = stepfold("fork", journal, "--program", "chains:chain", "--at", "99")
    again = stepfold("fork", journal, "--program", "chains:chain", "--at", "2", "--run", "r-1")
    Path(journal).rename("runs/moved.jsonl")
    moved = stepfold("fork", "runs/moved.jsonl", "--program", "chains:chain", "--at", "2")
    view = stepfold("view", "runs/moved.jsonl")
    redact = stepfold("redact", "runs/moved.jsonl", "x.jsonl")

    codes = {one.code for one in (agent, far, again, moved, view, redact)}
    assert codes == {2}
    assert "expected a pipeline (sf.Stage), since the run is of one, got" in agent.err
    assert "expected a record from 1 to 8, got 99" in far.err
    assert "exists already" in again.err
    assert "expected the file runs/r-1.jsonl of the run 'r-1'" in moved.err
    assert "view: expected a run of an agent" in view.err
    assert "redact: expected a run of an agent" in redact.err
