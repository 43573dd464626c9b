"""A fault that shows only while modules are imported is there when they are."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.faults import faulty
from tests.mutants.trial import PACKAGE, ROOT

MODULE = PACKAGE / "loop" / "_state.py"
TEST = "tests/loop/test_state.py::test_a_state_is_shown_without_what_was_said"
GONE = "tests/loop/test_state.py::test_that_is_not_there"


def fault_in(function: str) -> str:
    """The number of a fault in this function."""
    mutants = faulty(MODULE, MODULE.read_text("utf-8")).mutants
    return str(next(i for i, mutant in enumerate(mutants) if mutant.function == function))


def cold(tests: list[str], *number: str, path: Path = MODULE) -> tuple[int, str]:
    """The status of these tests in a process of their own, and what it printed."""
    ran = subprocess.run(
        (sys.executable, "-m", "tests.mutants.cold", str(path), *number),
        input=json.dumps(tests),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return ran.returncode, ran.stdout + ran.stderr


def test_a_module_is_imported_with_its_fault() -> None:
    """Also under pytest, which has ways of its own to read the sources of its plugins."""
    status, told = cold([TEST], fault_in("_counted"))

    assert status == 1
    assert f"FAILED {TEST}" in told


@pytest.mark.parametrize(("tests", "status"), [([TEST], 0), ([TEST, GONE], 4)])
def test_without_a_fault_all_tests_are_there_and_pass(tests: list[str], status: int) -> None:
    assert cold(tests)[0] == status


def test_a_test_that_is_not_there_hides_no_other() -> None:
    """Else a fault would seem to be seen that is not."""
    status, told = cold([GONE, TEST], fault_in("_counted"))

    assert status == 1
    assert f"FAILED {TEST}" in told
