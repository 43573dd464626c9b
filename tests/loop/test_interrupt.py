"""What comes from outside at any time: an end, a word to the model, a new process."""

from collections.abc import Callable

import pytest

from stepfold.loop import (
    TEXT_OUTPUT,
    Calling,
    Checking,
    Concluding,
    Limits,
    OutputSpec,
    Phase,
    Preparing,
    Resting,
    RetryPolicy,
    Timeouts,
    Waiting,
    Working,
    pending,
    step,
)
from stepfold.loop.commands import (
    CallKey,
    CallModel,
    CheckStop,
    ModelCallKey,
    PrepareStep,
    ResolveApproval,
    RunTool,
    Wait,
)
from stepfold.loop.events import MessageSteered, Resumed, StepPlan, TimedOut, ToolReturned
from stepfold.loop.notes import SteeringDelivered, SteeringDropped, ToolFinished
from stepfold.values import (
    ApprovalResponse,
    Cancelled,
    DeniedOutput,
    ErrorTextOutput,
    IllegalEvent,
    JsonText,
    Stop,
    Stopped,
    TextOutput,
    Usage,
    UserMessage,
)
from tests.loop._scenario import (
    SECOND,
    Run,
    call,
    calls,
    guarded,
    policed,
    program,
    reply_of,
    started,
    succeeded,
    tool,
)

INTERRUPTED = "interrupted: the run ended while this call was open; it may or may not have run"
OVERTAKEN = "not run: somebody spoke before this call was answered"
CRASHED = "interrupted: the process ended while this call ran; it may or may not have run"


def preparing() -> Run:
    """Wait for a plan."""
    return started(program(prepares=True))


def calling() -> Run:
    """Wait for the model."""
    return started(program(tool()))


def waiting() -> Run:
    """Pause before another attempt."""
    run = started(program(retry=RetryPolicy(jitter=0)))
    run.fail()
    return run


def deciding() -> Run:
    """Wait for a policy."""
    run = started(program(policed()))
    run.reply(call("pay"))
    return run


def working() -> Run:
    """Run two tools, one of which has finished."""
    run = started(program(tool()))
    run.reply(*calls("look", "look"))
    run.finish(0)
    return run


def checking() -> Run:
    """Wait for a condition."""
    run = started(program(tool(), checks_stop=True))
    run.reply(call())
    run.finish()
    return run


def resting() -> Run:
    """Wait for a person and a client."""
    run = started(program(guarded(), tool(executes=False)))
    run.reply(*calls("pay", "look"))
    return run


def concluding() -> Run:
    """Wait for the validators of the output."""
    run = started(program(output=OutputSpec("text", TEXT_OUTPUT.check, binds=True)))
    run.reply("Done.")
    return run


EVERY_PHASE = {
    Preparing: preparing,
    Calling: calling,
    Waiting: waiting,
    Working: working,
    Checking: checking,
    Concluding: concluding,
    Resting: resting,
}
in_every_phase = pytest.mark.parametrize(("kind", "begun"), EVERY_PHASE.items())

# --- an end -----------------------------------------------------------------------------------


@in_every_phase
def test_a_run_can_be_cancelled_in_every_phase(kind: type[Phase], begun: Callable[[], Run]) -> None:
    """Nothing is owed afterwards, and each call has its answer (law 15)."""
    run = begun()
    messages = run.state.messages

    assert isinstance(run.state.phase, kind)

    run.cancel()

    assert Cancelled("enough") == run.end
    assert pending(run.state) == ()
    assert run.open() == ()
    assert messages == run.state.messages[: len(messages)]
    assert run.state.ledger.reserved == 0
    assert {call.tool_call_id for step in run.state.steps for call in step.tool_calls} == {
        answer.tool_call_id for answer in run.answers
    }


