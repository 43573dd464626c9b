"""`stepfold decode` says of real traffic what the manifest of recordings says."""

import io
import json
import random
import sys
from pathlib import Path

import pytest

from stepfold.cli import main
from tests.providers.recordings import (
    FOLDER,
    SPOKEN,
    Recording,
    ResultKind,
    recorded,
    recordings,
)

EXITS: dict[ResultKind, int] = {"reply": 0, "error": 0, "violation": 1}


def decoded(
    recording: Recording, file: str, capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[dict[str, object]], str]:
    options = ["--stream"] if recording.form == "stream" else []
    code = main(["decode", "--protocol", recording.protocol, *options, file])
    said = capsys.readouterr()
    return code, [json.loads(line) for line in said.out.splitlines()], said.err


def check(recording: Recording, code: int, lines: list[dict[str, object]], complaint: str) -> None:
    """The exit code, the lines that have to be there, and where the fault is."""
    assert code == EXITS[recording.expected], (recording.name, complaint)
    kinds = [line["type"] for line in lines]
    if recording.expected == "violation":
        assert "reply" not in kinds, recording.name
        assert complaint.startswith(("error: line ", "error: byte ")), complaint
        return
    assert kinds[-1] == "reply", recording.name
    assert kinds.count("reply") == 1, recording.name
    assert kinds.count("error") == (recording.expected == "error"), recording.name
    finish = lines[-1]["finish_reason"]
    assert isinstance(finish, dict)
    assert (finish["unified"] == "error") == (recording.expected == "error"), recording.name
    if recording.form == "body":
        assert len(lines) == 1 + (recording.expected == "error"), recording.name


@recorded
@pytest.mark.parametrize("protocol", sorted(SPOKEN))
def test_every_recording_is_told_by_its_outcome(
    protocol: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for recording in recordings(protocol):
        path = tmp_path / "sent"
        path.write_bytes(recording.data)
        check(recording, *decoded(recording, str(path), capsys))


@recorded
def test_the_files_as_they_lie_there_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """A file of events, one a line, needs no frames; what follows a whole reply is not read."""
    seen = 0
    for recording in recordings():
        number = recording.name.partition("#")[2]
        if (
            recording.protocol not in SPOKEN
            or recording.form != "stream"
            or number not in {"", "0"}
        ):
            continue
        if not recording.file.endswith(".chunks.txt"):
            continue
        check(recording, *decoded(recording, str(Path(FOLDER, recording.file)), capsys))
        seen += 1
    assert seen


@recorded
def test_a_stream_that_is_cut_is_no_reply(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(7)
    for recording in recordings("openai-responses", "stream"):
        if recording.expected != "reply":
            continue
        cut = recording.data[: chance.randrange(len(recording.data) // 2)]
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(cut)))
        code, lines, complaint = decoded(recording, "-", capsys)

        assert code == 1, recording.name
        assert all(line["type"] != "reply" for line in lines), recording.name
        assert complaint, recording.name
