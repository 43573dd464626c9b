"""What is said to a run while it goes on: heard once and in order, whatever else happens."""

from attrs import evolve
from hypothesis import event, given
from hypothesis import strategies as st

from stepfold.loop import Program, is_step_count
from stepfold.testing import laws, simulate
from stepfold.testing.strategies import programs, prompts, schedules, worlds


@given(st.data(), programs(min_tools=1, hooks=15), st.integers(1, 6))
def test_words_are_heard_once_however_they_come(
    data: st.DataObject, drawn: Program, steps: int
) -> None:
    """Among answers in any order, crashes and ends; every prompt stays paired."""
    program = evolve(drawn, stop_when=is_step_count(steps))
    prompt = data.draw(prompts(tools=[*program.tools], histories_percent=25))
    world = data.draw(worlds(program=program, min_calls=0, hostile=10, cut=3, failing=5))
    talk = schedules(
        kinds=("steer", "steer", "queue", "queue", "crash", "cancel-after-step"),
        max_interventions=8,
        max_tick=5,
    )

    trace = simulate(program, prompt, world, data.draw(talk))

    laws.words_are_heard_once(trace)
    for state in trace.states:
        laws.request_is_paired(program, state)
    laws.run_is_replayable(program, trace.header, trace.entries, trace.end)
    notes = [note for transition in trace.transitions for note in transition.notes]
    event(f"heard: {sum(type(note).__name__ == 'SteeringDelivered' for note in notes)}")