@in_every_phase
def test_a_run_can_run_out_of_time_in_every_phase(
    kind: type[Phase], begun: Callable[[], Run]
) -> None:
    """A time-out is a stop that names itself."""
    run = begun()

    assert isinstance(run.state.phase, kind)

    run.time_out()

    assert Stopped(Stop("timeout-total")) == run.end


def test_a_step_can_run_out_of_time() -> None:
    """The limit of a step ends the run while that step goes on."""
    run = working()
    run.feed(TimedOut("step", 0, run.soon))

    assert Stopped(Stop("timeout-step")) == run.end


def test_a_time_out_says_what_the_limit_was() -> None:
    """In seconds, as the program gives it."""
    run = started(program(timeouts=Timeouts(total=1.5, step=2)))
    run.feed(TimedOut("step", 0, run.soon))
    again = started(program(timeouts=Timeouts(total=1.5, step=2)))
    again.time_out()

    assert Stopped(Stop("timeout-step", JsonText('{"limit":2}'))) == run.end
    assert Stopped(Stop("timeout-total", JsonText('{"limit":1.5}'))) == again.end


def test_the_time_limit_of_a_step_that_is_over_is_stale() -> None:
    """It raced with the step's end, and lost."""
    run = checking()
    run.check(None)
    before = run.state
    run.feed(TimedOut("step", 0, run.soon))

    assert before is run.state


def test_the_time_limit_of_a_step_does_not_hold_while_the_run_rests() -> None:
    """It waits for a person, and nobody is late; the limit of the run holds, and so do mistakes."""
    run = resting()
    before = run.state
    run.feed(TimedOut("step", 0, run.soon))

    assert before is run.state
    with pytest.raises(IllegalEvent, match="step 1 was never issued"):
        run.feed(TimedOut("step", 1, run.soon))

    run.time_out()

    assert Stopped(Stop("timeout-total")) == run.end


def test_the_time_limit_of_a_step_holds_again_once_the_answer_is_taken_up() -> None:
    """The approved call runs."""
    run = started(program(guarded()))
    run.reply(call("pay"))
    run.answer()
    run.feed(TimedOut("step", 0, run.soon))

    assert Stopped(Stop("timeout-step")) == run.end


def test_the_time_limit_of_the_pre_phase_may_come_late_too() -> None:
    """The calls of the history are a step of their own, numbered -1."""
    run = calling()
    before = run.state
    run.feed(TimedOut("step", -1, run.soon))

    assert before is run.state


@pytest.mark.parametrize("at_step", [1, -2])
def test_the_time_limit_of_a_step_that_never_was_is_illegal(at_step: int) -> None:
    """No step was issued under this number."""
    run = calling()
    with pytest.raises(IllegalEvent, match=f"step {at_step} was never issued"):
        run.feed(TimedOut("step", at_step, run.soon))


def test_what_had_come_of_a_reply_is_kept() -> None:
    """A partial reply is a step; its calls are closed as interrupted (law 15)."""
    run = calling()
    run.cancel(partial=reply_of("It is", call(), finish="interrupted", usage=Usage(7, 3)))

    assert run.state.steps[0].text == "It is"
    assert [ErrorTextOutput(INTERRUPTED)] == [answer.output for answer in run.answers]
    assert run.state.ledger.spent == 10


@pytest.mark.parametrize("empty", [False, True])
def test_a_reply_of_which_nothing_had_come_is_no_step(empty: bool) -> None:
    """Nothing was said, so nothing is written."""
    run = calling()
    run.cancel(partial=reply_of(finish="interrupted") if empty else None)

    assert run.state.steps == ()
    assert len(run.state.messages) == 1


def test_a_cancelled_call_counts_as_what_was_reserved_for_it() -> None:
    """A provider that was cut off may have done the work (law 9)."""
    run = calling()
    run.reply(call(), usage=Usage(10, 5))
    run.finish()
    run.cancel()

    assert run.state.ledger.spent == 30
    assert run.state.ledger.reserved == 0


