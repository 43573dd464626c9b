"""Bytes that were written once are read for ever.

`tests/data/codec/v1/*.jsonl` were written by version 1: one document a line, a file for each
kind. Lines are added, never changed and never removed.
"""

from pathlib import Path

import pytest
from typing_extensions import TypeForm

from stepfold import loop
from stepfold import values as v
from stepfold.codec import CURRENT_VERSION, decode, encode
from stepfold.codec import _forms as forms
from stepfold.loop import commands, events, notes

CORPUS = Path(__file__).parents[1] / "data" / "codec"

KINDS: dict[str, TypeForm[object]] = {
    "commands": commands.Command,
    "ends": v.RunEnd[v.JsonText],
    "entries": loop.JournalEntry,
    "errors": v.RunError,
    "events": events.Event,
    "file-data": v.FileData,
    "headers": loop.JournalHeader,
    "messages": v.Message,
    "notes": notes.Note,
    "open-requests": v.OpenRequest,
    "outputs": v.ToolOutput,
    "parts": v.ContentPart,
    "phases": loop.Phase,
    "records": v.Usage | v.CallSettings | v.ModelRequest | v.ModelReply | v.StepResult,
    "states": loop.LoopState,
    "stream-parts": v.StreamPart,
    "transitions": loop.Transition,
}
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
