"""What is kept for ever: documents of every kind, and journals of runs.

`python -m tests.codec.corpus` adds what is new in this version: for each kind the documents of the
version before, written anew in this one's form, and the journals of today. Files that are there are
never touched. Within a version lines are added by hand, and never changed or removed.
"""

import sys
from pathlib import Path

from typing_extensions import TypeForm

from stepfold import loop
from stepfold import values as v
from stepfold.codec import CURRENT_VERSION, decode, encode
from stepfold.loop import commands, events, notes
from tests.codec import journals

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


def add_documents(corpus: Path, version: int) -> list[str]:
    """Write the documents of the version before in this one's form; says what became of each."""
    told: list[str] = []
    for name, kind in KINDS.items():
        path = corpus / f"v{version}" / f"{name}.jsonl"
        before = corpus / f"v{version - 1}" / path.name
        if path.exists():
            told.append(f"kept: {path.parent.name}/{path.name}")
        elif before.exists():
            values = (decode(line, kind).unwrap() for line in before.read_bytes().splitlines())
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"".join(encode(value) + b"\n" for value in values))
            told.append(f"added: {path.parent.name}/{path.name}")
        else:
            told.append(f"MISSING: {path.parent.name}/{path.name}, write its first documents")
    return told


def main() -> None:
    """Add what is not there yet."""
    for line in (*add_documents(CORPUS, CURRENT_VERSION), *journals.add_journals(journals.HERE)):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
