"""Law 14: a run that is taken up after a crash, at any state, ends as the undisturbed one."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from stepfold.codec import decode, encode
from stepfold.loop import TEXT_OUTPUT, Done, LoopState, Program, step
from stepfold.loop.events import Resumed
from stepfold.testing import Schedule, carry_on, laws, simulate
from stepfold.testing.strategies import counting_conditions, programs, worlds


@given(st.data(), programs(min_tools=1, limited=15, hooks=15))
def test_a_run_is_taken_up_at_every_state(data: st.DataObject, drawn: Program) -> None:
    """Nothing that ends the run looks at results, which are what a crash may change."""
    program = evolve(
        drawn,
        stop_when=data.draw(counting_conditions(tools=[*drawn.tools])),
        tools={name: evolve(tool, max_retries=None) for name, tool in drawn.tools.items()},
        output=drawn.output if drawn.output.result_of is None else TEXT_OUTPUT,
    )
    world = data.draw(worlds(program=program, max_turns=3, hostile=10))
    undisturbed = simulate(program, "Hello", world, Schedule((0, 1)))

    for state in undisturbed.states:
        if isinstance(state.phase, Done):
            continue
        stored = decode(encode(state), LoopState).unwrap()
        lost = laws.interrupted_calls(undisturbed, stored)
        resumed = step(program, stored, Resumed(stored.identity.resumed + 1, stored.now))
        laws.nothing_runs_twice(program, state, resumed)
        rest = carry_on(undisturbed, resumed.state)
        laws.tools_start_at_most_once(rest)
        laws.resumed_run_is_the_same(undisturbed.end, rest.end, lost)


@given(st.data(), programs(min_tools=1))
def test_a_crash_at_any_moment_keeps_every_law(data: st.DataObject, program: Program) -> None:
    world = data.draw(worlds(program=program, min_calls=1, hostile=5, cut=0))
    undisturbed = simulate(program, "Hello", world)
    before = data.draw(st.sampled_from(undisturbed.states))
    if isinstance(before.phase, Done):
        return
    resumed = step(program, before, Resumed(1, before.now))

    laws.pending_is_in_flight(resumed.commands, resumed.state)
    laws.history_only_grows(before, resumed.state)
    laws.tools_run_only_if_permitted(program, resumed)
    laws.budgets_hold(program, resumed.state)
    laws.stale_changes_nothing(program, resumed.state, Resumed(1, before.now))
