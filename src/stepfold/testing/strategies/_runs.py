"""Whole runs, and the states and events that runs reach."""

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from stepfold.loop import LoopState, Program
from stepfold.testing._simulation import Schedule, Trace, simulate
from stepfold.testing.strategies._histories import prompts
from stepfold.testing.strategies._programs import programs
from stepfold.testing.strategies._worlds import schedules, worlds


@st.composite
def traces(
    draw: DrawFn,
    *,
    program: Program | None = None,
    schedule: SearchStrategy[Schedule] | None = None,
    histories_percent: int = 20,
) -> Trace:
    """Draw runs of a program (of any drawn one, if none is given) in drawn worlds."""
    if program is None:
        program = draw(programs())
    prompt = draw(prompts(tools=[*program.tools], histories_percent=histories_percent))
    world = draw(worlds(program=program))
    order = draw(schedules() if schedule is None else schedule)
    return simulate(program, prompt, world, order)


def reached_states(*, program: Program | None = None) -> SearchStrategy[LoopState]:
    """Draw states that a run can come to, from the first one to its end."""
    return traces(program=program).flatmap(lambda trace: st.sampled_from(trace.states))
