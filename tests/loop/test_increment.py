"""A run is put together again from the increments of its states."""

import pytest
from attrs import evolve

from stepfold.loop import Increment, begin, increment_of, restored
from stepfold.values import AssistantMessage, Text, UsageError, UserMessage
from tests.loop._scenario import program, tool

STATE = begin(program(tool()), (UserMessage("Hello"),), run="r", seed=7, at=0).state


def test_the_first_increment_is_the_whole_state() -> None:
    assert increment_of(None, STATE) == Increment(STATE)
    assert restored([increment_of(None, STATE)]) == STATE


def test_an_increment_holds_what_is_new_and_a_prompt_that_was_replaced_once() -> None:
    base = (UserMessage("Instead"),)
    replaced = evolve(STATE, transcript=evolve(STATE.transcript, base=base))
    said = AssistantMessage((Text("Hi"),))
    later = evolve(replaced, transcript=replaced.transcript.with_late((said,)))

    second, third = increment_of(STATE, replaced), increment_of(replaced, later)

    assert (second.messages, second.keeps_base, second.state.transcript.base) == (1, False, base)
    assert (third.messages, third.keeps_base, third.state.transcript.base) == (1, True, None)
    assert third.state.messages == (said,)
    assert restored([increment_of(None, STATE), second, third]) == later


def test_an_increment_takes_the_place_of_what_it_does_not_build_on() -> None:
    """A snapshot may be taken again from an older one; what was kept in between counts no more."""
    one, other = (
        evolve(STATE, transcript=STATE.transcript.with_late((UserMessage(text),)))
        for text in ("One.", "Other.")
    )
    kept = [increment_of(None, STATE), increment_of(STATE, one), increment_of(STATE, other)]

    assert restored(kept) == other


@pytest.mark.parametrize("given", [(), (increment_of(STATE, STATE),)])
def test_what_was_before_has_to_be_there(given: tuple[Increment, ...]) -> None:
    with pytest.raises(UsageError, match="from the first on"):
        restored(given)
