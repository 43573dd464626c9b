"""Whole runs, and the states and events that runs reach."""

from collections.abc import Sequence

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
from stepfold.values import (
    Performance,
    Price,
    StepResult,
    TextOutput,
    ToolCall,
    ToolError,
    ToolResult,
    Usage,
)


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
def progresses(
    draw: DrawFn,
    *,
    min_steps: int = 1,
    max_steps: int = 8,
    tools: Sequence[str] = TOOL_NAMES,
) -> Progress:
    """Draw how far runs have come, counted as the loop counts: calls of known tools alone.

    Steps may repeat, as those of a model do that does not get on.
    """
    one_step = st.builds(
        _step,
        turns(tools=tools, strangers=0, failing=0),
        prices(),
        fails=flags(percent=20),
        reports=flags(percent=80),
    )
    few = draw(st.lists(one_step, min_size=1, max_size=max(1, max_steps // 2)))
    drawn = draw(st.lists(st.sampled_from(few), min_size=min_steps, max_size=max_steps))
    steps = tuple(evolve(step, step=index) for index, step in enumerate(drawn))
    now = sum(step.performance.step_time for step in steps)
    return progress_of(Progress(steps, Usage(), now, 0), len(steps))


def _step(turn: Turn, price: Price, *, fails: bool, reports: bool) -> StepResult:
    reply = turn.reply
    usage = reply.usage if reports else Usage()
    errors = (ToolError("c", "look", "it broke"),) if fails else ()
    results = tuple(
        ToolResult(call.tool_call_id, call.tool_name, TextOutput("done"))
        for call in reply.content
        if isinstance(call, ToolCall) and not call.provider_executed
    )
    return StepResult(
        0,
        "scripted/a",
        (*reply.content, *results, *errors),
        reply.finish_reason,
        usage,
        Performance(response_time=1, step_time=2),
        cost=price.cost_of(usage),
    )


def reached_states(*, program: Program | None = None) -> SearchStrategy[LoopState]:
    """Draw states that a run can come to, from the first one to its end."""
    return traces(program=program).flatmap(lambda trace: st.sampled_from(trace.states))