def test_what_had_finished_is_kept() -> None:
    """Only the call that was open is closed as interrupted."""
    run = working()
    run.cancel()

    assert [TextOutput("warm"), ErrorTextOutput(INTERRUPTED)] == [
        answer.output for answer in run.answers
    ]


def test_answers_that_were_held_are_kept() -> None:
    """A client's result and a person's denial are facts; an approval that never ran is closed."""
    run = started(program(guarded(), tool(executes=False), tool("other")))
    run.reply(*calls("pay", "look", "pay", "other"))
    run.answer(0)
    run.finish(1, "from the client")
    run.answer(2, approved=False, reason="no")
    run.cancel()

    assert [
        ErrorTextOutput(INTERRUPTED),
        TextOutput("from the client"),
        DeniedOutput("no"),
        ErrorTextOutput(INTERRUPTED),
    ] == [answer.output for answer in run.answers]
    assert ApprovalResponse("r/0/0", approved=True) in run.state.messages[-1].content


def test_an_end_drops_what_was_steered_and_never_heard() -> None:
    """Whoever spoke is told."""
    run = calling()
    run.steer("Wait!")
    run.cancel()

    assert [SteeringDropped("m1", "cancelled")] == run.told(SteeringDropped)


# --- a word to the model ----------------------------------------------------------------------


@in_every_phase
def test_a_word_to_the_model_is_kept_in_every_phase(
    kind: type[Phase], begun: Callable[[], Run]
) -> None:
    """It waits for the next step; a queued one waits for a final answer."""
    run = begun()
    run.queue("Thanks.")

    assert isinstance(run.state.phase, kind)
    assert [item.id for item in run.state.inbox.waiting] == ["q1"]
    assert run.issued() == ()


def test_a_message_that_is_given_twice_counts_once() -> None:
    """Whoever is not sure that it arrived may send it again."""
    run = calling()
    event = MessageSteered("m1", UserMessage("In Oslo."), "steer", run.soon)
    run.feed(event)
    before = run.state
    run.feed(event)

    assert before is run.state


def test_a_message_that_was_heard_is_not_heard_again() -> None:
    """Its id is remembered."""
    run = calling()
    run.steer("In Oslo.")
    run.reply(call())
    run.finish()
    before = run.state
    run.steer("In Oslo.")

    assert before is run.state


def test_speaking_to_a_run_at_rest_closes_what_is_open_and_goes_on() -> None:
    """The conversation has gone on; nobody will be asked any more."""
    run = resting()
    run.steer("Never mind.")

    assert [ErrorTextOutput(OVERTAKEN)] * 2 == [answer.output for answer in run.answers]
    assert UserMessage("Never mind.") == run.state.messages[-1]
    assert [SteeringDelivered("m1", 1)] == run.told(SteeringDelivered)
    assert run.open() == ()
    assert isinstance(run.issued()[0], CallModel)


def test_speaking_to_a_run_at_rest_keeps_the_answers_that_are_here() -> None:
    """What a client has sent is not thrown away."""
    run = resting()
    run.finish(1, "from the client")
    run.steer("Never mind.")

    assert [ErrorTextOutput(OVERTAKEN), TextOutput("from the client")] == [
        answer.output for answer in run.answers
    ]


def test_speaking_does_not_lift_the_limit_of_calls_that_was_met() -> None:
    """A call beside the open one was refused for it; nobody may talk the run past it."""
    run = started(program(guarded(), tool(), limits=Limits(tool_calls=1)))
    run.reply(*calls("look", "look", "pay"))
    run.finish(0)
    run.phase(Resting)
    run.steer("Never mind.")

    assert isinstance(run.end, Stopped)
    assert run.end.stop.name == "limit-tool-calls"


