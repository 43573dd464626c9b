"""`KeptAgent`: the run of an agent within a pipeline that is written down, in the same journal.

Rules. The run is named after the pipeline's and the place of its stage. Its header and its events
are records of the pipeline's journal, each with the key of the stage, so that one store, one
version and one writer are enough. Once the stage has an answer, nobody folds its events again but
to replay.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias, final, runtime_checkable

from attrs import frozen

from stepfold.codec import to_json
from stepfold.loop import (
    Diverged,
    Done,
    JournalEntry,
    JournalHeader,
    LoopState,
    Program,
    Transition,
    replay,
)
from stepfold.pipeline.events import StageKey
from stepfold.values import JsonText, OpenRequest, Outcome

Write: TypeAlias = Callable[[Mapping[str, object], int], Awaitable[None]]
"""Writes a record down, with its time."""


@final
@frozen(order=False)
class Rested:
    """What an agent's stage gives where its run rests: what it waits for."""

    asked: tuple[OpenRequest, ...]


@final
class Kept:
    """What a journal holds of one run of an agent: its beginning, and its events."""

    def __init__(self, header: JournalHeader) -> None:
        self.header: JournalHeader = header
        self._entries: Final[list[JournalEntry]] = []

    def add(self, entry: JournalEntry) -> None:
        """Let one more event have happened."""
        self._entries.append(entry)

    def folded(self, program: Program) -> Outcome[LoopState, Diverged]:
        """The state that the run had reached; `position` of a failure counts its events."""
        return replay(program, self.header, self._entries)


@runtime_checkable
class AsksAgent(Protocol):
    """What a stage of an agent is to a journal."""

    def reached(self, kept: Kept, /) -> Outcome[LoopState, Diverged]:
        """The state that its run had reached."""
        ...

    def value_of(self, output: JsonText, /) -> Outcome[object, str]:
        """What the stage gives for the output of a completed run."""
        ...

    def error_of(self, state: LoopState, /) -> object:
        """What the stage fails with for a run that has ended otherwise."""
        ...

    def check(self, state: LoopState, answers: Sequence[object], /) -> None:
        """Refuse answers that do not fit.

        Raises:
            UsageError: one does not.
        """
        ...


@final
class KeptAgent:
    """The journal of one run of an agent; its `state` is where that stands, if it has begun."""

    def __init__(self, key: StageKey, write: Write) -> None:
        self.state: LoopState | None = None
        self.answers: tuple[object, ...] = ()  # what people said meanwhile, for when it goes on
        self._key = key
        self._write = write

    async def begin(self, header: JournalHeader, /) -> None:
        """Write down how the run began."""
        await self._write(self._record("agent-begun", "header", header), header.at)

    async def append(self, entry: JournalEntry, /) -> None:
        """Write one event down."""
        await self._write(self._record("agent-event", "entry", entry), entry.event.at)

    async def advance(self, entry: JournalEntry, transition: Transition, /) -> None:
        """Write one event down, and keep the state after it."""
        await self.append(entry)
        self.state = transition.state

    def _record(
        self, kind: str, name: str, value: JournalHeader | JournalEntry
    ) -> dict[str, object]:
        return {
            "type": kind,
            "strand": list(self._key.strand),
            "place": self._key.place,
            name: to_json(value),
        }


def written_end(state: LoopState | None, *, is_success: bool) -> Mapping[str, object]:
    """What is written of what an agent's stage gave: its output, or the whole run."""
    if is_success and state is not None and isinstance(state.phase, Done):
        output = state.phase.output
        if output is not None:
            return {"output": output.text}
    return {"run": to_json(state)}
