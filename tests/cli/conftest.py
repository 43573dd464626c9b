"""The command in this process, in a folder that holds a module of the user's own."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepfold.cli import main
from tests.cli._desk import DESK, Command, Done


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "desk.py").write_text(DESK, "utf-8")
    (tmp_path / "broken.py").write_text("import os\n\nos.nothing_like_it()\n", "utf-8")
    (tmp_path / "lacking.py").write_text("import no_such_library\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in ("desk", "broken", "lacking"):
        sys.modules.pop(name, None)


@pytest.fixture
def stepfold(
    desk: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    def run(*arguments: str, typed: str = "") -> Done:
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        code = main(arguments)
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return run
