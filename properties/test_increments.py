"""Snapshots by increments: together they are the state, and each costs what happened since."""

from hypothesis import given
from hypothesis import strategies as st

from stepfold.codec import decode, encode
from stepfold.durable._records import (
    BaseRecord,
    EntryRecord,
    HeaderRecord,
    Record,
    decode_record,
    encode_record,
)
from stepfold.loop import Increment, JournalEntry, LoopState, Program, increment_of, restored
from stepfold.testing import Schedule, simulate
from stepfold.testing.strategies import programs, worlds
from stepfold.testing.strategies.values import (
    journal_entries,
    journal_headers,
    states,
)


@given(st.data(), programs(min_tools=1, hooks=30))
def test_increments_put_together_are_the_state(data: st.DataObject, program: Program) -> None:
    """At whichever states of a run they are taken, stored and read again."""
    world = data.draw(worlds(program=program, max_turns=4))
    trace = simulate(program, "Hello", world, Schedule((0, 1)))
    places = data.draw(st.sets(st.integers(0, len(trace.states) - 1), min_size=1))
    older: LoopState | None = None
    increments: list[Increment] = []
    for state in (trace.states[place] for place in sorted(places)):
        increment = increment_of(older, state)
        cut = decode(encode(increment.state), LoopState).unwrap()
        increments.append(Increment(cut, increment.messages, increment.steps, increment.keeps_base))
        older = state

        found = restored(increments)

        assert found == state
        assert all(
            (call.tool_call_id in found.call_ids)
            for step in state.steps
            for call in step.tool_calls
        )


def _records() -> st.SearchStrategy[Record]:
    increments = st.builds(Increment, states(), st.integers(0, 9), st.integers(0, 9), st.booleans())
    return st.one_of(
        st.builds(HeaderRecord, journal_headers(), st.booleans()),
        st.builds(EntryRecord, journal_entries(), st.just(()), st.none() | increments),
        st.builds(BaseRecord, increments),
    )


@given(_records(), st.integers(1, 400))
def test_records_come_back_as_they_were(record: Record, big: int) -> None:
    """However small the texts are that are stored apart; a line is one line."""
    line, payloads = encode_record(record, big=big)

    assert b"\n" not in line
    assert decode_record(line, payloads).unwrap() == record
    assert encode_record(decode_record(line, payloads).unwrap(), big=big) == (line, payloads)


@given(journal_entries(), st.integers(1, 20))
def test_a_missing_payload_is_a_failure(entry: JournalEntry, big: int) -> None:
    line, payloads = encode_record(EntryRecord(entry), big=big)
    outcome = decode_record(line, {})

    assert bool(payloads) == (type(outcome).__name__ == "Failure")
