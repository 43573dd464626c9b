"""Law 9: no limit is exceeded, in any order, by failed attempts, retries, wrap-ups or crashes."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from stepfold.loop import Done, Limits, Program, RetryPolicy, granted_to, never
from stepfold.loop.commands import CallModel
from stepfold.testing import Trace, laws, simulate
from stepfold.testing.strategies import limits, prices, programs, schedules, worlds
from stepfold.values import Stopped

TIGHT = limits(tools=("look", "wipe"), percent=60, most=4, most_tokens=120, priced=True)
IMPATIENT = RetryPolicy(max_retries=3, initial_delay=0)


def limits_are_kept(trace: Trace) -> None:
    for state in trace.states:
        laws.budgets_hold(trace.program, state)
    laws.tool_calls_keep_their_limits(trace)
    laws.tokens_keep_their_limit(trace)
    laws.cost_keeps_its_limit(trace)
    for transition in trace.transitions:
        laws.grants_keep_the_limits(trace.program, transition)


@given(st.data(), programs(min_tools=2, hooks=10, asking=30, priced=100, granting=50), TIGHT)
def test_no_limit_is_exceeded(data: st.DataObject, drawn: Program, tight: Limits) -> None:
    program = evolve(drawn, limits=tight, stop_when=never, retry=IMPATIENT)
    world = data.draw(worlds(program=program, min_calls=1, failing=50, hostile=5, cut=3))
    schedule = data.draw(schedules(kinds=("crash", "crash", "cancel", "steer")))

    limits_are_kept(simulate(program, "Hello", world, schedule))


@given(st.data(), programs(min_tools=2, hooks=10, asking=30, priced=50, granting=50), TIGHT)
def test_no_run_exceeds_what_it_was_granted(
    data: st.DataObject, drawn: Program, tight: Limits
) -> None:
    """Neither its limits nor its prices are those of the program; the journal tells them."""
    program = evolve(drawn, limits=Limits(), stop_when=never, retry=IMPATIENT)
    world = data.draw(worlds(program=program, min_calls=1, failing=50, hostile=5, cut=3))
    schedule = data.draw(schedules(kinds=("crash", "crash", "cancel", "steer")))
    known = {model: data.draw(prices()) for model in program.every_model}
    granted = granted_to(program, tight, known)

    trace = simulate(program, "Hello", world, schedule, granted=granted)

    limits_are_kept(trace)
    laws.run_is_replayable(program, trace.header, trace.entries, trace.end)


@given(st.data(), programs(min_tools=2, hooks=0, asking=0), st.integers(0, 120))
def test_no_call_is_made_once_the_tokens_are_spent(
    data: st.DataObject, drawn: Program, most: int
) -> None:
    """A failed attempt that reports nothing counts as what was reserved for it."""
    program = evolve(
        drawn, limits=Limits(tokens=most), stop_when=never, retry=IMPATIENT, tool_choice="auto"
    )
    world = data.draw(worlds(program=program, min_calls=1, min_turns=2, failing=80, cut=0))

    trace = simulate(program, "Hello", world)

    limits_are_kept(trace)
    for transition in trace.transitions:
        calls = [one for one in transition.commands if isinstance(one, CallModel)]
        assert not calls or transition.state.ledger.spent < most


@given(st.data(), programs(min_tools=1, hooks=0), st.integers(1, 4), st.integers(0, 30))
def test_a_wrap_up_stays_within_the_hard_limits(
    data: st.DataObject, drawn: Program, steps: int, kept: int
) -> None:
    program = evolve(drawn, limits=Limits(steps=steps, wrap_up_tokens=kept), stop_when=never)
    world = data.draw(worlds(program=program, min_turns=4, min_calls=1, failing=0, cut=0))

    trace = simulate(program, "Hello", world)

    limits_are_kept(trace)
    assert len(trace.end.steps) <= steps
    phase = trace.end.phase
    if isinstance(phase, Done) and isinstance(phase.end, Stopped):
        assert phase.end.stop.name
