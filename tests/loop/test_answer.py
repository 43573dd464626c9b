"""The final answer: read, checked by validators, sent back, given by a tool."""

import pytest

from stepfold.loop import (
    Calling,
    Checking,
    Concluding,
    Done,
    Limits,
    OutputSpec,
    is_step_count,
    pending,
    request_of,
)
from stepfold.loop.commands import BindOutput, CallModel, CheckStop, RunTool
from stepfold.loop.events import CancelRequested, OutputBound, StepPlan
from stepfold.loop.notes import OutputRejected, SteeringDelivered, SteeringDropped
from stepfold.values import (
    Completed,
    Failed,
    Failure,
    IllegalEvent,
    JsonText,
    NamedTool,
    NoOutput,
    Outcome,
    Stop,
    Stopped,
    Success,
    Text,
    TextOutput,
    ToolError,
    UsageError,
    UserMessage,
)
from tests.loop._scenario import Run, call, calls, guarded, program, started, tool


def even(text: str) -> Outcome[JsonText, NoOutput]:
    """Accept an even number."""
    if text.isdecimal() and int(text) % 2 == 0:
        return Success(JsonText(text))
    return Failure(NoOutput("expected an even number", text, cause="schema-mismatch"))


def arguments(text: str) -> Outcome[JsonText, NoOutput]:
    return Success(JsonText(text))


BOUND = OutputSpec("even", even, binds=True)
PATIENT = OutputSpec("even", even, retries=2)
BOTH = OutputSpec("even", even, binds=True, retries=1)
GIVEN = OutputSpec("given", arguments, tool="give", retries=1)
GIVE = tool("give", executes=False, is_output=True)

NOT_EVEN = NoOutput("expected an even number", "7", cause="schema-mismatch", finish_reason="stop")
REFUSED = NoOutput("too large", "8", cause="refused", finish_reason="stop")


def feedback(run: Run) -> list[str]:
    """What the model was told after its answers."""
    return [
        "".join(part.text for part in message.content if isinstance(part, Text))
        for message in run.state.messages[1:]
        if isinstance(message, UserMessage)
    ]


# --- validators -------------------------------------------------------------------------------


def test_a_run_is_complete_when_the_validators_agree() -> None:
    """What they say is in the journal, so a completed run has its output."""
    run = started(program(output=BOUND))
    run.reply("8")

    assert Concluding(0, JsonText("8")) == run.state.phase
    assert (BindOutput(0),) == pending(run.state)

    run.bind_output()

    assert Completed(JsonText("8")) == run.end


def test_what_validators_refuse_is_no_output() -> None:
    run = started(program(output=BOUND))
    run.reply("8")
    run.bind_output("too large")

    assert Failed(REFUSED) == run.end


def test_an_answer_that_does_not_fit_is_not_shown_to_validators() -> None:
    run = started(program(output=BOUND))
    run.reply("7")

    assert Failed(NOT_EVEN) == run.end


def test_the_answer_of_validators_counts_once() -> None:
    run = started(program(output=BOTH))
    run.reply("8")
    late = OutputBound(0, None, run.soon)
    run.bind_output("too large")

    assert run.feed(late).state is run.feed(late).state
    assert len(feedback(run)) == 1

    run.reply("6")
    before = run.state
    run.feed(late)

    assert run.state is before
    with pytest.raises(IllegalEvent, match="step 5 was never issued"):
        run.feed(OutputBound(5, None, run.soon))


def test_validators_that_were_not_asked_have_no_answer() -> None:
    """The step is in flight, but there is nothing yet that they could look at."""
    run = started(program(output=BOUND))
    before = run.state
    run.feed(OutputBound(0, None, run.soon))

    assert run.state is before


# --- retries ----------------------------------------------------------------------------------


def test_an_answer_that_does_not_fit_is_sent_back() -> None:
    """With what is wrong with it, in a step of its own."""
    run = started(program(output=PATIENT))
    run.reply("7")

    assert [OutputRejected(0, NOT_EVEN)] == run.told(OutputRejected)
    told = "Your last answer cannot be used: expected an even number. "
    assert feedback(run) == [told + "Give the whole answer again, mended."]

    run.reply("8")

    assert Completed(JsonText("8")) == run.end
    assert run.state.steps[1].late == (run.state.messages[2],)


def test_an_answer_is_sent_back_so_often_and_no_more() -> None:
    run = started(program(output=PATIENT))
    for _ in range(3):
        run.reply("7")

    assert Failed(NOT_EVEN) == run.end
    assert len(feedback(run)) == run.state.ledger.output_retries == 2


def test_what_validators_refuse_is_sent_back_in_their_words() -> None:
    run = started(program(output=BOTH))
    run.reply("8")
    run.bind_output("too large")

    assert [OutputRejected(0, REFUSED)] == run.told(OutputRejected)
    assert "too large" in feedback(run)[0]

    run.reply("6")
    run.bind_output()

    assert Completed(JsonText("6")) == run.end


