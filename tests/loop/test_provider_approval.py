"""Approvals that a provider asks for, of calls that it executes itself."""

from attrs import evolve

from stepfold.loop import (
    Calling,
    Program,
    Resting,
    convert_to_model_prompt,
    is_step_count,
    open_requests,
    request_of,
)
from stepfold.loop._provider_approval import asked_in
from stepfold.loop.events import ApprovalAnswered, CancelRequested
from stepfold.loop.notes import ApprovalRequested, CallRequested, ToolFinished
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    Cancelled,
    Completed,
    JsonText,
    Message,
    ProviderTool,
    Stopped,
    TextOutput,
    ToolCall,
    ToolError,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from tests.loop._scenario import (
    ONE,
    Run,
    call,
    digest_of,
    guarded,
    program,
    started,
    tool,
)

OWN = ToolCall("p1", "mail", '{"to":"Ann"}', provider_executed=True)
ASKED = ApprovalRequest("mcpr_1", "p1", reason="it is sent for good")
SENT = ToolResult("p1", "mail", TextOutput("sent"), provider_executed=True)
YES = ApprovalResponse("mcpr_1", approved=True, provider_executed=True)


def prompt(run: Run) -> tuple[Message, ...]:
    """What the model is asked now."""
    return convert_to_model_prompt(request_of(run.program, run.state).messages)


def test_a_run_rests_for_an_answer_that_the_provider_asked_for() -> None:
    """Its own request stands in the history, once; the person sees exactly what it is about."""
    run = started(program(tool()))
    run.reply("May I?", OWN, ASKED)

    assert isinstance(run.state.phase, Resting)
    [request] = run.open()
    assert request == run.approval()
    assert ("mcpr_1", OWN, digest_of(OWN.input), "it is sent for good") == (
        run.approval().approval_id,
        request.call,
        run.approval().digest,
        run.approval().reason,
    )
    assert [request] == [note.request for note in run.told(ApprovalRequested)]
    said = run.state.messages[-1]
    assert isinstance(said, AssistantMessage)
    assert (OWN, ASKED) == said.content[1:]
    assert [ASKED] == [p for p in run.state.steps[-1].content if isinstance(p, ApprovalRequest)]
    assert () == run.issued()


def test_what_a_provider_has_signed_is_shown() -> None:
    """Whoever answers may have to give it back."""
    run = started(program(tool()))
    run.reply(OWN, evolve(ASKED, signature="s1"))

    assert run.approval().signature == "s1"


def test_the_provider_is_told_and_asked_again() -> None:
    """No tool runs here, and nothing is made up; the answer goes out once."""
    run = started(program(tool(), tool("mail")))
    run.reply(OWN, ASKED)
    run.answer(reason="Ann waits")

    told = ApprovalResponse("mcpr_1", approved=True, reason="Ann waits", provider_executed=True)
    assert 1 == run.phase(Calling).step
    assert ToolMessage((told,)) == run.state.messages[-1]
    assert ToolMessage((told,)) == prompt(run)[-1]

    run.reply(ToolCall("p2", "mail", "{}", provider_executed=True), "Sent.")

    assert isinstance(run.end, Completed)
    assert [] == run.told(ToolFinished)
    assert [] == run.told(CallRequested)


def test_a_denial_is_told_to_the_provider_as_well() -> None:
    """The call is not answered here: what comes of it is the provider's to say."""
    run = started(program(tool()))
    run.reply(OWN, ASKED)
    run.answer(approved=False, reason="not to Ann")

    told = ApprovalResponse("mcpr_1", approved=False, reason="not to Ann", provider_executed=True)
    assert ToolMessage((told,)) == prompt(run)[-1]
    assert () == run.answers


def test_an_answer_in_the_history_leads_to_the_same_prompt() -> None:
    """Law 19, for the provider's own requests."""
    live = started(program(tool()))
    live.reply(OWN, ASKED)
    history = [*live.state.messages, ToolMessage((ApprovalResponse("mcpr_1", approved=True),))]
    live.answer()

    assert prompt(live) == prompt(started(program(tool()), history))


def test_calls_of_both_kinds_are_answered_side_by_side() -> None:
    """What runs here is not held up, and all answers stand in the order of the calls."""
    run = started(program(tool(), guarded("pay"), tool("show", executes=False)))
    local, client = call("pay", id="c2"), call("show", id="c3")
    run.reply(call(), OWN, ASKED, local, client)
    run.finish()

    assert [1, 2, 3] == [slot.index for slot in run.phase(Resting).slots]

    run.finish(3, "seen")
    run.answer(2)
    assert isinstance(run.state.phase, Resting)
    run.answer(1)
    run.finish(2, "paid")

    assert 1 == run.phase(Calling).step
    last = run.state.messages[-1]
    assert isinstance(last, ToolMessage)
    assert (YES, ApprovalResponse("r/0/2", approved=True)) == last.content[:2]
    assert ["c1", "c2", "c3"] == [one.tool_call_id for one in run.answers]
    assert 1 == sum(part == YES for part in prompt(run)[-1].content)


def test_an_answer_that_comes_while_a_tool_runs_is_kept() -> None:
    """It takes effect when the step is at rest."""
    run = started(program(tool(), tool("mail", executes=False)))
    run.reply(call(), OWN, ASKED)
    run.answer(1)
    run.finish()

    assert 1 == run.phase(Calling).step
    assert ToolMessage((YES,)) == run.state.messages[-1]


