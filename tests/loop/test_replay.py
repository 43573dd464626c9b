"""A journal gives the state that was reached, or the first place where it does not."""

from typing import TypeAlias

from attrs import evolve

from stepfold.loop import (
    RULES,
    Diverged,
    JournalEntry,
    JournalHeader,
    LoopState,
    Program,
    begin,
    command_ids,
    is_step_count,
    replay,
    replay_from,
    step,
    unlike,
)
from stepfold.loop.commands import CallKey, ModelCallKey
from stepfold.loop.events import Event, ModelReplied, ToolReturned
from stepfold.values import (
    Failure,
    JsonText,
    Success,
    UserMessage,
)
from tests.loop._scenario import call, guarded, program, reply_of, started, succeeded, tool

Journal: TypeAlias = tuple[JournalHeader, tuple[JournalEntry, ...]]

PROMPT = (UserMessage("Is it warm?"),)


def replied(number: int, *content: str) -> ModelReplied:
    """Let the model answer: with a call, or with text."""
    reply = reply_of(*(content or (call(id=f"c{number}"),)))
    return ModelReplied(ModelCallKey(number, 0), reply, 10, started=5)


def returned(number: int) -> ToolReturned:
    """Let the tool return."""
    return ToolReturned(CallKey(number, 0, 0), succeeded(), 20, started=15)


EVENTS: tuple[Event, ...] = (replied(0), returned(0), replied(1), returned(1), replied(2, "Done."))


def recorded(of: Program, events: tuple[Event, ...] = EVENTS) -> tuple[Journal, LoopState]:
    """Run a program, and keep a journal as the shell would."""
    transition = begin(of, PROMPT, run="r", seed=7, at=0)
    header = JournalHeader("r", 7, 0, PROMPT, of.fingerprint, commands=command_ids(transition))
    entries: list[JournalEntry] = []
    for event in events:
        transition = step(of, transition.state, event)
        entries.append(JournalEntry(event, command_ids(transition)))
    return (header, tuple(entries)), transition.state


LOOK = program(tool())


def test_a_journal_gives_the_state_that_was_reached() -> None:
    """Folding it is all it takes (law 2)."""
    (header, entries), state = recorded(LOOK)
    outcome = replay(LOOK, header, entries)

    assert Success(state) == outcome


def test_a_replayed_run_has_the_context_that_it_was_begun_with() -> None:
    """Tools and policies see it."""
    (header, _), _ = recorded(LOOK)
    context = JsonText('{"user":"Ann"}')
    state = replay(LOOK, evolve(header, runtime_context=context), ()).unwrap()

    assert state.transcript.runtime_context == context


def test_a_header_may_leave_its_commands_out() -> None:
    """Then only the events are compared."""
    (header, entries), state = recorded(LOOK)

    assert Success(state) == replay(LOOK, evolve(header, commands=()), entries)


def test_a_journal_of_other_rules_is_refused() -> None:
    """`step` decides differently now than it did."""
    (header, entries), _ = recorded(LOOK)
    outcome = replay(LOOK, evolve(header, rules=RULES + 1), entries)

    assert Failure(Diverged(-1, f"rules {RULES + 1}", f"rules {RULES}")) == outcome


def test_a_journal_of_another_program_is_refused_unless_it_is_allowed() -> None:
    """A program may change in what does not matter to this run."""
    (header, entries), _ = recorded(LOOK)
    other = program(tool(), version="2")

    assert Failure(Diverged(-1, LOOK.fingerprint, other.fingerprint)) == replay(
        other, header, entries
    )
    assert isinstance(replay(other, header, entries, allow_other_fingerprint=True), Success)


def test_another_beginning_is_a_divergence() -> None:
    """The first commands are compared too."""
    (header, entries), _ = recorded(LOOK)
    outcome = replay(program(tool(), prepares=True), header, entries, allow_other_fingerprint=True)

    assert Failure(Diverged(-1, "commands CallModel/0/0", "commands PrepareStep/0")) == outcome


def test_an_event_that_changes_nothing_is_a_divergence() -> None:
    """A stop that came sooner would swallow the rest of the journal in silence (law 2)."""
    (header, entries), _ = recorded(LOOK)
    sooner = program(tool(), stop_when=is_step_count(1))
    outcome = replay(sooner, header, entries, allow_other_fingerprint=True)

    assert Failure(Diverged(1, "commands CallModel/1/0", "commands none")) == outcome

    without = tuple(evolve(entry, commands=()) for entry in entries[1:])
    outcome = replay(sooner, header, (entries[0], *without), allow_other_fingerprint=True)

    assert Failure(Diverged(2, "an event that changes the state", "no change")) == outcome


def test_an_illegal_event_is_a_divergence() -> None:
    """The journal answers what this program never asked."""
    (header, entries), _ = recorded(LOOK)
    outcome = replay(LOOK, header, (entries[0], entries[2]))

    assert (
        Failure(
            Diverged(
                1,
                "a legal event",
                "attempt 0 of the model call of step 1 was never issued: the run 'r' is in Working",
            )
        )
        == outcome
    )


def test_other_commands_are_a_divergence() -> None:
    """The program asks for an approval now."""
    (header, entries), _ = recorded(LOOK)
    outcome = replay(program(guarded("look")), header, entries, allow_other_fingerprint=True)

    assert Failure(Diverged(0, "commands RunTool/0/0/0", "commands none")) == outcome


def test_the_ids_of_commands_are_those_of_their_keys() -> None:
    """Short, unique within a run, and equal on every replay."""
    run = started(program(tool()))

    assert command_ids(run.transition) == ("CallModel/0/0",)
    assert command_ids(run.reply(call())) == ("RunTool/0/0/0",)


def test_a_journal_is_folded_from_any_state_of_it() -> None:
    (header, entries), reached = recorded(LOOK)
    half = replay(LOOK, header, entries[:2]).unwrap()

    assert Success(reached) == replay_from(LOOK, half, entries[2:], position=2)
    outcome = replay_from(LOOK, half, entries[1:], position=1)
    assert isinstance(outcome, Failure)
    assert outcome.failure().position == 1


def test_a_program_says_in_what_it_is_not_that_of_a_journal() -> None:
    (header, _), _ = recorded(LOOK)
    other = unlike(LOOK, "0", header.rules)

    assert unlike(LOOK, header.fingerprint, header.rules) is None
    assert unlike(LOOK, header.fingerprint, RULES + 1) == Diverged(
        -1, f"rules {RULES + 1}", f"rules {RULES}"
    )
    assert other == Diverged(-1, "0", LOOK.fingerprint)
