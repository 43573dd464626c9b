"""Lines of a journal that are not as they were written are told with the place."""

import json

import pytest

from stepfold.codec import CURRENT_VERSION
from stepfold.durable._records import (
    EntryRecord,
    HeaderRecord,
    Record,
    decode_increment,
    decode_record,
    encode_record,
    kept_notes,
)
from stepfold.loop import JournalEntry, JournalHeader, begin, increment_of
from stepfold.loop.events import Cancelled
from stepfold.loop.notes import RunEnded, StepStarted
from stepfold.values import Completed, Failure, JsonText, UserMessage
from tests.loop._scenario import program, tool

STATE = begin(program(tool()), (UserMessage("x" * 5_000),), run="r", seed=7, at=0).state
ENTRY = EntryRecord(
    JournalEntry(Cancelled("enough", 1)), (StepStarted(0, "m"),), increment_of(None, STATE)
)
SMALL = EntryRecord(
    JournalEntry(Cancelled("enough", 1)),
    (StepStarted(0, "m"),),
    increment_of(STATE, STATE),
)
HEADER = HeaderRecord(JournalHeader("r", 7, 0, (UserMessage("Hi"),), "0"))


@pytest.mark.parametrize("record", [ENTRY, HEADER])
def test_a_record_is_a_line_of_json(record: Record) -> None:
    line, payloads = encode_record(record)

    assert json.loads(line)["v"] == CURRENT_VERSION
    assert decode_record(line, payloads).unwrap() == record


def test_a_text_is_kept_once_however_often_it_is_there() -> None:
    line, payloads = encode_record(ENTRY)
    salted, other = encode_record(ENTRY, salt="s")

    assert [*payloads.values()] == [*other.values()] == [b"x" * 5_000]
    assert payloads.keys().isdisjoint(other)
    assert len(line) < 2_000
    assert decode_increment(salted, other).unwrap() == ENTRY.increment


def _changed(record: Record, **changes: object) -> bytes:
    line, _ = encode_record(record)
    tree = json.loads(line)
    for path, value in changes.items():
        place = tree
        *parents, last = path.split("__")
        for parent in parents:
            place = place[parent]
        place[last] = value
    return json.dumps(tree).encode()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "expected a line of JSON"),
        (b"[" * 100_000, "expected a line of JSON"),
        (b"[]", "expected an object, got list"),
        (b"{}", "/v: expected a version, got None"),
        (_changed(HEADER, v="1"), "/v: expected a version"),
        (_changed(HEADER, v=99), "upgrade it"),
        (_changed(HEADER, type="other"), "/type: expected header, entry or base, got 'other'"),
        (_changed(HEADER, header=3), "/header"),
        (_changed(HEADER, header__seed="x"), "/header/seed"),
        (_changed(SMALL, notes=3), "/notes: expected an array"),
        (_changed(SMALL, notes=[{"type": "none"}]), "/notes/0"),
        (_changed(SMALL, increment=3), "/increment: expected an object, got int"),
        (_changed(SMALL, increment__steps="x"), "/increment: expected the integers"),
        (_changed(SMALL, increment__state=None), "/increment/state"),
        (_changed(ENTRY), "the payload"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(line: bytes, said: str) -> None:
    outcome = decode_record(line, {})

    assert isinstance(outcome, Failure)
    assert said in str(outcome.failure())


def test_an_increment_is_read_alone() -> None:
    header, _ = encode_record(HEADER)
    line, _ = encode_record(ENTRY)
    text = EntryRecord(JournalEntry(Cancelled('"increment":', 1)))

    assert decode_increment(header, {}).unwrap() is None
    assert decode_increment(encode_record(text)[0], {}).unwrap() is None
    assert isinstance(decode_increment(line, {}), Failure)


def test_notes_that_say_nothing_new_are_left_out() -> None:
    ended = RunEnded(Completed(JsonText('"Done."')))

    assert kept_notes((StepStarted(0, "m"), ended)) == (StepStarted(0, "m"), ended)