def test_a_stop_that_leaves_no_room_for_a_retry_fails_the_run() -> None:
    """As it would have ended without one; nothing is said to nobody."""
    run = started(program(output=PATIENT, stop_when=is_step_count(1)))
    run.reply("7")

    assert Failed(NOT_EVEN) == run.end
    assert feedback(run) == []


def test_neither_does_a_limit_nor_a_condition_in_the_world() -> None:
    limited = started(program(output=PATIENT, limits=Limits(steps=1)))
    limited.reply("7")

    assert Failed(NOT_EVEN) == limited.end

    checked = started(program(output=PATIENT, checks_stop=True))
    checked.reply("7")

    assert Checking(0, NOT_EVEN) == checked.state.phase

    checked.check(Stop("enough"))

    assert Failed(NOT_EVEN) == checked.end


def test_a_condition_in_the_world_may_let_it_be_sent_back() -> None:
    run = started(program(output=PATIENT, checks_stop=True))
    run.reply("7")
    run.check()

    assert len(feedback(run)) == 1
    assert [type(command) for command in run.commands] == [CallModel, CheckStop, CallModel]


# --- with words from outside ------------------------------------------------------------------


def test_a_word_that_came_while_validators_looked_is_heard() -> None:
    run = started(program(output=BOUND))
    run.reply("8")
    run.steer("And twice that?", id="m1")
    run.bind_output()

    assert [SteeringDelivered("m1", 1)] == run.told(SteeringDelivered)

    run.reply("16")
    run.bind_output()

    assert Completed(JsonText("16")) == run.end


def test_the_answer_is_kept_where_the_word_cannot_be_heard() -> None:
    """Validators are not asked twice about one answer."""
    run = started(program(output=BOUND, stop_when=is_step_count(1)))
    run.reply("8")
    run.queue("And twice that?", id="m1")
    run.bind_output()

    assert Completed(JsonText("8")) == run.end
    assert [SteeringDropped("m1", "is_step_count")] == run.told(SteeringDropped)
    assert [type(command) for command in run.commands] == [CallModel, BindOutput]


def test_after_a_stop_validators_have_the_last_word() -> None:
    run = started(program(output=BOTH, stop_when=is_step_count(1)))
    run.steer("And twice that?")
    run.reply("8")

    assert Concluding(0, JsonText("8"), is_last=True) == run.state.phase

    run.bind_output("too large")

    assert Failed(REFUSED) == run.end


# --- wrap-ups ---------------------------------------------------------------------------------


def wrapped(output: OutputSpec) -> Run:
    """Use up the steps, so that one last answer is asked for."""
    tools = (tool(), GIVE) if output.tool else (tool(),)
    limits = Limits(steps=2, wrap_up_tokens=10)
    run = started(program(*tools, output=output, limits=limits))
    run.reply(call())
    run.finish()
    return run


@pytest.mark.parametrize(("error", "output"), [(None, JsonText("8")), ("too large", None)])
def test_the_output_of_a_wrap_up_has_to_pass_too(
    error: str | None, output: JsonText | None
) -> None:
    run = wrapped(BOUND)
    run.reply("8")
    run.bind_output(error)

    assert isinstance(run.end, Stopped)
    assert run.end.stop.name == "limit-steps"
    assert output_of(run) == output


def output_of(run: Run) -> JsonText | None:
    return run.phase(Done).output


def test_a_call_that_wraps_up_has_to_pass_its_validators() -> None:
    """They are asked before the run ends."""
    give = tool("give", executes=False, is_output=True, binds=True)
    limits = Limits(steps=2, wrap_up_tokens=10)
    run = started(program(tool(), give, output=GIVEN, limits=limits))
    run.reply(call())
    run.finish()
    run.reply(call("give"))
    run.bind()

    assert isinstance(run.end, Stopped)
    assert output_of(run) == JsonText("{}")


def test_a_wrap_up_waits_for_nobodys_approval() -> None:
    """The run ends, and its history has an answer to the call."""
    give = guarded("give", executes=False, is_output=True)
    limits = Limits(steps=2, wrap_up_tokens=10)
    run = started(program(tool(), give, output=GIVEN, limits=limits))
    run.reply(call())
    run.finish()
    run.reply(call("give"))

    assert isinstance(run.end, Stopped)
    [error] = (it for it in run.state.steps[-1].content if isinstance(it, ToolError))
    assert error.kind == "not-run"


def test_the_validators_are_asked_about_a_wrap_up() -> None:
    """As they are about any other answer."""
    run = wrapped(BOUND)
    run.reply("8")

    assert [type(command) for command in run.issued()] == [BindOutput]


def test_a_wrap_up_asks_for_the_output_tool_alone() -> None:
    run = wrapped(GIVEN)

    assert request_of(run.program, run.state).tool_choice == NamedTool("give")

    run.reply(call("look", id="c2"), call("give", '{"n":1}', id="c3"))

    assert isinstance(run.end, Stopped)
    assert output_of(run) == JsonText('{"n":1}')
    assert [type(command) for command in run.commands].count(RunTool) == 1


