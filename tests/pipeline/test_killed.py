"""Pipelines whose process is killed: at each boundary of events, by SIGKILL."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import anyio
import pytest

import stepfold as sf
from stepfold.durable import FileStore
from tests.pipeline._killed import EFFECTS, pipeline

BOUNDARIES = (1, 2, 3, 5, 6, 7, 9, 10, 12, 14, 16)


def killed(folder: Path, records: int) -> bool:
    """Run the pipeline in a process that dies after so many records; tells whether it did."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.pipeline._killed", str(folder), str(records)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.returncode == -9


def records_in(folder: Path) -> list[str]:
    (file,) = folder.glob("*.jsonl")
    return file.read_text().splitlines()


def ended(folder: Path) -> sf.PipelineRun[int, sf.RunFailed]:
    """Take the run up, and give what it asks for."""

    async def main() -> sf.PipelineRun[int, sf.RunFailed]:
        store = FileStore(folder)
        run = await pipeline(folder).resume("r", journal=store)
        if isinstance(run.end, sf.Suspended):
            run = await pipeline(folder).resume("r", {"figure": 4}, journal=store)
        return run

    return anyio.run(main)


@pytest.mark.parametrize("records", BOUNDARIES)
def test_a_killed_pipeline_goes_on_where_it_was(tmp_path: Path, records: int) -> None:
    """Nothing that must not run twice does, and the end is that of an undisturbed run.

    It ends otherwise only where something had begun that nobody knows the end of.
    """
    assert killed(tmp_path, records)
    begun = [line for line in records_in(tmp_path) if '"type":"begun"' in line]
    over = [line for line in records_in(tmp_path) if '"stage":"measured"' in line]
    unknown = 2 * len(begun) - len(over)  # a stage has a record of its beginning and of its end

    run = ended(tmp_path)

    effects = Counter((tmp_path / EFFECTS).read_text().split("\n")[:-1])
    assert max(effects.values()) == 1
    if unknown:
        assert isinstance(run.end, sf.Crashed)
        assert run.end.exception == "Interrupted"
    else:
        assert run.end == sf.Finished(sf.Success(10))
        assert set(effects) - {"tool x"} == {"stage a", "stage bc", "stage def"}


def test_there_are_boundaries_of_all_kinds(tmp_path: Path) -> None:
    """The boundaries above lie before, in and after everything that a run writes."""
    assert not killed(tmp_path, 100)
    count = len(records_in(tmp_path))
    assert max(BOUNDARIES) == count
    assert isinstance(ended(tmp_path).end, sf.Finished)
