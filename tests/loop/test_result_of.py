"""An output that is the result of a tool: it runs as any other, and what it gives ends the run."""

import pytest

from stepfold.loop import (
    Calling,
    Checking,
    Limits,
    OutputSpec,
    Resting,
    Working,
    is_step_count,
    request_of,
)
from stepfold.loop.commands import RunTool
from stepfold.loop.events import StepPlan, ToolFailed, ToolSucceeded
from stepfold.loop.notes import OutputRejected
from stepfold.values import (
    ApprovalResponse,
    AssistantMessage,
    Completed,
    ContentOutput,
    DeniedOutput,
    ErrorTextOutput,
    Failed,
    JsonOutput,
    JsonText,
    NoOutput,
    Outcome,
    Stopped,
    Success,
    Text,
    TextOutput,
    ToolMessage,
    UsageError,
    UserMessage,
)
from tests.loop._scenario import (
    Run,
    call,
    calls,
    guarded,
    json,
    program,
    started,
    tool,
)


def as_given(text: str) -> Outcome[JsonText, NoOutput]:
    return Success(JsonText(text))


BOOKED = OutputSpec("booked", as_given, result_of="book")
PATIENT = OutputSpec("booked", as_given, result_of="book", retries=1)
BOOK = tool("book")


def booking(*, output: OutputSpec = BOOKED) -> Run:
    return started(program(BOOK, tool(), output=output))


def test_what_the_tool_gives_is_the_output_and_ends_the_run() -> None:
    """It has run before: the call and its result are in the history."""
    run = booking()
    run.reply(call("book"))
    run.phase(Working)
    run.finish(0, ToolSucceeded(JsonOutput(JsonText('{"seat":7}'))))

    assert run.end == Completed(JsonText('{"seat":7}'))
    assert len(run.answers) == 1


def test_what_the_model_sees_of_the_result_may_be_parts() -> None:
    """As it may be text or JSON: the tool has succeeded in all of these."""
    run = booking()
    run.reply(call("book"))
    run.finish(0, ToolSucceeded(ContentOutput((Text("booked"),)), JsonText("7")))

    assert run.end == Completed(JsonText("7"))


def test_the_program_keeps_another_value_than_the_model_sees() -> None:
    """That value is the output."""
    run = booking()
    run.reply(call("book"))
    run.finish(0, ToolSucceeded(TextOutput("booked"), JsonText("7")))

    assert run.end == Completed(JsonText("7"))


def test_other_tools_run_and_go_on() -> None:
    run = booking()
    run.reply(call("look"))
    run.finish()
    run.phase(Calling)


def test_the_calls_beside_it_are_carried_out_and_the_first_in_call_order_counts() -> None:
    """Whatever the order in which they end."""
    run = booking()
    run.reply(*calls("look", "book", "book"))
    run.finish(2, "second")
    run.finish(0)
    run.finish(1, "first")

    assert run.end == Completed(json("first"))
    assert [part.output for part in run.answers] == [
        TextOutput("warm"),
        TextOutput("first"),
        TextOutput("second"),
    ]


def test_a_call_that_fails_goes_back_to_the_model() -> None:
    """So does one that is not acceptable; neither is an answer that is sent back."""
    run = booking()
    run.reply(call("book", '{"bad":1}'))
    run.phase(Calling)
    run.reply(call("book", id="c2"))
    run.finish(0, ToolFailed("full"))
    run.phase(Calling)
    run.reply(*(call("book", id=f"c{number}") for number in (3, 4)))
    run.finish(0, ToolFailed("full"))
    run.finish(1, "seat 7")

    assert run.end == Completed(json("seat 7"))
    assert run.told(OutputRejected) == []
    assert isinstance(run.answers[0].output, ErrorTextOutput)


def test_a_result_that_a_person_has_to_allow_comes_late() -> None:
    """The run rests, and ends when the call has run."""
    run = started(program(guarded("book"), output=BOOKED))
    run.reply(call("book"))
    run.phase(Resting)
    run.answer()
    run.finish(0, "seat 7")

    assert run.end == Completed(json("seat 7"))
    assert run.told(OutputRejected) == []


def test_a_denied_call_is_no_output() -> None:
    run = started(program(guarded("book"), output=BOOKED))
    run.reply(call("book"))
    run.answer(approved=False)
    run.phase(Calling)

    assert [part.output for part in run.answers] == [DeniedOutput(None)]


def test_a_client_may_give_it() -> None:
    run = started(program(tool("book", executes=False), output=BOOKED))
    run.reply(call("book"))
    run.phase(Resting)
    run.finish(0, "seat 7")

    assert run.end == Completed(json("seat 7"))


