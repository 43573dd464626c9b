"""A late answer changes nothing; an answer to what was never issued is a mistake."""

from collections.abc import Callable

import pytest

from stepfold.loop import RetryPolicy
from stepfold.loop._draft import Draft
from stepfold.loop._stale import current_step, refuse_unissued_call
from stepfold.loop.commands import CallKey, ModelCallKey
from stepfold.loop.events import (
    ApprovalDecided,
    CallBound,
    CallRepaired,
    ModelFailed,
    ModelReplied,
    StepPlan,
    StepPrepared,
    StopChecked,
    ToolReturned,
    ToolStarted,
    Waited,
)
from stepfold.values import IllegalEvent
from tests.loop._scenario import (
    SERVER,
    Run,
    call,
    calls,
    guarded,
    program,
    reply_of,
    started,
    succeeded,
    tool,
)


def second_step() -> Run:
    """Wait for the model of step 1."""
    run = started(program(tool()))
    run.reply(call())
    run.finish()
    return run


def working() -> Run:
    """Run a tool in step 0."""
    run = started(program(tool()))
    run.reply(call())
    return run


def preparing() -> Run:
    """Wait for the plan of step 1."""
    run = started(program(tool(), prepares=True))
    run.prepare(StepPlan())
    run.reply(call())
    run.finish()
    return run


def waiting() -> Run:
    """Pause before attempt 1 of step 0."""
    run = started(program(retry=RetryPolicy(jitter=0)))
    run.fail()
    return run


def retried() -> Run:
    """Ask the model of step 0 again."""
    run = waiting()
    run.wait()
    return run


def waiting_again() -> Run:
    """Pause before attempt 2 of step 0."""
    run = retried()
    run.fail()
    return run


def checking() -> Run:
    """Wait for a condition after step 0."""
    run = started(program(tool(), checks_stop=True))
    run.reply(call())
    run.finish()
    return run


def resting() -> Run:
    """Rest in step 0."""
    run = started(program(guarded()))
    run.reply(call("pay"))
    return run


def replied(step: int, total: int) -> ModelReplied:
    """Answer an attempt at a model call."""
    return ModelReplied(ModelCallKey(step, total), reply_of("x"), 0, started=0)


def returned(step: int, index: int = 0, attempt: int = 0) -> ToolReturned:
    """Answer an attempt at a tool call."""
    return ToolReturned(CallKey(step, index, attempt), succeeded(), 0, started=0)


# --- late -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begun", "event"),
    [
        (second_step, replied(0, 0)),
        (second_step, replied(0, 5)),
        (second_step, ModelFailed(ModelCallKey(0, 0), SERVER, 0)),
        (waiting, replied(0, 0)),
        (working, CallBound(CallKey(0, 0, 0), None, 0)),
        (retried, Waited(ModelCallKey(0, 1), 0)),
        (waiting_again, Waited(ModelCallKey(0, 1), 0)),
        (waiting_again, replied(0, 1)),
        (working, replied(0, 0)),
        (checking, replied(0, 0)),
        (resting, replied(0, 0)),
        (preparing, replied(0, 0)),
        (second_step, returned(0)),
        (second_step, returned(-1)),
        (checking, returned(0)),
        (resting, returned(0, 3)),
        (second_step, StepPrepared(0, StepPlan(), 0)),
        (second_step, StepPrepared(1, StepPlan(), 0)),
        (preparing, StepPrepared(0, StepPlan(), 0)),
        (preparing, StopChecked(0, None, 0)),
        (second_step, StopChecked(1, None, 0)),
        (second_step, CallRepaired(CallKey(0, 0, 0), None, 0)),
    ],
)
def test_a_late_answer_is_stale(begun: Callable[[], Run], event: ModelReplied) -> None:
    """Time-outs, retries and duplicates race: the state stays the same object (law 3)."""
    run = begun()
    before = run.state
    run.feed(event)

    assert before is run.state
    assert run.issued() == ()


