"""Law 14 on real processes: whatever is killed goes on, and nothing happens twice."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.durable._postgres import AbsentError, require_postgres
from tests.durable.temporal._server import require_binary

ROOT = Path(__file__).parents[2]


def _require_postgres() -> None:
    try:
        require_postgres()
    except AbsentError as absent:
        if os.environ.get("STEPFOLD_REQUIRE_SERVICES") == "1":
            raise
        pytest.skip(f"no PostgreSQL here: {absent}")


def _kill(*options: str, module: str = "tests.kill") -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own: it forks, which wants one without threads."""
    command = [sys.executable, "-m", module, *options]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600
    )


@pytest.mark.parametrize("store", ["file", "sqlite", "postgres", "temporal", "dbos"])
def test_a_run_goes_on_wherever_it_is_killed(store: str) -> None:
    if store == "postgres":
        _require_postgres()
    if store == "temporal":
        require_binary("temporal")
    ran = _kill("--store", store, "--kills", "20")

    assert ran.returncode == 0, ran.stderr
    assert "20 kills" in ran.stdout
    assert "0 violations" in ran.stdout


@pytest.mark.parametrize("store", ["file", "temporal"])
def test_a_tool_that_lies_about_itself_is_found(store: str) -> None:
    """The check fails where law 14 does."""
    if store == "temporal":
        require_binary("temporal")
    ran = _kill("--store", store, "--kills", "12", "--careless")

    assert ran.returncode == 1, ran.stdout
    assert "started twice" in ran.stderr


def test_workers_that_are_killed_share_runs_and_end_each_once() -> None:
    _require_postgres()
    ran = _kill("--runs", "20", module="tests.kill.workers")

    assert ran.returncode == 0, ran.stderr
    assert "20 runs, 4 workers" in ran.stdout


def test_a_run_of_a_tool_call_goes_on_from_its_own_journal() -> None:
    ran = _kill("--stride", "3", module="tests.kill.children")

    assert ran.returncode == 0, ran.stderr
    assert " 0 violations" in ran.stdout
