"""Compare the public API with that of the last release: `python -m tests.contracts.breaks`.

What is compared is the snapshot in `stubs/`, now and at the last tag, so that only what users can
name counts. Each break needs a waiver with a reason in `tests/contracts/waivers.toml`, and a waiver
that excuses nothing fails like a break without one: after a release the list is emptied.
"""

import io
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import griffe

from tests.contracts.source import PACKAGE, ROOT

WAIVERS: Final = Path("tests", "contracts", "waivers.toml")
_COLOURS: Final = re.compile(r"\x1b\[\d+m")


def last_tag(repository: Path) -> str | None:
    """Name the last release before what is checked out; None where git knows of none."""
    command = ("git", "describe", "--tags", "--abbrev=0")
    ran = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    return ran.stdout.strip() if ran.returncode == 0 else None


def breaks(repository: Path, tag: str) -> tuple[str, ...]:
    """Say what users of the release would find gone or changed, a line for each."""
    archive = subprocess.run(
        ("git", "archive", tag, "stubs"), cwd=repository, capture_output=True, check=True
    )
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(folder, filter="data")
        found = griffe.find_breaking_changes(
            _loaded(Path(folder, "stubs")), _loaded(repository / "stubs")
        )
        return tuple(sorted({_told(it) for it in found}))


def _loaded(folder: Path) -> griffe.Object | griffe.Alias:
    return griffe.load(PACKAGE, search_paths=[folder], allow_inspection=False)


def _told(breakage: griffe.Breakage) -> str:
    place = (breakage.obj.parent or breakage.obj).module.path  # where it was offered
    _, _, what = _COLOURS.sub("", breakage.explain()).partition(": ")
    return f"{place}: {what}"


def waivers(repository: Path) -> Mapping[str, str]:
    """Read which breaks are meant, and why."""
    path = repository / WAIVERS
    entries = tomllib.loads(path.read_text("utf-8"))["waiver"] if path.exists() else []
    return {entry["break"]: entry["reason"] for entry in entries}


def complaints(found: tuple[str, ...], waived: Mapping[str, str]) -> Iterator[str]:
    """Say which breaks have no waiver, which waivers have no break, and which have no reason."""
    for it in found:
        if it not in waived:
            yield f"breaks users, and has no waiver: {it}"
    for it, reason in waived.items():
        if it not in found:
            yield f"waived, and nothing of the kind is broken: {it}"
        elif not reason.strip():
            yield f"waived without a reason: {it}"


def main(repository: Path = ROOT) -> int:
    """Compare, and print what is wrong."""
    tag = last_tag(repository)
    if tag is None:
        print("no release is tagged: there is nothing that could be broken")
    found = () if tag is None else breaks(repository, tag)
    wrong = tuple(complaints(found, waivers(repository)))
    for line in wrong:
        print(line)
    if tag is not None and not wrong:
        print(f"nothing is broken since {tag}, {len(found)} waived breaks aside")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
