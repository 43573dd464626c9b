"""Law 6: any order of answers ends in the same history, byte for byte."""

from hypothesis import assume, given
from hypothesis import strategies as st

from stepfold.loop import LoopState, Program
from stepfold.testing import Schedule, World, laws, simulate
from stepfold.testing.strategies import programs, prompts, schedules, worlds
from stepfold.values import Message


def run(
    program: Program, prompt: str | tuple[Message, ...], world: World, order: Schedule
) -> LoopState:
    return simulate(program, prompt, world, order).end


# Limits and open calls are what makes the order matter, so they are frequent here.
@given(st.data(), programs(min_tools=2, limited=40, hooks=15))
def test_any_order_of_answers_gives_the_same_run(data: st.DataObject, program: Program) -> None:
    prompt = data.draw(prompts(tools=[*program.tools], histories_percent=25))
    world = data.draw(worlds(program=program, min_calls=1, hostile=10, cut=3, failing=5))
    orders = [data.draw(schedules(kinds=())) for _ in range(2)]

    in_call_order = run(program, prompt, world, Schedule())

    for order in orders:
        other = run(program, prompt, world, order)
        laws.same_run(other, in_call_order)
        assert other == in_call_order  # even the times: here each answer has its own


@given(st.data(), programs(min_tools=2, limited=40, hooks=15))
def test_crashes_do_not_make_the_order_matter(data: st.DataObject, program: Program) -> None:
    world = data.draw(worlds(program=program, min_calls=1, hostile=10, cut=3, failing=5))
    order = data.draw(schedules(kinds=("crash",)))
    plain = Schedule(order.order)

    crashed, undisturbed = (simulate(program, "Hello", world, it) for it in (order, plain))

    lost = frozenset[str]().union(
        *(
            laws.interrupted_calls(crashed, moment.before)
            for moment in crashed.moments
            if type(moment.event).__name__ == "Resumed"
        )
    )
    assume(not lost)
    laws.same_run(crashed.end, undisturbed.end)