@pytest.mark.parametrize("said", ["text", "cut"])
def test_a_wrap_up_without_an_output_is_a_stop(said: str) -> None:
    run = wrapped(GIVEN)
    if said == "text":
        run.reply("I have no idea.")
    else:
        run.reply(call("give", id="c2"), finish="length")

    assert isinstance(run.end, Stopped)
    assert output_of(run) is None


# --- given by a tool --------------------------------------------------------------------------


def test_the_arguments_of_a_call_are_the_output() -> None:
    """The loop answers the call itself; the history is complete."""
    run = started(program(GIVE, output=GIVEN))
    request = request_of(run.program, run.state)

    assert request.tool_choice == "required"
    assert [definition.name for definition in request.tools] == ["give"]

    run.reply(call("give", '{"n":1}'))

    assert Completed(JsonText('{"n":1}')) == run.end
    assert [answer.output for answer in run.answers] == [TextOutput("accepted")]
    assert [type(command) for command in run.commands] == [CallModel]


def test_the_other_tools_of_the_step_run_first() -> None:
    run = started(program(tool(), GIVE, output=GIVEN))
    run.reply(*calls("give", "look"))

    assert run.commands[1:] == [RunTool(run.key(1), "look")]

    run.finish(1)

    assert Completed(JsonText("{}")) == run.end
    assert [answer.tool_name for answer in run.answers] == ["give", "look"]


def test_the_first_acceptable_call_of_a_step_counts() -> None:
    run = started(program(GIVE, output=GIVEN))
    run.reply(
        call("give", '{"bad":1}', id="c1"),
        call("give", '{"n":1}', id="c2"),
        call("give", '{"n":2}', id="c3"),
    )

    assert Completed(JsonText('{"n":1}')) == run.end
    assert [error.kind for error in run.state.steps[0].tool_errors] == ["invalid", "not-run"]


def test_a_run_that_waits_for_a_person_keeps_its_output() -> None:
    run = started(program(guarded(), GIVE, output=GIVEN))
    run.reply(*calls("give", "pay"))
    run.answer(1, approved=False)

    assert Completed(JsonText("{}")) == run.end


def test_a_call_that_does_not_fit_is_answered_by_its_error() -> None:
    """That is the feedback; the second time is too often."""
    run = started(program(GIVE, output=GIVEN))
    run.reply(call("give", '{"bad":1}', id="c1"))
    (rejected,) = run.told(OutputRejected)

    assert rejected.error.cause == "schema-mismatch"
    assert rejected.error.finish_reason == "tool-calls"
    assert feedback(run) == []
    assert run.phase(Calling).step == 1

    run.reply(call("give", '{"bad":1}', id="c2"))

    assert Failed(rejected.error) == run.end


def test_what_validators_refuse_of_a_call_is_its_error_too() -> None:
    give = tool("give", executes=False, is_output=True, binds=True)
    run = started(program(give, output=OutputSpec("given", arguments, tool="give", binds=True)))
    run.reply(call("give"))
    run.bind(error="too large")

    assert isinstance(run.end, Failed)
    assert isinstance(run.end.error, NoOutput)
    assert "too large" in run.end.error.message


def test_a_call_that_nobody_approved_in_time_is_no_answer() -> None:
    """It did fit; it was closed because the run shall end."""
    give = guarded("give", executes=False, is_output=True)
    run = started(program(give, output=GIVEN))
    run.feed(CancelRequested("enough", run.soon))
    run.reply(call("give"))
    (rejected,) = run.told(OutputRejected)

    assert rejected.error.cause == "no-answer"


def test_text_in_place_of_a_call_is_sent_back() -> None:
    run = started(program(GIVE, output=GIVEN))
    run.reply("Eight.")

    told = "Your last answer gave no output: expected a call of the tool give, got text. "
    assert feedback(run) == [told + "Call give with the output."]

    run.reply("Eight!")

    assert (
        Failed(
            NoOutput("expected a call of the tool give, got text", "Eight!", finish_reason="stop")
        )
        == run.end
    )


def test_a_plan_cannot_hide_the_output_tool() -> None:
    run = started(program(tool(), GIVE, output=GIVEN, prepares=True))
    run.prepare(StepPlan(active_tools=()))

    assert [spec.name for spec in request_of(run.program, run.state).tools] == ["give"]


def test_the_tool_of_the_output_has_to_be_there() -> None:
    with pytest.raises(UsageError, match="expected the tool 'give' among the tools"):
        program(output=GIVEN)
    with pytest.raises(UsageError, match="expected the tool None among the tools"):
        program(GIVE)


def test_instructions_for_the_output_follow_those_of_the_program() -> None:
    asked = OutputSpec("even", even, instructions="Say an even number.")
    alone = started(program(output=asked))
    after = started(program(output=asked, instructions="Be brief."))

    assert request_of(alone.program, alone.state).instructions == "Say an even number."
    assert request_of(after.program, after.state).instructions == "Be brief.\n\nSay an even number."


def test_what_decides_about_an_output_is_in_the_fingerprint() -> None:
    plain = OutputSpec("even", even)

    assert len({program(output=spec).fingerprint for spec in (plain, BOUND, PATIENT, BOTH)}) == 4