def test_a_call_of_the_history_that_was_approved_completes_the_run_at_its_beginning() -> None:
    """No model is asked."""
    rested = started(program(guarded("book"), output=BOOKED))
    rested.reply(call("book"))
    said = rested.state.messages
    assert isinstance(said[-1], AssistantMessage)
    request = rested.approval().approval_id
    approved = ToolMessage((ApprovalResponse(request, approved=True),))

    run = started(rested.program, [*said, approved])
    run.finish(0, "seat 7")

    assert run.end == Completed(json("seat 7"))
    assert run.state.steps == ()


def test_who_is_asked_beside_it_is_waited_for() -> None:
    """The output is there, and the history is whole before the run ends."""
    run = started(program(BOOK, guarded(), output=BOOKED))
    run.reply(*calls("book", "pay"))
    run.finish(0, "seat 7")
    run.phase(Resting)
    run.answer(1)
    run.finish(1, "paid")

    assert run.end == Completed(json("seat 7"))
    assert [part.output for part in run.answers] == [TextOutput("seat 7"), TextOutput("paid")]


def test_text_is_no_output() -> None:
    """The model has to call a tool; one that does not is told so, as often as is allowed."""
    run = booking()

    assert request_of(run.program, run.state).tool_choice == "required"

    run.reply("It is booked.")
    expected = "expected a call of the tool book, got text"

    assert run.end == Failed(NoOutput(expected, "It is booked.", finish_reason="stop"))

    run = booking(output=PATIENT)
    run.reply("It is booked.")
    told = run.state.messages[-1]

    assert isinstance(told, UserMessage)
    assert "Call book: what it gives ends the conversation." in str(told.content)

    run.reply(call("book"))
    run.finish(0, "seat 7")

    assert run.end == Completed(json("seat 7"))


def test_a_word_is_heard_after_the_output_and_another_one_counts() -> None:
    """As after any final answer; without room for another step the output is kept."""
    run = booking()
    run.steer("No, the window seat.")
    run.reply(call("book"))
    run.finish(0, "seat 7")
    run.phase(Calling)
    run.reply(call("book", id="c2"))
    run.finish(0, "seat 8")

    assert run.end == Completed(json("seat 8"))

    run = started(program(BOOK, output=BOOKED, stop_when=is_step_count(1)))
    run.steer("No, the window seat.")
    run.reply(call("book"))
    run.finish(0, "seat 7")

    assert run.end == Completed(json("seat 7"))


def test_conditions_are_not_asked_about_it() -> None:
    run = started(program(BOOK, output=BOOKED, stop_when=is_step_count(1), checks_stop=True))
    run.reply(call("book"))
    run.finish(0, "seat 7")

    assert run.end == Completed(json("seat 7"))

    run = started(program(BOOK, tool(), output=BOOKED, checks_stop=True))
    run.reply(call("look"))
    run.finish()
    run.phase(Checking)


def test_it_is_a_tool_as_any_other_for_budgets() -> None:
    run = started(program(BOOK, output=BOOKED, limits=Limits(tool_calls=0)))
    run.reply(call("book"))

    assert isinstance(run.end, Stopped)
    assert run.end.stop.name == "limit-tool-calls"


def test_a_wrap_up_runs_no_tool() -> None:
    """It has words for a last answer, and no output."""
    limits = Limits(wrap_up_tokens=50)
    run = started(program(BOOK, tool(), output=BOOKED, limits=limits, stop_when=is_step_count(1)))
    run.reply(call("look"))
    run.finish()

    assert request_of(run.program, run.state).tool_choice == "none"

    run.reply("I did not book.")

    assert isinstance(run.end, Stopped)
    assert run.end.stop.name == "is_step_count"


def test_the_tool_is_always_offered() -> None:
    """A plan that names other tools does not take it away."""
    run = started(program(BOOK, tool(), output=BOOKED, prepares=True))
    run.prepare(StepPlan(active_tools=("look",)))
    offered = {one.name for one in request_of(run.program, run.state).tools}

    assert offered == {"look", "book"}

    run.reply(call("book"))

    assert [command for command in run.issued() if isinstance(command, RunTool)]


def test_a_program_without_the_tool_is_refused() -> None:
    with pytest.raises(UsageError, match="'book', whose result is the output"):
        program(tool(), output=BOOKED)
    both = OutputSpec("both", as_given, tool="give", result_of="book")
    with pytest.raises(UsageError, match="none marked is_output"):
        program(BOOK, tool("give", executes=False, is_output=True), output=both)


def test_the_fingerprint_names_the_tool() -> None:
    plain = program(BOOK, tool(), output=OutputSpec("booked", as_given))

    assert booking().program.fingerprint != plain.fingerprint