# --- a new process ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begun", "command"),
    [
        (preparing, PrepareStep(0)),
        (calling, CallModel(ModelCallKey(0, 0), "acme/one")),
        (waiting, Wait(ModelCallKey(0, 1), 2 * SECOND + 10)),
        (deciding, ResolveApproval(CallKey(0, 0, 0))),
        (checking, CheckStop(0)),
    ],
)
def test_what_is_owed_is_issued_again(begun: Callable[[], Run], command: object) -> None:
    """A new process takes up what the old one had in flight, under the same keys."""
    run = begun()
    before = pending(run.state)
    run.resume()

    assert (command,) == before == run.issued()
    assert before == pending(run.state)
    assert run.state.identity.resumed == 1


def test_a_run_at_rest_stays_at_rest() -> None:
    """People and clients still owe what they owed."""
    run = resting()
    before = run.open()
    run.resume()

    assert before == run.open()
    assert run.issued() == ()


def test_a_tool_that_never_started_runs() -> None:
    """The journal knows: a tool that must not run twice is preceded by `ToolStarted` (law 14)."""
    run = working()
    run.resume()

    assert (RunTool(CallKey(0, 1, 0), "look"),) == run.issued()


def test_an_idempotent_tool_that_had_started_runs_again_as_another_attempt() -> None:
    """A late answer of the old process cannot be taken for that of the new one (law 14)."""
    run = started(program(tool(idempotent=True, timeout=100)))
    run.reply(call())
    run.start()
    old = run.key()
    run.resume()

    assert (RunTool(CallKey(0, 0, 1), "look", run.state.now + 100),) == run.issued()

    before = run.state
    run.feed(ToolReturned(old, succeeded(), run.soon, started=0))

    assert before is run.state

    run.finish(0, "again")

    assert [TextOutput("again")] == [answer.output for answer in run.answers]


def test_a_tool_that_must_not_run_twice_and_had_started_is_closed() -> None:
    """Nobody knows whether it ran; it is never started again (law 14)."""
    run = started(program(tool()))
    run.reply(*calls("look", "look"))
    run.start(0)
    run.resume()

    assert (RunTool(CallKey(0, 1, 0), "look"),) == run.issued()
    assert ErrorTextOutput(CRASHED).value == getattr(run.told(ToolFinished)[0].part, "error", None)


def test_a_step_of_which_nothing_is_left_to_run_comes_to_rest() -> None:
    """The run goes on in the same transition."""
    run = started(program(tool()))
    run.reply(call())
    run.start()
    run.resume()

    assert [ErrorTextOutput(CRASHED)] == [answer.output for answer in run.answers]
    assert (CallModel(ModelCallKey(1, 0), "acme/one"),) == run.issued()


def test_a_tool_that_the_new_program_does_not_have_is_closed() -> None:
    """The process may have been replaced by one without it."""
    run = started(program(tool(idempotent=True)))
    run.reply(call())
    run.program = program()
    run.resume()

    assert [ErrorTextOutput(CRASHED)] == [answer.output for answer in run.answers]


def test_a_resumption_that_is_told_twice_counts_once() -> None:
    """A stale number changes nothing; each process has its own."""
    run = calling()
    run.resume()
    before = run.state
    run.feed(Resumed(1, run.soon))

    assert before is run.state

    run.resume()

    assert run.state.identity.resumed == 2


def test_a_resumption_ahead_of_its_turn_is_illegal() -> None:
    """A process was left out."""
    run = calling()
    with pytest.raises(IllegalEvent, match=r"expected Resumed\(1\) next, got Resumed\(2\)"):
        run.feed(Resumed(2, run.soon))


def test_the_old_state_stays_usable_after_an_illegal_event() -> None:
    """A state is a value: refusing an event cannot change it (law 3)."""
    run = calling()
    with pytest.raises(IllegalEvent):
        step(run.program, run.state, Resumed(9, run.soon))
    run.reply("Done.")

    assert type(run.end).__name__ == "Completed"


def test_a_plan_of_an_old_process_may_still_answer_the_new_one() -> None:
    """Hooks have no attempts: the first answer counts, whoever gives it."""
    run = preparing()
    run.resume()
    run.prepare(StepPlan())

    assert isinstance(run.state.phase, Calling)
