"""Replay: folding a journal gives the state that was reached, or says where it does not."""

from collections.abc import Iterable, Sequence
from typing import final

from attrs import frozen

from stepfold.loop._begin import begin
from stepfold.loop._granted import Granted
from stepfold.loop._program import RULES, Program
from stepfold.loop._state import LoopState, Transition
from stepfold.loop._step import step
from stepfold.loop.commands import command_id
from stepfold.loop.events import Event
from stepfold.values import (
    EMPTY_OBJECT,
    Failure,
    IllegalEvent,
    Instant,
    JsonText,
    Message,
    Outcome,
    Success,
)


@final
@frozen(order=False)
class JournalHeader:
    """How a run began: everything that `begin` was given, and what decided it."""

    run: str
    seed: int
    at: Instant
    messages: tuple[Message, ...]
    fingerprint: str
    rules: int = RULES
    commands: tuple[str, ...] = ()
    runtime_context: JsonText = EMPTY_OBJECT
    granted: Granted | None = None


@final
@frozen(order=False)
class JournalEntry:
    """An event that changed the state, and the ids of the commands that it issued."""

    event: Event
    commands: tuple[str, ...] = ()


@final
@frozen(order=False)
class Diverged:
    """A journal and a program do not belong together.

    `position` counts entries from 0; -1 is the header. `expected` is what the journal asks for,
    `got` what this program makes of it.
    """

    position: int
    expected: str
    got: str


def command_ids(transition: Transition) -> tuple[str, ...]:
    """The ids of the commands of a transition, as a journal keeps them."""
    return tuple(command_id(command) for command in transition.commands)


def replay(
    program: Program,
    header: JournalHeader,
    entries: Iterable[JournalEntry],
    *,
    allow_other_fingerprint: bool = False,
) -> Outcome[LoopState, Diverged]:
    """Fold a journal into the state that was reached.

    A failure tells the first entry whose event is illegal, changes nothing, or issues other
    commands than it did, since then the program decides differently than it did. A changed
    fingerprint is one too, unless it is allowed.
    """
    other = unlike(program, header.fingerprint, header.rules)
    if other is not None and not (allow_other_fingerprint and header.rules == RULES):
        return Failure(other)
    first = begin(
        program,
        header.messages,
        run=header.run,
        seed=header.seed,
        at=header.at,
        runtime_context=header.runtime_context,
        granted=header.granted,
    )
    if header.commands and command_ids(first) != header.commands:
        return Failure(Diverged(-1, _told(header.commands), _told(command_ids(first))))
    return replay_from(program, first.state, entries)


def unlike(program: Program, fingerprint: str, rules: int) -> Diverged | None:
    """What in a program, or in this version of `step`, is not what a run was begun with."""
    if rules != RULES:
        return Diverged(-1, f"rules {rules}", f"rules {RULES}")
    if fingerprint != program.fingerprint:
        return Diverged(-1, fingerprint, program.fingerprint)
    return None


def replay_from(
    program: Program, state: LoopState, entries: Iterable[JournalEntry], *, position: int = 0
) -> Outcome[LoopState, Diverged]:
    """Fold entries into a state that is known: that of a snapshot, taken before the first of them.

    `position` is what the first entry is counted as. Fails as `replay` does.
    """
    for place, entry in enumerate(entries, position):
        try:
            transition = step(program, state, entry.event)
        except IllegalEvent as error:
            return Failure(Diverged(place, "a legal event", str(error)))
        if transition.state is state:
            return Failure(Diverged(place, "an event that changes the state", "no change"))
        issued = command_ids(transition)
        if issued != entry.commands:
            return Failure(Diverged(place, _told(entry.commands), _told(issued)))
        state = transition.state
    return Success(state)


def _told(commands: Sequence[str]) -> str:
    return "commands " + (", ".join(commands) or "none")
