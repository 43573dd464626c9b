"""Bytes that were written once are read for ever.

`tests/data/codec/v1/*.jsonl` were written by version 1: one document a line, a file for each
kind. Lines are added, never changed and never removed. `python -m tests.codec.corpus` begins the
folder of a new version.
"""

import shutil
from pathlib import Path

import pytest

from stepfold.codec import CURRENT_VERSION, decode, encode
from stepfold.codec import _forms as forms
from tests.codec.corpus import CORPUS, KINDS, add_documents

DOCUMENTS = [
    pytest.param(path, line, id=f"{path.parent.name}-{path.stem}-{number}")
    for path in sorted(CORPUS.glob("v*/*.jsonl"))
    for number, line in enumerate(path.read_bytes().splitlines())
]


@pytest.mark.parametrize(("path", "line"), DOCUMENTS)
def test_documents_are_read_for_ever(path: Path, line: bytes) -> None:
    value = decode(line, KINDS[path.stem]).unwrap()

    if path.parent.name == f"v{CURRENT_VERSION}":
        assert encode(value) == line


def test_corpus_has_documents_of_every_kind_and_class() -> None:
    written = "".join(path.read_text("utf-8") for path in CORPUS.glob("v1/*.jsonl"))
    tags = {tag for kind, tag in forms.TAGS.items() if kind in forms.TAGGED}

    assert {path.stem for path in CORPUS.glob("v1/*.jsonl")} == set(KINDS)
    assert {tag for tag in tags if f'"type":"{tag}"' not in written} == set()


def test_a_new_version_begins_with_the_documents_of_the_old_one(tmp_path: Path) -> None:
    shutil.copytree(CORPUS / "v1", tmp_path / "v1")
    added = add_documents(tmp_path, 2)

    assert len(added) == len(KINDS)
    assert all(line.startswith("added: v2/") for line in added)
    old, new = (tmp_path / version / "states.jsonl" for version in ("v1", "v2"))
    assert new.read_bytes() == old.read_bytes()  # written by the same version of the format

    new.write_bytes(b"kept")
    assert "kept: v2/states.jsonl" in add_documents(tmp_path, 2)
    assert new.read_bytes() == b"kept"


def test_a_kind_without_documents_is_told(tmp_path: Path) -> None:
    assert add_documents(tmp_path, 1)[0].startswith("MISSING: v1/commands.jsonl")
