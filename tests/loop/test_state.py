"""A state is plain data: equal by value, hashable, and cheap to change."""

from attrs import evolve

from stepfold.loop import Slot
from stepfold.loop._ids import NO_IDS
from stepfold.loop._state import open_request
from stepfold.values import Usage
from tests.loop._scenario import call, guarded, program, started, tool


def test_states_are_equal_by_what_they_hold() -> None:
    """The ids of calls are derived from the history, so they are not compared."""
    run = started(program(tool()))
    run.reply(call())

    assert run.state == evolve(run.state, call_ids=NO_IDS)
    assert hash(run.state) == hash(evolve(run.state, call_ids=NO_IDS))
    assert run.state != evolve(run.state, now=run.state.now + 1)


def test_a_state_gives_what_users_ask_of_it() -> None:
    """Messages, steps and usage stand in their groups, and are at hand."""
    run = started(program())
    run.reply("Done.", usage=Usage(1, 2))

    assert run.state.transcript.messages is run.state.messages
    assert run.state.transcript.steps is run.state.steps
    assert Usage(1, 2) == run.state.usage


def test_a_state_is_shown_without_what_was_said() -> None:
    """A traceback is no place for a history; how long it is tells enough."""
    run = started(program())
    run.reply("A secret.")

    assert "<2 messages>" in repr(run.state)
    assert "<1 steps>" in repr(run.state)
    assert "A secret." not in repr(run.state.transcript)


def test_the_step_of_a_pause_is_that_of_its_attempt() -> None:
    """A pause belongs to the call that it precedes."""
    run = started(program())
    run.fail()

    assert getattr(run.state.phase, "step", None) == 0


def test_only_open_calls_ask_for_something() -> None:
    """What runs, is resolved or is done owes nothing to anybody outside."""
    assert open_request(0, Slot(0, call(), "running")) is None
    assert open_request(0, Slot(0, call(), "asked")) is None

    run = started(program(guarded()))
    run.reply(call("pay"))

    assert run.approval() == open_request(0, run.slot())