# --- never issued -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begun", "event", "told"),
    [
        (second_step, replied(2, 0), "attempt 0 of the model call of step 2"),
        (second_step, replied(1, 1), "attempt 1 of the model call of step 1"),
        (second_step, replied(-1, 0), "attempt 0 of the model call of step -1"),
        (second_step, replied(0, -1), "attempt -1 of the model call of step 0"),
        (waiting, replied(0, 2), "attempt 2 of the model call of step 0"),
        (waiting, replied(0, 1), "attempt 1 of the model call of step 0"),
        (
            waiting,
            ModelFailed(ModelCallKey(0, 1), SERVER, 0),
            "attempt 1 of the model call of step 0",
        ),
        (
            waiting,
            Waited(ModelCallKey(0, 2), 0),
            "the pause before attempt 2 of the model call of step 0",
        ),
        (
            waiting,
            Waited(ModelCallKey(0, 0), 0),
            "the pause before attempt 0 of the model call of step 0",
        ),
        (
            second_step,
            Waited(ModelCallKey(1, 0), 0),
            "the pause before attempt 0 of the model call of step 1",
        ),
        (preparing, replied(1, 0), "attempt 0 of the model call of step 1"),
        (second_step, returned(1), "attempt 0 of call 0 of step 1"),
        (waiting, returned(0), "attempt 0 of call 0 of step 0"),
        (preparing, returned(1), "attempt 0 of call 0 of step 1"),
        (working, returned(0, 1), "attempt 0 of call 1 of step 0"),
        (working, returned(0, 0, 1), "attempt 1 of call 0 of step 0"),
        (working, returned(1), "attempt 0 of call 0 of step 1"),
        (working, returned(-2), "attempt 0 of call 0 of step -2"),
        (working, returned(0, -1), "attempt 0 of call -1 of step 0"),
        (working, returned(0, 0, -1), "attempt -1 of call 0 of step 0"),
        (working, ToolStarted(CallKey(0, 7, 0), 0), "attempt 0 of call 7 of step 0"),
        (working, CallBound(CallKey(0, 7, 0), None, 0), "attempt 0 of call 7 of step 0"),
        (
            working,
            ApprovalDecided(CallKey(0, 7, 0), "denied", 0),
            "attempt 0 of call 7 of step 0",
        ),
        (preparing, StepPrepared(2, StepPlan(), 0), "step 2"),
        (second_step, StepPrepared(-1, StepPlan(), 0), "step -1"),
        (checking, StopChecked(1, None, 0), "step 1"),
    ],
)
def test_an_answer_to_what_was_never_issued_is_illegal(
    begun: Callable[[], Run], event: ModelReplied, told: str
) -> None:
    """This is a mistake of the host's: the text names the run and where it is (law 3).

    A pause issues the wait for the attempt after it, and not yet that attempt: nobody can have made
    it. Before the first attempt there is no pause.
    """
    run = begun()
    phase = type(run.state.phase).__name__
    with pytest.raises(IllegalEvent) as caught:
        run.feed(event)

    assert f"{told} was never issued: the run 'r' is in {phase}" == str(caught.value)


def test_an_answer_of_an_earlier_attempt_is_late_and_of_a_later_one_illegal() -> None:
    """Attempts rise with each repair."""
    run = started(program(tool(binds=True), repairs=True))
    run.reply(call("look", "{"), call(id="c2"))
    run.repair(0, "{}")
    before = run.state
    run.feed(CallRepaired(CallKey(0, 0, 0), "{}", run.soon))

    assert before is run.state
    with pytest.raises(IllegalEvent):
        run.feed(CallBound(CallKey(0, 0, 2), None, run.soon))


def test_after_a_rest_calls_that_were_written_are_late() -> None:
    """Those slots are gone; what they once owed was issued."""
    run = started(program(tool(), guarded()))
    run.reply(*calls("look", "pay"))
    run.finish(0)
    run.answer(1)
    before = run.state
    run.feed(returned(0, 0))

    assert before is run.state


def test_a_run_that_has_ended_is_in_its_last_step() -> None:
    """There is none that it could be in now."""
    run = second_step()
    run.reply("Done.")

    assert current_step(Draft(run.state)) == 1


def test_the_attempt_that_runs_was_issued() -> None:
    run = working()

    refuse_unissued_call(Draft(run.state), CallKey(0, 0, 0))
    with pytest.raises(IllegalEvent):
        refuse_unissued_call(Draft(run.state), CallKey(0, 0, 1))
