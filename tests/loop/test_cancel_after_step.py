"""A request to end after the step in flight: what is begun is finished, and nothing begins."""

from collections.abc import Callable

import pytest

from stepfold.loop import (
    TEXT_OUTPUT,
    Calling,
    Checking,
    Concluding,
    Done,
    OutputSpec,
    Preparing,
    Resting,
    RetryPolicy,
    Waiting,
    Working,
    pending,
)
from stepfold.loop.events import CancelRequested
from stepfold.loop.notes import ModelRetried, SteeringDropped, ToolFinished
from stepfold.values import (
    Cancelled,
    Completed,
    ErrorTextOutput,
    Failed,
    Failure,
    HookFailed,
    JsonText,
    NoOutput,
    Outcome,
    Stop,
    TextOutput,
    ToolError,
)
from tests.loop._scenario import (
    ONE,
    REFUSED,
    SERVER,
    TWO,
    Run,
    call,
    calls,
    guarded,
    json,
    policed,
    program,
    reply_of,
    started,
    tool,
)

ENOUGH = Cancelled("enough for now")
JUDGED = OutputSpec("text", TEXT_OUTPUT.check, binds=True)


def _no_output(text: str) -> Outcome[JsonText, NoOutput]:
    return Failure(NoOutput("too short", text))


FUSSY = OutputSpec("fussy", _no_output, retries=1)


def ask(run: Run, reason: str = "enough for now") -> None:
    run.feed(CancelRequested(reason, run.soon))


def checking(*content: str) -> Run:
    """Wait for a condition, after a step with a call, or after a final answer and a word to it."""
    run = started(program(tool(), checks_stop=True))
    if content:
        run.steer("Go on.")
        run.reply(*content)
    else:
        run.reply(call())
        run.finish()
    run.phase(Checking)
    return run


# --- while a step is in flight ----------------------------------------------------------------


def test_the_reply_in_flight_comes_to_its_end_and_its_tools_run() -> None:
    """The step is recorded whole; then no model is called."""
    run = started(program(tool()))
    ask(run)
    run.phase(Calling)
    run.reply(*calls("look", "look"))
    run.finish(1)
    run.phase(Working)
    run.finish(0)

    assert run.end == ENOUGH
    assert [part.output for part in run.answers] == [TextOutput("warm")] * 2
    assert len(run.state.steps) == 1


def test_tools_that_run_are_not_interrupted() -> None:
    """Asked for while they do, it waits for all of them."""
    run = started(program(tool()))
    run.reply(*calls("look", "look"))
    run.finish(0)
    owed = pending(run.state)
    ask(run)

    assert run.issued() == ()
    assert pending(run.state) == owed

    run.finish(1)

    assert run.end == ENOUGH
    assert [part.output for part in run.answers] == [TextOutput("warm")] * 2


def test_calls_are_still_decided_and_run() -> None:
    """The second barrier is the step's own: what a policy allows runs."""
    run = started(program(policed()))
    run.reply(call("pay"))
    ask(run)
    run.decide("approved")
    run.finish()

    assert run.end == ENOUGH
    assert [part.output for part in run.answers] == [TextOutput("warm")]


def test_a_final_answer_completes_the_run() -> None:
    """It would have been the end anyway."""
    run = started(program())
    ask(run)
    run.reply("Warm.")

    assert run.end == Completed(json("Warm."))


def test_a_word_is_no_reason_to_go_on_after_a_final_answer() -> None:
    """What was steered is dropped, and said to be."""
    run = started(program())
    run.steer("And tomorrow?")
    ask(run)
    run.reply("Warm.")

    assert run.end == Completed(json("Warm."))
    assert run.told(SteeringDropped) == [SteeringDropped("m1", "completed")]


def test_validators_still_look_at_an_answer() -> None:
    """It counts if they accept it."""
    run = started(program(output=JUDGED))
    run.reply("Warm.")
    run.phase(Concluding)
    ask(run)
    run.phase(Concluding)
    run.bind_output()

    assert run.end == Completed(json("Warm."))


def test_an_answer_is_not_asked_for_again() -> None:
    """Where it would have been sent back, the run is cancelled; where not, it fails as always."""
    for retries, end in ((1, Cancelled), (0, Failed)):
        output = OutputSpec("fussy", _no_output, retries=retries)
        run = started(program(output=output))
        ask(run)
        run.reply("Warm.")

        assert isinstance(run.end, end)


