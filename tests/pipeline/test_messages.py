"""What type checkers say about a wiring that does not fit is short."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stepfold as sf

ROOT = Path(__file__).parents[2]
REFUSED = ROOT / "tests" / "typing" / "pipelines.py"
LONGEST = 400


COMBINATORS = tuple(
    name for name, member in vars(sf.Stage).items() if callable(member) and not name.startswith("_")
) + (
    *("stage", "pure", "fallible", "identity", "given", "sleep", "await_input"),
    *("await_input_with", "parallel", "parallel_all", "branch", "case", "when", "otherwise"),
    *("orchestrate", "route", "to", ">>", "&", "run", "run_sync", "value", "start", "fork"),
)
DRAWN = {"tree", "mermaid", "schemas", "forms"}


@pytest.mark.parametrize("name", sorted({*COMBINATORS} - DRAWN))
def test_each_combinator_has_a_wiring_that_is_refused(name: str) -> None:
    text = REFUSED.read_text("utf-8").partition("# --- what is refused")[2]
    lines = [line for line in text.splitlines() if "type: ignore[" in line]

    used = name if name in {">>", "&"} else f"{name}("

    assert any(re.search(rf"(?<!\w){re.escape(used)}", line) for line in lines)


@pytest.fixture(scope="module")
def without_ignores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the typing tests without what keeps the checkers quiet."""
    text = re.sub(r"  # (?:type|pyright): ignore\[[^\]]*\]", "", REFUSED.read_text("utf-8"))
    path = tmp_path_factory.mktemp("messages") / "pipelines.py"
    path.write_text(text, "utf-8")
    return path


def test_mypy_says_in_short_what_does_not_fit(without_ignores: Path) -> None:
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-error-summary"),
            *(
                "--cache-dir",
                ROOT / ".mypy_cache" / "messages",
                "--config-file",
                "",
                without_ignores,
            ),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    told = re.findall(r":\d+: error: (.*)", ran.stdout)

    assert len(told) > 40
    assert [one for one in told if len(one) > LONGEST] == []


def test_pyright_says_first_in_short_what_does_not_fit(without_ignores: Path) -> None:
    settings = {
        "include": ["."],
        "venvPath": str(ROOT),
        "venv": ".venv",
        "typeCheckingMode": "strict",
    }
    project = without_ignores.with_name("pyrightconfig.json")
    project.write_text(json.dumps(settings), "utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--project", project],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(ran.stdout)["generalDiagnostics"]
    told = ["\n".join(one["message"].splitlines()[:2]) for one in found]

    assert len(told) > 40
    assert [one for one in told if len(one) > LONGEST] == []
