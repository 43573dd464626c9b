"""Law 10: stop conditions are pure, name their reasons, and form a Boolean algebra."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from stepfold.loop import Condition, Done, Program, Progress, StopCondition, stalled
from stepfold.testing import laws, simulate
from stepfold.testing.strategies import (
    broken_conditions,
    counting_conditions,
    programs,
    progresses,
    stop_conditions,
    worlds,
)
from stepfold.values import Failed, HookFailed


@given(stop_conditions(), progresses())
def test_conditions_are_pure(condition: Condition, progress: Progress) -> None:
    laws.condition_is_pure(condition, progress)


@given(stop_conditions(), stop_conditions(), stop_conditions(), progresses())
def test_conditions_form_a_boolean_algebra(
    first: Condition, second: Condition, third: Condition, progress: Progress
) -> None:
    laws.conditions_form_an_algebra(first, second, third, progress)


@given(counting_conditions(), progresses())
def test_the_counting_conditions_are_monotone(condition: Condition, progress: Progress) -> None:
    laws.condition_is_monotone(condition, progress)


@given(counting_conditions(), counting_conditions(), progresses())
def test_composition_keeps_them_monotone(
    first: Condition, second: Condition, progress: Progress
) -> None:
    laws.condition_is_monotone(first | second, progress)
    laws.condition_is_monotone(first & second, progress)


@given(st.integers(2, 4), st.integers(1, 5), progresses())
def test_a_run_that_repeats_itself_stalls(times: int, again: int, progress: Progress) -> None:
    """Whatever it did before; a step without calls is no repetition."""
    last = progress.last
    repeated = evolve(progress, steps=(*progress.steps, *(last for _ in range(again))))
    acts = bool(last.tool_calls)
    answered = {part.tool_call_id for part in last.tool_results}
    answered |= {part.tool_call_id for part in last.tool_errors}
    is_done = acts and all(call.tool_call_id in answered for call in last.tool_calls)

    stop = stalled(times)(repeated)

    if again + 1 >= times:
        assert (stop is not None) == is_done
    assert stop is None or is_done


@given(st.data(), programs(min_tools=1, limited=0), broken_conditions())
def test_a_condition_that_fails_ends_the_run_and_says_so(
    data: st.DataObject, drawn: Program, broken: StopCondition
) -> None:
    program = evolve(drawn, stop_when=broken)
    trace = simulate(program, "Hello", data.draw(worlds(program=program, min_calls=1, cut=0)))

    laws.every_law_holds(trace)
    phase = trace.end.phase
    if isinstance(phase, Done) and len(trace.end.steps) > 1:
        msg = "a run went on although its stop condition cannot be asked"
        raise AssertionError(msg)
    if isinstance(phase, Done) and isinstance(phase.end, Failed):
        error = phase.end.error
        assert not isinstance(error, HookFailed) or error.exception
