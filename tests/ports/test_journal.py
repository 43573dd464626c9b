"""What journals are told, and what their faults say."""

import pickle

import pytest

from stepfold.loop import JournalEntry, JournalHeader, Transition, begin
from stepfold.loop.events import Cancelled
from stepfold.ports import (
    JournalConflict,
    JournalDamaged,
    JournalError,
    JournalFault,
    JournalMissing,
    JournalUnavailable,
    LeaseHeld,
    write_down,
)
from stepfold.values import UserMessage
from tests.loop._scenario import program, tool

ENTRY = JournalEntry(Cancelled("enough", 1))
TRANSITION: Transition = begin(program(tool()), (UserMessage("Hi"),), run="r", seed=7, at=0)


class _Plain:
    """A journal that keeps entries alone."""

    def __init__(self) -> None:
        self.kept: list[object] = []

    async def begin(self, header: JournalHeader, /) -> None:
        self.kept.append(header)

    async def append(self, entry: JournalEntry, /) -> None:
        self.kept.append(entry)


class _Whole(_Plain):
    """A journal that wants to know what an event led to."""

    async def advance(self, entry: JournalEntry, transition: Transition, /) -> None:
        self.kept.append((entry, transition))


async def test_a_journal_is_told_what_an_event_led_to_if_it_wants_to_know() -> None:
    plain, whole = _Plain(), _Whole()
    for journal in (plain, whole):
        await write_down(journal, ENTRY, TRANSITION)

    assert plain.kept == [ENTRY]
    assert whole.kept == [(ENTRY, TRANSITION)]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (JournalMissing("r"), "no run 'r'"),
        (JournalConflict("r", 0, 3), "'r' exists already, with 3 records"),
        (JournalConflict("r", 2, 3), "expected it at version 2, found it at 3"),
        (LeaseHeld("r", "Ann", 9), "worked on by 'Ann'"),
        (JournalDamaged("r", "line 3"), "'r' is damaged: line 3"),
        (JournalUnavailable("r", "no space"), "cannot be reached: no space"),
    ],
)
def test_faults_say_which_run_and_what(fault: JournalFault, said: str) -> None:
    error = JournalError(fault)
    back = pickle.loads(pickle.dumps(error))

    assert said in str(error)
    assert (str(back), back.fault) == (str(error), fault)
