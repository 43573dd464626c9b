"""Law 2 in stores: whatever is stored of a run, the state that was reached is found again."""

import anyio
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from stepfold.durable import MemoryStore, RunJournal, replayed
from stepfold.durable._recording import decoded, recovered
from stepfold.loop import Program
from stepfold.ports import StoredJournal
from stepfold.testing import Schedule, Trace, simulate
from stepfold.testing.strategies import programs, worlds


async def _stored(trace: Trace) -> StoredJournal:
    """Write a run down as a driver does."""
    store = MemoryStore()
    journal = RunJournal(store)
    await journal.begin(trace.header)
    for entry, transition in zip(trace.entries, trace.transitions[1:], strict=True):
        await journal.advance(entry, transition)
    return (await store.read(trace.header.run)).unwrap()


@given(st.data(), programs(min_tools=1, hooks=30), st.lists(st.integers(0, 3), min_size=1))
def test_the_state_is_found_again_from_every_record_on(
    data: st.DataObject, program: Program, order: list[int]
) -> None:
    """By the last snapshot before it and what came since, or by all that was decided."""
    world = data.draw(worlds(program=program, max_turns=3, hostile=10))
    trace = simulate(program, "Hello", world, Schedule(tuple(order)))
    stored = anyio.run(_stored, trace)

    assert len(stored.records) == len(trace.states)
    for number, state in enumerate(trace.states, start=1):
        cut = evolve(stored, records=stored.records[:number])
        found = recovered(program, cut).unwrap()

        assert (found.state, found.version) == (state, number)
    assert replayed(program, decoded(stored).unwrap()).unwrap() == trace.end


@given(st.data(), programs(min_tools=1))
def test_a_journal_grows_with_its_run_and_not_with_its_square(
    data: st.DataObject, program: Program
) -> None:
    """No record holds more of the history than what is new in it."""
    world = data.draw(worlds(program=program, max_turns=4))
    trace = simulate(program, "Hello", world, Schedule((0,)))
    recording = decoded(anyio.run(_stored, trace)).unwrap()
    increments = [it.increment for it in recording.records if it.increment is not None]
    kept = [message for it in increments for message in it.state.transcript.messages]

    assert tuple(kept) == (recording.snapshot.messages if recording.snapshot else ())
