"""What is shipped: one small, typed wheel with six dependencies."""

import email
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest

from tests.contracts.source import ROOT

MOST_BYTES = 1_050_000  # of code alone: data or recordings that slip in would be far beyond
DEPENDENCIES = {"anyio", "attrs", "cattrs", "httpx", "returns", "typing-extensions"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    folder = tmp_path_factory.mktemp("wheel")
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation")
    subprocess.run((*build, "--outdir", folder, ROOT), check=True, capture_output=True)
    [path] = folder.glob("*.whl")
    with zipfile.ZipFile(path) as opened:
        yield opened


def _metadata(wheel: zipfile.ZipFile) -> Message:
    [name] = (it for it in wheel.namelist() if it.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(wheel.read(name))


def test_wheel_is_small(wheel: zipfile.ZipFile) -> None:
    assert wheel.filename is not None
    assert Path(wheel.filename).stat().st_size < MOST_BYTES


def test_wheel_holds_the_typed_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())

    assert "stepfold/py.typed" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"stepfold"}


def test_runtime_dependencies_are_six(wheel: zipfile.ZipFile) -> None:
    required = _metadata(wheel).get_all("Requires-Dist", [])
    names = {re.split(r"[^\w.-]", it)[0] for it in required if "extra ==" not in it}

    assert names == DEPENDENCIES
