"""Journals that were written once are read and replayed for ever.

`tests/data/codec/journals/` holds a folder for each version of the format and of the rules: a
header, entries and the state that was reached, one document a line.
`python -m tests.codec.corpus` adds files, and touches none.
"""

from pathlib import Path
from typing import get_args

import pytest

from stepfold.codec import decode
from stepfold.loop import RULES, Done, JournalEntry, JournalHeader, LoopState, Resting, replay
from stepfold.loop.commands import Command
from stepfold.loop.events import Event
from stepfold.values import Failure, Success
from tests.codec.journals import FOLDER, RUNS, add_journals, file_of, written

FILES = sorted(FOLDER.glob("*/*.jsonl"))
BY_FILE = {file_of(name).name: kept for name, kept in RUNS.items()}


def read(path: Path) -> tuple[JournalHeader, list[JournalEntry], LoopState]:
    first, *lines, last = path.read_bytes().splitlines()
    entries = [decode(line, JournalEntry).unwrap() for line in lines]
    return decode(first, JournalHeader).unwrap(), entries, decode(last, LoopState).unwrap()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_journals_are_replayed_for_ever(path: Path) -> None:
    header, entries, state = read(path)
    program = BY_FILE[path.name].program

    match replay(program, header, entries):
        case Success(reached):
            assert reached == state
        case Failure(diverged):  # by other rules, which a host is told
            assert header.rules != RULES
            assert diverged.expected == f"rules {header.rules}"


@pytest.mark.parametrize("name", RUNS)
def test_journals_of_today_are_kept_and_written_alike(name: str) -> None:
    assert file_of(name).read_bytes() == written(RUNS[name]), (
        "this run is written or decided otherwise than before: that is a new version of the "
        "format or of the rules; then python -m tests.codec.corpus keeps it beside the old"
    )


def test_journals_hold_every_kind_of_event_command_and_end() -> None:
    found = [read(file_of(name)) for name in RUNS]
    events = {type(entry.event) for _, entries, _ in found for entry in entries}
    issued = {
        identity.split("/")[0]
        for header, entries, _ in found
        for ids in (header.commands, *(entry.commands for entry in entries))
        for identity in ids
    }
    ends = {
        type(state.phase.end).__name__ for _, _, state in found if isinstance(state.phase, Done)
    }

    assert events == set(get_args(Event))
    assert issued == {kind.__name__ for kind in get_args(Command)}
    assert ends == {"Cancelled", "Completed", "Failed", "Stopped"}
    assert any(isinstance(state.phase, Resting) for _, _, state in found)  # which is Blocked


def test_files_that_are_there_are_not_touched(tmp_path: Path) -> None:
    add_journals(tmp_path / "now")
    kept = tmp_path / "now" / "text.jsonl"
    assert kept.read_bytes() == written(RUNS["text"])

    kept.write_bytes(b"old\n")
    told = add_journals(tmp_path / "now")
    assert kept.read_bytes() == b"old\n"
    assert told[:2] == ["KEPT, and it would differ: text.jsonl", "kept: tools.jsonl"]
