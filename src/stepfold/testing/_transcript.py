"""A run as a text that people read, compare and keep: a golden transcript."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from itertools import groupby
from pathlib import Path
from typing import Final, final

from stepfold.agent import Run
from stepfold.loop.notes import Note, ToolFinished
from stepfold.shell import EventHappened, Observation
from stepfold.testing._words import words_of_note, words_of_part, words_of_request
from stepfold.values import (
    Blocked,
    Cancelled,
    Completed,
    Failed,
    Message,
    Stopped,
    SystemMessage,
    Text,
    Usage,
)

REWRITE: Final = "pytest --rewrite-transcripts"


def transcript(run: Run[object], *, notes: Sequence[Note] = ()) -> str:
    """A run as text: its messages, steps, notes, end and usage, without times.

    Equal runs have equal transcripts, whatever they are called, and in whatever order tools of a
    step have ended. `notes` are those that an observer was told of, such as a `Transcript`.
    """
    lines = [
        *_section("messages", (line for it in run.messages for line in _message(it))),
        *_section("steps", _steps(run)),
        *_section("notes", map(words_of_note, _in_call_order(notes))),
        *_section("warnings", (f"{it.kind}: {it.subject}, {it.message}" for it in run.warnings)),
        *_section("end", _end(run)),
        *_section("usage", (_usage(run.usage, run.cost),)),
    ]
    named = rf"(?<![\w-]){re.escape(run.id)}(?=/)"  # where it is the beginning of another id
    return re.sub(named, "run", "\n".join(lines)) + "\n"


@final
class Transcript:
    """The transcript of a run in a file, which is compared, or written anew.

    It is an observer, too: given to a run, it hears the notes, which belong to the transcript then.

        run = agent.generate_sync("Hello", observers=[seen])
        seen.check(run)
    """

    def __init__(self, path: Path, *, rewrites: bool = False) -> None:
        self._path: Final = path
        self._rewrites: Final = rewrites
        self._notes: list[Note] = []

    @property
    def path(self) -> Path:
        """Where the transcript is kept."""
        return self._path

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes that were heard so far, in order."""
        return tuple(self._notes)

    def __call__(self, seen: Observation) -> None:
        """Hear what is told of a run."""
        if isinstance(seen, EventHappened):
            self._notes += seen.transition.notes

    def check(self, run: Run[object]) -> None:
        """Compare the transcript of a run with the one that is kept, or write it down anew.

        Raises:
            AssertionError: they differ, or none is kept; the text shows what is gone (-) and what
                has come (+), and how to keep it.
        """
        text = transcript(run, notes=self._notes)
        if self._rewrites:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(text, encoding="utf-8")
            return
        if not self._path.exists():
            msg = f"no transcript is kept at {self._path}: write it by {REWRITE}, and read it"
            raise AssertionError(msg)
        kept = self._path.read_text(encoding="utf-8")
        if kept != text:
            diff = "\n".join(
                unified_diff(kept.splitlines(), text.splitlines(), "kept", "came", lineterm="")
            )
            msg = f"the run is not the one at {self._path}; if it shall be: {REWRITE}\n{diff}"
            raise AssertionError(msg)


def _in_call_order(notes: Sequence[Note]) -> Iterator[Note]:
    """The notes; of tools that ran side by side in the order of their calls, not of their ends."""
    for is_end, several in groupby(notes, lambda note: isinstance(note, ToolFinished)):
        found = list(several)
        yield from sorted(found, key=_call_of) if is_end else found


def _call_of(note: Note) -> tuple[int, int]:
    return (note.key.step, note.key.index) if isinstance(note, ToolFinished) else (0, 0)


def _section(title: str, lines: Iterable[str]) -> list[str]:
    """A titled part of the text, each line of it indented; none without lines."""
    told = [f"  {line}" if line else "" for text in lines for line in text.split("\n")]
    return [f"{title}:", *told] if told else []


def _message(message: Message) -> Iterator[str]:
    role = type(message).__name__.removesuffix("Message").lower()
    if isinstance(message, SystemMessage):
        yield f"{role}: {_text(message.content)}"
        return
    for part in message.content:
        yield f"{role}: {_text(part.text) if isinstance(part, Text) else words_of_part(part)}"
    if not message.content:
        yield f"{role}: nothing"


def _text(text: str) -> str:
    """Text as it is, with a bar before each line after the first."""
    return "\n  | ".join(text.split("\n"))


def _steps(run: Run[object]) -> Iterator[str]:
    for step in run.steps:
        yield (
            f"{step.step}: {step.model}, {step.finish_reason.unified}, "
            f"{_usage(step.usage, step.cost)}"
        )


def _usage(usage: Usage, cost: int | None) -> str:
    told = f"{_count(usage.input_tokens)} in, {_count(usage.output_tokens)} out"
    return told if cost is None else f"{told}, {cost} micro-units"


def _count(tokens: int | None) -> str:
    return "unknown" if tokens is None else str(tokens)


def _end(run: Run[object]) -> Iterator[str]:
    match run.end:
        case Completed(output):
            yield f"completed: {output!r}"
        case Stopped(stop):
            yield f"stopped: {stop.name} {stop.evidence.text}"
        case Blocked(owed):
            yield "blocked:"
            yield from (f"  {words_of_request(request)}" for request in owed)
        case Failed(error):
            yield f"failed: {type(error).__name__}, {error.message}"
        case Cancelled(reason):
            yield f"cancelled: {reason}"
