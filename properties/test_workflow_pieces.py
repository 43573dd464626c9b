"""What a workflow sends to activities: the state that it has, in pieces that do not change."""

import json

from hypothesis import given
from hypothesis import strategies as st

from stepfold.durable import StreamedPart
from stepfold.durable._streamed import decode_streamed, encode_streamed
from stepfold.durable.temporal._execution import on_clock
from stepfold.durable.temporal._wire import Pieces, received, restored_state, sent
from stepfold.loop import Program
from stepfold.loop.events import Event, ModelReplied, ToolReturned
from stepfold.testing import Schedule, simulate
from stepfold.testing.strategies import programs, worlds
from stepfold.testing.strategies.values import run_events, stream_parts
from stepfold.values import StreamPart

INSTANTS = st.integers(min_value=0, max_value=2**62)


def through_the_engine(tree: object) -> object:
    """A document as the engine's converter writes and reads it: keys are sorted."""
    return json.loads(json.dumps(tree, sort_keys=True))


@given(st.data(), programs(min_tools=1, hooks=30), st.integers(min_value=1, max_value=4_000))
def test_pieces_are_the_state_and_closed_ones_stay(
    data: st.DataObject, program: Program, size: int
) -> None:
    """From wherever the history of the workflow began anew."""
    world = data.draw(worlds(program=program, max_turns=4))
    states = simulate(program, "Hello", world, Schedule((0, 1))).states
    renewed = data.draw(st.sets(st.integers(0, len(states) - 1), max_size=2))
    pieces = Pieces(size)
    before: list[bytes] = []
    for place, state in enumerate(states):
        found = [raw.payload.data for raw in pieces.of(state)]
        read = [json.loads(data) for data in found]

        assert restored_state(read) == state
        assert found[: len(before)] == before
        before = found[:-1]
        if place in renewed:
            pieces = Pieces(size, read[:-1])


@given(run_events())
def test_an_event_comes_through_the_engine_as_it_was(event: Event) -> None:
    assert received(through_the_engine(sent(event)), Event) == event


@given(run_events(), INSTANTS)
def test_what_lasted_lasts_as_long_by_another_clock(event: Event, now: int) -> None:
    moved = on_clock(event, now)

    assert moved.at == now
    assert on_clock(moved, event.at) == event
    if isinstance(event, ModelReplied | ToolReturned):
        assert isinstance(moved, ModelReplied | ToolReturned)
        assert moved.at - moved.started == event.at - event.started


@given(stream_parts(), st.text(), st.integers(min_value=1), st.integers(min_value=0))
def test_a_streamed_part_comes_back_as_it_was(
    part: StreamPart, command: str, attempt: int, index: int
) -> None:
    shown = StreamedPart(command, attempt, index, part)
    line = encode_streamed(shown).encode()

    assert b"\n" not in line
    assert decode_streamed(line) == shown
