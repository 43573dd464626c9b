"""Whole runs, and the states and events that runs reach."""

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from stepfold.loop import LoopState, Program, Progress
from stepfold.testing._simulation import Schedule, Trace, simulate
from stepfold.testing._world import Turn
from stepfold.testing.laws import progress_of
from stepfold.testing.strategies._histories import prompts
from stepfold.testing.strategies._programs import TOOL_NAMES, flags, prices, programs
from stepfold.testing.strategies._worlds import schedules, turns, worlds
from stepfold.values import Performance, Price, StepResult, ToolError, Usage


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
        program = draw(programs(min_tools=draw(st.sampled_from([2, 2, 1, 0]))))
    prompt = draw(prompts(tools=[*program.tools], histories_percent=histories_percent))
    world = draw(worlds(program=program, min_calls=draw(st.sampled_from([1, 2, 1, 0]))))
    order = draw(schedules() if schedule is None else schedule)
    return simulate(program, prompt, world, order)


@st.composite
def progresses(draw: DrawFn, *, min_steps: int = 1, max_steps: int = 8) -> Progress:
    """Draw how far runs have come, counted as the loop counts: calls of known tools alone."""
    one_step = st.builds(
        _step,
        turns(tools=TOOL_NAMES, strangers=0, failing=0),
        prices(),
        fails=flags(percent=20),
    )
    drawn = draw(st.lists(one_step, min_size=min_steps, max_size=max_steps))
    steps = tuple(evolve(step, step=index) for index, step in enumerate(drawn))
    return progress_of(Progress(steps, Usage(), 0, 0), len(steps))


def _step(turn: Turn, price: Price, *, fails: bool) -> StepResult:
    reply = turn.reply
    errors = (ToolError("c", "look", "it broke"),) if fails else ()
    return StepResult(
        0,
        "scripted/a",
        (*reply.content, *errors),
        reply.finish_reason,
        reply.usage,
        Performance(response_time=1, step_time=2),
        cost=price.cost_of(reply.usage),
    )


def reached_states(*, program: Program | None = None) -> SearchStrategy[LoopState]:
    """Draw states that a run can come to, from the first one to its end."""
    return traces(program=program).flatmap(lambda trace: st.sampled_from(trace.states))