def test_a_retry_is_another_model_call() -> None:
    """What had come of the failed one is kept, its calls are closed."""
    for policy, models in ((RetryPolicy(), (ONE,)), (RetryPolicy(max_retries=0), (ONE, TWO))):
        run = started(program(tool(), retry=policy, models=models))
        ask(run)
        run.fail(SERVER, partial=reply_of("So", call()))

        assert run.end == ENOUGH
        assert run.told(ModelRetried) == []
        assert [step.text for step in run.state.steps] == ["So"]
        assert [type(part.output) for part in run.answers] == [ErrorTextOutput]

    run = started(program())
    ask(run)
    run.fail(SERVER)

    assert run.end == ENOUGH


def test_a_failure_that_leaves_no_retry_is_one() -> None:
    run = started(program())
    ask(run)
    run.fail(REFUSED)

    assert run.end == Failed(REFUSED)


def test_nobody_outside_is_waited_for() -> None:
    """The step is at rest but for calls that a person and a client owe: these are closed."""
    run = started(program(guarded(), tool("ask", executes=False), tool()))
    run.reply(*calls("pay", "ask", "look"))
    ask(run)
    run.finish(2)

    assert run.end == ENOUGH
    closed, asked, done = run.answers
    assert done.output == TextOutput("warm")
    assert isinstance(closed.output, ErrorTextOutput)
    assert isinstance(asked.output, ErrorTextOutput)
    errors = [part for part in run.state.steps[0].content if isinstance(part, ToolError)]
    assert {error.kind for error in errors} == {"interrupted"}
    assert run.open() == ()


def test_what_was_approved_meanwhile_runs() -> None:
    """Where nobody is owed an answer any more, the calls of the step are all carried out."""
    run = started(program(guarded(), tool()))
    run.reply(*calls("pay", "look"))
    ask(run)
    run.answer(0)
    run.finish(1)
    run.phase(Working)
    run.finish(0, "paid")

    assert run.end == ENOUGH
    assert TextOutput("paid") in [part.output for part in run.answers]


def test_a_new_process_takes_the_step_up_and_ends_after_it() -> None:
    """The request is part of the state."""
    run = started(program(tool()))
    run.reply(call())
    ask(run)
    run.resume()
    run.finish()

    assert run.end == ENOUGH


# --- while none is ----------------------------------------------------------------------------


def preparing() -> Run:
    run = started(program(prepares=True))
    run.phase(Preparing)
    return run


def waiting() -> Run:
    run = started(program(retry=RetryPolicy(jitter=0)))
    run.fail()
    run.phase(Waiting)
    return run


def resting() -> Run:
    run = started(program(guarded()))
    run.reply(call("pay"))
    run.phase(Resting)
    return run


@pytest.mark.parametrize("begun", [preparing, waiting, resting, checking])
def test_a_run_between_two_model_calls_ends_at_once(begun: Callable[[], Run]) -> None:
    run = begun()
    ask(run)

    assert run.end == ENOUGH
    assert pending(run.state) == ()
    assert len(run.told(ToolFinished)) == len(run.answers)


@pytest.mark.parametrize("verdict", [None, Stop("patience")])
def test_a_final_answer_is_not_lost_while_conditions_are_asked(verdict: Stop | None) -> None:
    """They were asked because of a word; what they say does not matter any more."""
    run = checking("Warm.")
    ask(run)
    run.phase(Checking)
    run.check(verdict)

    assert run.end == Completed(json("Warm."))


def test_a_condition_that_fails_fails_the_run() -> None:
    failed = HookFailed("stop_check", "OSError")
    run = checking("Warm.")
    ask(run)
    run.check(failed)

    assert run.end == Failed(failed)


def test_an_answer_that_was_to_be_mended_is_none() -> None:
    run = started(program(output=FUSSY, checks_stop=True))
    run.reply("Warm.")
    run.phase(Checking)
    ask(run)
    run.check(None)

    assert run.end == ENOUGH


# --- once only --------------------------------------------------------------------------------


def test_the_first_reason_counts() -> None:
    run = started(program())
    ask(run)
    before = run.state
    ask(run, "too late")

    assert run.state is before


def test_a_run_that_shall_end_can_be_cancelled_at_once() -> None:
    run = started(program(tool()))
    run.reply(call())
    ask(run)
    run.cancel()

    assert run.end == Cancelled("enough")
    assert isinstance(run.state.phase, Done)
