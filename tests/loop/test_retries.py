"""How often in a row a tool's errors are told to the model before the run stops."""

import pytest

from stepfold.loop import Calling, Limits, Program, Resting
from stepfold.loop.events import ToolFailed
from stepfold.values import Completed, JsonText, Stop, Stopped, ToolErrorKind
from tests.loop._scenario import Run, call, calls, guarded, policed, program, started, tool


def patient(most: int = 1) -> Program:
    return program(tool(max_retries=most), tool("other"))


def stopped_by(run: Run, reached: int, limit: int) -> bool:
    evidence = JsonText(f'{{"tool":"look","reached":{reached},"limit":{limit}}}')
    return run.end == Stopped(Stop("limit-retries", evidence))


def test_a_tool_that_fails_once_more_than_it_may_stops_the_run() -> None:
    """The answers are in the history; the model is not asked again."""
    run = started(patient(most=1))
    run.reply(call(text='{"bad":1}'))
    assert run.state.toolbox.errors == (("look", 1),)
    run.reply(call())
    run.break_down()

    assert stopped_by(run, 2, 1)
    assert len(run.answers) == 2


def test_a_result_sets_the_count_back() -> None:
    run = started(patient(most=1))
    for _ in range(3):
        run.reply(call(text='{"bad":1}'))
        run.reply(call())
        run.finish()

    assert isinstance(run.state.phase, Calling)
    assert run.state.toolbox.errors == ()


def test_calls_of_one_step_count_in_call_order() -> None:
    """Not in the order in which they end."""
    run = started(patient(most=1))
    run.reply(*calls("look", "look", "look"))
    run.break_down(1)
    run.break_down(2)
    run.finish(0)

    assert stopped_by(run, 2, 1)


def test_what_was_not_run_does_not_count() -> None:
    """Nor does it set the count back."""
    limited = program(guarded("look", max_retries=1), limits=Limits(calls_of={"look": 1}))
    run = started(limited)
    run.reply(call(text='{"bad":1}'))
    run.reply(call())
    run.answer(approved=False)
    run.reply(call())
    run.answer()
    run.break_down(0)

    assert stopped_by(run, 2, 1)


def test_other_tools_and_unknown_ones_have_no_budget() -> None:
    run = started(patient(most=0))
    for _ in range(3):
        run.reply(call("other", '{"bad":1}'), call("nothing", id="c2"))

    assert isinstance(run.state.phase, Calling)


@pytest.mark.parametrize(
    ("kind", "counts"),
    [("failed", True), ("timeout", True), ("invalid", True), ("interrupted", False)],
)
def test_errors_that_the_model_could_mend_count(kind: ToolErrorKind, counts: bool) -> None:
    run = started(patient(most=0))
    run.reply(call())
    run.finish(0, ToolFailed("no", kind))

    assert isinstance(run.state.phase, Calling) is not counts


def test_a_tool_without_a_budget_hides_no_error_of_another() -> None:
    run = started(patient(most=0))
    run.reply(call("other", '{"bad":1}'), call("look", '{"bad":1}', id="c2"))

    assert stopped_by(run, 1, 0)


def test_a_call_that_is_answered_late_counts_when_it_is() -> None:
    run = started(program(policed("look", max_retries=0)))
    run.reply(call())
    run.decide("user-approval")
    assert isinstance(run.state.phase, Resting)
    run.answer()
    run.break_down()

    assert stopped_by(run, 1, 0)


def test_the_limit_leaves_room_for_a_last_answer() -> None:
    run = started(program(tool(max_retries=0), limits=Limits(wrap_up_tokens=0)))
    run.reply(call(text='{"bad":1}'))
    wrap = run.phase(Calling).wrap
    assert wrap is not None
    assert wrap.name == "limit-retries"
    run.reply("I could not.")

    assert stopped_by(run, 1, 0)


def test_a_final_answer_is_no_retry() -> None:
    run = started(patient(most=1))
    run.reply(call(text='{"bad":1}'))
    run.reply("I give up.")

    assert run.end == Completed(JsonText.of("I give up."))


def test_a_tool_that_the_program_has_lost_has_no_limit() -> None:
    """A run that is taken up by another program goes by that program."""
    run = started(patient(most=1))
    run.reply(call(text='{"bad":1}'))
    run.program = program(tool())
    run.reply(call(text='{"bad":1}'))

    assert isinstance(run.state.phase, Calling)
