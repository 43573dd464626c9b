"""A break of the public API since the last tag needs a waiver, and a waiver needs a break."""

import subprocess
from pathlib import Path

import pytest

from tests.contracts.breaks import WAIVERS, main

STUB = "def ask(prompt: str, *, times: int = 1) -> str: ...\ndef _inner() -> None: ..."


def _git(repository: Path, *arguments: str) -> None:
    who = ("-c", "user.name=Someone", "-c", "user.email=someone@example.org")
    subprocess.run(("git", *who, *arguments), cwd=repository, check=True, capture_output=True)


def _write(repository: Path, stub: str) -> None:
    path = repository / "stubs" / "stepfold" / "__init__.pyi"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(stub, "utf-8")


def _waive(repository: Path, line: str, reason: str = "times had no meaning") -> None:
    path = repository / WAIVERS
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"[[waiver]]\nbreak = '{line}'\nreason = '{reason}'\n", "utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository in which `stepfold.ask` is released."""
    _git(tmp_path, "init", "--quiet")
    _write(tmp_path, STUB)
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "--quiet", "--message", "Release")
    _git(tmp_path, "tag", "v1.0.0")
    return tmp_path


BREAK = "stepfold: ask(times): Parameter was removed"


def test_without_a_tag_nothing_is_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A clone may come without tags, and a project without releases."""
    _git(tmp_path, "init", "--quiet")

    assert main(tmp_path) == 0
    assert "no release is tagged" in capsys.readouterr().out


def test_additions_and_private_names_break_nobody(repository: Path) -> None:
    _write(repository, STUB.replace("= 1)", "= 1, loud: bool = False)").replace("_inner", "_x"))

    assert main(repository) == 0


def test_a_break_without_a_waiver_fails(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(repository, STUB.replace(", *, times: int = 1", ""))

    assert main(repository) == 1
    assert capsys.readouterr().out == f"breaks users, and has no waiver: {BREAK}\n"


def test_a_break_with_a_waiver_passes(repository: Path) -> None:
    _write(repository, STUB.replace(", *, times: int = 1", ""))
    _waive(repository, BREAK)

    assert main(repository) == 0


def test_a_waiver_needs_a_reason(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(repository, STUB.replace(", *, times: int = 1", ""))
    _waive(repository, BREAK, reason=" ")

    assert main(repository) == 1
    assert "waived without a reason" in capsys.readouterr().out


def test_a_waiver_that_excuses_nothing_fails(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After the next release nothing is broken any more, and the list has to be emptied."""
    _waive(repository, BREAK)

    assert main(repository) == 1
    assert "nothing of the kind is broken" in capsys.readouterr().out


def test_what_is_gone_is_a_break(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write(repository, "def _inner() -> None: ...")

    assert main(repository) == 1
    assert "stepfold: ask: Public object was removed" in capsys.readouterr().out
