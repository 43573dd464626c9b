"""A project outside of the package holds with the built wheel: types, laws and its own tests.

`tests/fixtures/user_project` is installed beside the wheel into an environment of its own, in which
this checkout cannot be imported. What else it needs is found in ours, so nothing is downloaded.
"""

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.contracts.source import ROOT

PROJECT = ROOT / "tests" / "fixtures" / "user_project"


def _run(*command: str | Path, cwd: Path) -> str:
    ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, with `env/` beside its `pyproject.toml`."""
    project = tmp_path_factory.mktemp("user") / "project"
    shutil.copytree(PROJECT, project, ignore=shutil.ignore_patterns("__pycache__"))
    _run(sys.executable, "-m", "venv", "--without-pip", "env", cwd=project)
    wheels = project / "wheels"
    for source in (ROOT, project):
        build = ("-m", "build", "--wheel", "--no-isolation", "--outdir", wheels)
        _run(sys.executable, *build, source, cwd=project)
    pip = ("-m", "pip", "--python", project / "env", "install", "--no-deps", "--no-index")
    _run(sys.executable, *pip, *wheels.glob("*.whl"), cwd=project)
    # A path in such a file is searched, but not the files of its kind that lie there: by one of
    # them this checkout is installed into our environment.
    site = Path(
        _run(
            _python(project), "-c", "import site; print(site.getsitepackages()[0])", cwd=project
        ).strip()
    )
    (site / "ours.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    return project


def _python(project: Path) -> Path:
    return project / "env" / "bin" / "python"


def test_it_uses_the_wheel(project: Path) -> None:
    where = _run(_python(project), "-c", "import stepfold; print(stepfold.__file__)", cwd=project)

    assert Path(where).is_relative_to(project / "env")


def test_mypy_is_content_without_a_plugin(project: Path) -> None:
    _run(sys.executable, "-m", "mypy", "--python-executable", _python(project), cwd=project)


def test_pyright_is_content(project: Path) -> None:
    python = ("--pythonpath", _python(project))
    said = json.loads(_run(sys.executable, "-m", "pyright", *python, "--outputjson", cwd=project))

    assert said["summary"]["filesAnalyzed"] == len([*PROJECT.rglob("*.py")])


def test_its_mistakes_are_found(project: Path) -> None:
    """Content checkers could also mean that the types of the wheel are not seen."""
    wrong = project / "wrong.py"
    wrong.write_text('from tides import tide\n\ntide("Leith")\n', "utf-8")
    mypy = (sys.executable, "-m", "mypy", "--python-executable", _python(project), wrong)
    ran = subprocess.run(mypy, cwd=project, capture_output=True, text=True, check=False)
    wrong.unlink()

    assert 'expected "ToolContext[Gauges]"' in ran.stdout


def test_its_own_tests_pass(project: Path) -> None:
    assert " passed" in _run(_python(project), "-m", "pytest", "-q", cwd=project)