def test_a_cancelled_run_leaves_the_request_open() -> None:
    """No result is made up, and the history can be sent again."""
    run = started(program(tool()))
    run.reply(OWN, ASKED)
    run.cancel()

    assert Cancelled("enough") == run.end
    assert AssistantMessage((OWN, ASKED)) == run.state.messages[-1]
    history = list(run.state.messages)
    again = started(program(tool()), [*history, UserMessage("Well?")])
    assert (AssistantMessage((OWN,)), UserMessage("Well?")) == prompt(again)[-2:]


def test_what_nobody_answered_is_asked_again() -> None:
    """By a run that begins with the history, unless somebody has spoken or the result is there."""
    pay = call("pay", id="c2")
    history: list[Message] = [
        UserMessage("Write to Ann."),
        AssistantMessage((OWN, ASKED, pay, ApprovalRequest("a2", "c2"))),
        ToolMessage((ApprovalResponse("a2", approved=True),)),
    ]
    secret = program(guarded("pay"), tool_approval_secret="s3cret")
    run = started(program(guarded("pay")), list(history))
    run.finish(1, "paid")

    assert [OWN] == [request.call for request in run.open()]
    run.answer()
    assert YES == prompt(run)[-1].content[-1]
    assert 0 == run.phase(Calling).step

    assert [OWN] == [request.call for request in started(secret, list(history)).open()]
    found = ToolMessage((SENT,))
    rest = AssistantMessage((OWN, ASKED))
    answered = started(program(tool()), [UserMessage("Write."), rest, found])
    assert 0 == answered.phase(Calling).step


def test_an_answer_that_is_here_outlives_the_run() -> None:
    """The next run tells the provider."""
    run = started(program(tool()))
    run.reply(OWN, ASKED, call())
    run.answer()
    run.cancel()

    last = run.state.messages[-1]
    assert isinstance(last, ToolMessage)
    assert YES == last.content[0]
    assert YES in run.state.steps[-1].content
    again = started(program(tool()), list(run.state.messages))
    assert 1 == sum(part == YES for part in prompt(again)[-1].content)


def test_nobody_is_waited_for_once_the_run_shall_end() -> None:
    """A run that ends after its step is cancelled, not complete: the provider is owed a word."""
    run = started(program(tool()))
    run.feed(CancelRequested("enough", run.soon))
    run.reply("May I?", OWN, ASKED)

    assert Cancelled("enough") == run.end


def test_a_word_overtakes_the_request() -> None:
    """The model hears it at once; an answer that comes later changes nothing."""
    run = started(program(tool()))
    run.reply(OWN, ASKED)
    request = run.approval()
    run.steer("Never mind.")

    assert UserMessage("Never mind.") == prompt(run)[-1]
    before = run.state
    run.feed(ApprovalAnswered(request.approval_id, request.digest, True, run.soon))
    assert before is run.state


def test_a_stop_condition_holds_before_the_provider_is_told() -> None:
    """What asks for approval is no final answer."""
    run = started(program(tool(), stop_when=is_step_count(1)))
    run.reply("May I?", OWN, ASKED)
    run.answer()

    assert isinstance(run.end, Stopped)
    assert "is_step_count" == run.end.stop.name
    assert ToolMessage((YES,)) == run.state.messages[-1]


def test_a_reply_that_was_cut_asks_for_nothing() -> None:
    """Its request is left open in the history."""
    run = started(program(tool()))
    run.reply(OWN, ASKED, finish="length")

    assert isinstance(run.end, Stopped)
    assert "length" == run.end.stop.name
    assert () == open_requests(run.state)


def test_no_result_is_awaited_of_a_call_that_may_be_denied() -> None:
    """A provider that gives results later gives none for what was denied."""
    slow = ProviderTool("acme.mail", "mail", supports_deferred_results=True)
    run = started(Program(models=(ONE,), tools={"look": tool()}, provider_tools={"mail": slow}))
    run.reply(OWN, ASKED)
    run.answer(approved=False)
    run.reply("Then not.")

    assert isinstance(run.end, Completed)


def test_arguments_that_are_no_json_are_asked_about_too() -> None:
    """Whether the provider takes them is not for us to say."""
    run = started(program(tool()))
    run.reply(ToolCall("p1", "mail", "\ud800{", provider_executed=True), ASKED)

    assert run.approval().digest == JsonText.of("\ufffd{").digest()

    run.answer()

    assert ToolMessage((YES,)) == prompt(run)[-1]


def test_questions_are_those_that_nobody_has_answered() -> None:
    """The first for each call and under each id counts."""
    other = ToolCall("p2", "mail", "{}", provider_executed=True)
    early = ToolResult("p1", "mail", TextOutput("…"), provider_executed=True, preliminary=True)

    assert {"p1": ASKED} == asked_in([OWN, ASKED, early])
    assert {} == asked_in([OWN, ASKED, SENT])
    assert {} == asked_in([OWN, ASKED, ToolError("p1", "mail", "no", provider_executed=True)])
    assert {} == asked_in([OWN, ApprovalRequest("mcpr_1", "p1", is_automatic=True)])
    assert {} == asked_in([call(id="p1"), ASKED])
    assert {"p1": ASKED} == asked_in(
        [OWN, ASKED, other, ApprovalRequest("mcpr_2", "p1"), ApprovalRequest("mcpr_1", "p2")]
    )
