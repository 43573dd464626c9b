"""A fault that shows only while modules are imported is there when they are."""

import subprocess
import sys

from tests.mutants.faults import faulty
from tests.mutants.trial import PACKAGE, ROOT

TEST = "tests/loop/test_state.py::test_a_state_is_shown_without_what_was_said"


def test_a_module_is_imported_with_its_fault() -> None:
    """Also under pytest, which has ways of its own to read the sources of its plugins."""
    path = PACKAGE / "loop" / "_state.py"
    mutants = faulty(path, path.read_text("utf-8")).mutants
    number = next(i for i, mutant in enumerate(mutants) if mutant.function == "_counted")
    command = (sys.executable, "-m", "tests.mutants.cold", str(path), str(number))

    ran = subprocess.run(
        command, input=TEST, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )

    assert ran.returncode == 1
    assert f"FAILED {TEST}" in ran.stdout
