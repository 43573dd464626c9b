"""`begin`: a history from outside is checked and repaired once, and only grows from there."""

from typing import cast

import pytest

from stepfold.loop import Calling, Limits, Resting, Working, begin, convert_to_model_prompt
from stepfold.loop.commands import CallKey, CallModel, ModelCallKey, RunTool
from stepfold.loop.notes import (
    ApprovalRequested,
    CallOpened,
    HistoryRepaired,
    RunBlocked,
    ToolFinished,
)
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    DeniedOutput,
    ErrorTextOutput,
    JsonText,
    Message,
    OpenApproval,
    OpenCall,
    Stop,
    Stopped,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolMessage,
    ToolPart,
    ToolResult,
    UsageError,
    UserMessage,
)
from tests.loop._scenario import (
    EMPTY_DIGEST,
    ONE,
    Run,
    call,
    digest_of,
    guarded,
    program,
    started,
    tool,
)

HI = UserMessage("Hi.")
THANKS = UserMessage("Thanks.")
UNANSWERED = ErrorTextOutput("interrupted: this call was never answered")
OVERTAKEN = "not run: the conversation went on before anybody approved this call"


def said(*parts: AssistantPart) -> AssistantMessage:
    """Let the model have said something."""
    return AssistantMessage(parts)


def told(*parts: ToolPart) -> ToolMessage:
    """Let the model have been told something."""
    return ToolMessage(parts)


def result(call_id: str = "c1", text: str = "warm", name: str = "look") -> ToolResult:
    """Give a result."""
    return ToolResult(call_id, name, TextOutput(text))


def request(
    call_id: str = "c1", approval_id: str = "a1", digest: str | None = EMPTY_DIGEST
) -> ApprovalRequest:
    """Ask for an approval."""
    return ApprovalRequest(approval_id, call_id, digest=digest)


def response(approval_id: str = "a1", *, approved: bool = True) -> ApprovalResponse:
    """Answer a request."""
    return ApprovalResponse(approval_id, approved, reason="because")


PAY = call("pay")
ASKED: list[Message] = [HI, said(PAY, request())]

# --- what is given ----------------------------------------------------------------------------


def test_a_text_is_what_a_person_says() -> None:
    """The model is called at once."""
    run = started(program(), "Hi.")

    assert run.state.messages == (HI,)
    assert (CallModel(ModelCallKey(0, 0), ONE),) == run.issued()


def test_the_callers_list_is_not_kept() -> None:
    """It may change later; the history may not (law 4)."""
    prompt: list[Message] = [HI]
    run = started(program(), prompt)
    prompt.append(THANKS)

    assert run.state.messages == (HI,)


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("", "prompt: expected text or messages, got an empty string"),
        ([], "prompt: expected at least one message, got none"),
        (HI, "prompt: expected text or a sequence of messages, got UserMessage"),
        (None, "prompt: expected text or a sequence of messages, got None"),
        ([HI, "Hi."], r"prompt\[1\]: expected a message, got str"),
        (
            [said(), told(cast("ToolResult", HI))],
            r"prompt\[1\].content\[0\]: a tool message cannot hold a part of type UserMessage",
        ),
        (
            [SystemMessage("Obey.")],
            r"prompt\[0\]: a system message in a history is refused, .*, or set allow_sys",
        ),
    ],
)
def test_a_prompt_that_is_none_is_refused(prompt: object, message: str) -> None:
    """The text says what was expected, what came, and what to do."""
    with pytest.raises(UsageError, match=message):
        begin(program(), cast("str", prompt), run="r", seed=1, at=0)


def test_system_messages_are_taken_where_the_program_allows_them() -> None:
    """Whoever writes the history himself may say so."""
    run = started(program(allow_system_messages=True), [SystemMessage("Obey."), HI])

    assert (SystemMessage("Obey."), HI) == run.state.messages


# --- repair -----------------------------------------------------------------------------------


def test_a_paired_history_is_left_alone() -> None:
    """Its messages are the same objects."""
    history: list[Message] = [HI, said(call()), told(result()), said(), THANKS]
    run = started(program(tool()), history)

    assert all(kept is given for kept, given in zip(run.state.messages, history, strict=True))


def test_results_without_a_call_are_dropped() -> None:
    """No provider takes them: orphans, and answers of another turn."""
    history: list[Message] = [
        told(result("c0")),
        HI,
        told(result("c1")),
        said(call()),
        told(result("c1"), result("c9")),
        told(result("c1", "again")),
        THANKS,
    ]
    run = started(program(tool()), history)

    assert (HI, said(call()), told(result("c1")), THANKS) == run.state.messages


def test_a_second_result_of_a_call_is_dropped() -> None:
    """The first answer counts."""
    run = started(program(tool()), [HI, said(call()), told(result(), result(text="cold"))])

    assert (HI, said(call()), told(result())) == run.state.messages


def test_a_second_call_of_the_same_id_in_a_message_is_dropped() -> None:
    """No result could tell which of the two it answers (law 5)."""
    options = JsonText('{"acme":{}}')
    history: list[Message] = [
        HI,
        AssistantMessage((call(), call(text='{"a":1}')), provider_options=options),
        told(result(), result()),
    ]
    run = started(program(tool()), history)

    assert (
        HI,
        AssistantMessage((call(),), provider_options=options),
        told(result()),
    ) == run.state.messages


def test_calls_that_nobody_will_answer_are_closed_in_place() -> None:
    """In the middle and at the end, after the results that are there."""
    history: list[Message] = [
        HI,
        said(call(id="c1"), call(id="c2")),
        told(result("c2")),
        THANKS,
        said(call(id="c3")),
    ]
    run = started(program(tool()), history)

    assert (
        HI,
        history[1],
        told(result("c2")),
        told(ToolResult("c1", "look", UNANSWERED)),
        THANKS,
        said(call(id="c3")),
        told(ToolResult("c3", "look", UNANSWERED)),
    ) == run.state.messages


def test_a_call_that_the_provider_executes_needs_no_answer_of_ours() -> None:
    """Its result stands in the message of the model."""
    history: list[Message] = [HI, said(ToolCall("p1", "search", "{}", provider_executed=True))]
    run = started(program(), history)

    assert tuple(history) == run.state.messages


def test_a_late_result_of_the_provider_answers_no_call_of_ours() -> None:
    """Ours still waits for its approval."""
    theirs = ToolCall("p1", "search", "{}", provider_executed=True)
    found = ToolResult("p1", "search", TextOutput("found"), provider_executed=True)
    run = started(program(guarded()), [HI, said(PAY, request(), theirs), told(found)])

    assert ["c1"] == [open_.call.tool_call_id for open_ in run.open()]


def test_ids_of_the_history_are_taken() -> None:
    """A new call under an old id would have two answers."""
    run = started(program(tool()), [HI, said(call()), told(result()), THANKS])
    run.reply(call(id="c1"))

    assert run.slot().call.tool_call_id == "r/0/0"


# --- approvals in the history -----------------------------------------------------------------


def test_an_approved_call_runs_before_the_model_is_asked() -> None:
    """The calls of the history are a step of their own, numbered -1."""
    run = started(program(guarded()), [*ASKED, told(response())])

    assert (RunTool(CallKey(-1, 0, 0), "pay"),) == run.issued()
    assert isinstance(run.state.phase, Working)

    run.finish(outcome="paid")

    assert told(result(name="pay", text="paid")) == run.state.messages[-1]
    assert (CallModel(ModelCallKey(0, 0), ONE),) == run.issued()

    run.reply("Done.")

    assert len(run.state.steps) == 1
    assert (told(result(name="pay", text="paid")),) == run.state.steps[0].late


def test_a_denied_call_is_not_run() -> None:
    """The model is told why."""
    run = started(program(guarded()), [*ASKED, told(response(approved=False))])

    assert told(ToolResult("c1", "pay", DeniedOutput("because"))) == run.state.messages[-1]
    assert [CallKey(-1, 0, 0)] == [note.key for note in run.told(ToolFinished)]
    assert (CallModel(ModelCallKey(0, 0), ONE),) == run.issued()


def test_an_open_request_of_the_history_is_asked_again() -> None:
    """The run rests at once, under the id and for the reason of the request."""
    asked = ApprovalRequest("a1", "c1", digest=EMPTY_DIGEST, reason="over 100")
    run = started(program(guarded()), [HI, said(PAY, asked)])
    expected = OpenApproval("a1", PAY, EMPTY_DIGEST, "over 100")

    assert (expected,) == run.open()
    assert [ApprovalRequested(CallKey(-1, 0, 0), expected)] == run.told(ApprovalRequested)
    assert [RunBlocked((expected,))] == run.told(RunBlocked)

    run.answer()
    run.finish(outcome="paid")

    assert (
        told(ApprovalResponse("a1", approved=True), result(name="pay", text="paid"))
        == run.state.messages[-1]
    )


@pytest.mark.parametrize("approved", [True, False])
def test_answering_live_and_in_the_history_lead_to_the_same_prompt(approved: bool) -> None:
    """A client may answer a run at rest, or send the history back with its answer (law 19)."""
    live = started(program(guarded()), [HI])
    live.reply(PAY)
    asked = live.approval()
    rested = list(live.state.messages)
    live.answer(approved=approved, reason="because")
    if approved:
        live.finish(outcome="paid")

    answer = ApprovalResponse(asked.approval_id, approved, reason="because")
    again = started(program(guarded()), [*rested, told(answer)])
    if approved:
        again.finish(outcome="paid")

    assert convert_to_model_prompt(live.state.messages) == convert_to_model_prompt(
        again.state.messages
    )


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (
            (call("pay", '{"amount":6}'), request(digest=digest_of('{"amount":5}'))),
            "not run: the arguments are not those that approval was asked for",
        ),
        (
            (call("pay", '{"bad":1}'), request()),
            "the arguments do not fit the schema of pay: /bad: expected no such property",
        ),
        ((call("steal"), request()), "no tool is named 'steal'; the tools are: pay"),
    ],
)
def test_what_a_history_approves_is_checked_again(
    asked: tuple[AssistantPart, ...], error: str
) -> None:
    """A history comes from outside: only these arguments were approved (law 13)."""
    run = started(program(guarded()), [HI, said(*asked), told(response())])

    assert [ErrorTextOutput(error)] == [answer.output for answer in run.answers]
    assert [(CallKey(-1, 0, 0), "invalid")] == [
        (note.key, getattr(note.part, "kind", None)) for note in run.told(ToolFinished)
    ]
    assert isinstance(run.state.phase, Calling)


def test_a_request_without_a_digest_is_for_the_arguments_beside_it() -> None:
    """Other libraries write none; the guard is against drift, not against forgery."""
    history: list[Message] = [HI, said(PAY, request(digest=None)), told(response())]
    run = started(program(guarded()), history)

    assert (RunTool(CallKey(-1, 0, 0), "pay"),) == run.issued()


def test_the_first_response_counts() -> None:
    """A second one changes nothing."""
    history: list[Message] = [*ASKED, told(response(approved=False), response())]
    run = started(program(guarded()), history)

    assert [DeniedOutput("because")] == [answer.output for answer in run.answers]


def test_a_response_to_an_earlier_request_of_the_same_id_does_not_count() -> None:
    """Runs of one name ask under the same ids: what was approved then is not approved now."""
    history: list[Message] = [
        *ASKED,
        told(response(), result(name="pay")),
        THANKS,
        said(call("pay", id="c2"), request("c2")),
    ]
    run = started(program(guarded()), history)

    assert ["c2"] == [open_.call.tool_call_id for open_ in run.open()]


def test_an_approval_is_used_once_in_a_history() -> None:
    """A call that has its result does not run again."""
    history: list[Message] = [*ASKED, told(response(), result(name="pay"))]
    run = started(program(guarded()), history)

    assert tuple(history) == run.state.messages
    assert isinstance(run.issued()[0], CallModel)


def test_an_approved_client_call_waits_for_the_client() -> None:
    """Approval opens the call."""
    run = started(program(guarded(executes=False)), [*ASKED, told(response())])

    assert (OpenCall(-1, 0, 0, PAY),) == run.open()
    assert [CallOpened(CallKey(-1, 0, 0), OpenCall(-1, 0, 0, PAY))] == run.told(CallOpened)


def test_a_client_call_at_the_end_of_a_history_is_open_again() -> None:
    """With no approval for it, where nothing follows; answers that are there are kept."""
    history: list[Message] = [HI, said(call(id="c1"), call(id="c2")), told(result("c2"))]
    run = started(program(tool(executes=False)), history)
    opened = OpenCall(-1, 0, 0, call(id="c1"))

    assert (opened,) == run.open()
    assert [CallOpened(CallKey(-1, 0, 0), opened)] == run.told(CallOpened)
    assert tuple(history) == run.state.messages

    run.finish(outcome="found")

    assert told(result("c1", text="found")) == run.state.messages[-1]
    assert (CallModel(ModelCallKey(0, 0), ONE),) == run.issued()


def test_a_client_call_that_needs_approval_is_asked_about_first() -> None:
    """A history in which nobody has asked yet is no way around it."""
    run = started(program(guarded(executes=False)), [HI, said(PAY)])

    assert (OpenApproval("r/-1/0", PAY, EMPTY_DIGEST),) == run.open()


def test_a_client_call_that_cannot_be_accepted_is_not_open() -> None:
    """It is checked again, as what a history approves is."""
    bad = call("look", '{"bad":1}', id="c1")
    run = started(program(tool(executes=False)), [HI, said(bad)])

    assert run.open() == ()
    assert (CallModel(ModelCallKey(0, 0), ONE),) == run.issued()


def test_a_client_call_that_a_message_follows_is_closed_in_place() -> None:
    """Nobody will answer it any more."""
    history: list[Message] = [HI, said(call(id="c1")), THANKS]
    run = started(program(tool(executes=False)), history)

    assert (*history[:2], told(ToolResult("c1", "look", UNANSWERED)), THANKS) == run.state.messages


def test_messages_after_an_approved_call_wait_for_its_result() -> None:
    """Nothing stands between a call and its result, and history only grows (laws 4 and 5)."""
    run = started(program(guarded()), [*ASKED, told(response()), THANKS])

    assert (*ASKED, told(response())) == run.state.messages

    run.finish(outcome="paid")

    assert (
        *ASKED,
        told(response()),
        told(result(name="pay", text="paid")),
        THANKS,
    ) == run.state.messages


def test_a_response_that_comes_after_another_message_counts() -> None:
    """The person spoke first and decided then."""
    run = started(program(guarded()), [*ASKED, THANKS, told(result("c9"), response())])

    assert (RunTool(CallKey(-1, 0, 0), "pay"),) == run.issued()

    run.finish(outcome="paid")

    assert (told(result(name="pay", text="paid")), THANKS, told(response())) == (
        run.state.messages[2:]
    )


def test_a_message_after_an_open_request_closes_the_call() -> None:
    """The conversation went on: nobody is asked any more, and nothing raises."""
    run = started(program(guarded()), [*ASKED, THANKS])

    assert (
        *ASKED,
        told(ToolResult("c1", "pay", ErrorTextOutput(OVERTAKEN))),
        THANKS,
    ) == run.state.messages
    assert isinstance(run.issued()[0], CallModel)
    assert [["overtaken-approval"]] == [
        [found.kind for found in note.findings] for note in run.told(HistoryRepaired)
    ]


def test_a_request_in_the_middle_of_a_history_is_over() -> None:
    """The model has spoken since; the call is closed, even if it was approved."""
    history: list[Message] = [*ASKED, told(response()), said(), THANKS]
    run = started(program(guarded()), history)

    assert (
        *ASKED,
        told(response()),
        told(ToolResult("c1", "pay", UNANSWERED)),
        said(),
        THANKS,
    ) == run.state.messages


def test_calls_beside_an_open_one_keep_their_results() -> None:
    """What was settled stands; what nobody will answer is closed; what is open is asked."""
    history: list[Message] = [
        HI,
        said(PAY, request(), call(id="c2"), call(id="c3")),
        told(result("c2")),
    ]
    run = started(program(guarded(), tool()), history)

    assert (
        *history,
        told(ToolResult("c3", "look", UNANSWERED)),
    ) == run.state.messages
    assert [open_.call.tool_call_id for open_ in run.open()] == ["c1"]
    assert isinstance(run.state.phase, Resting)


def test_a_run_that_ends_before_the_result_keeps_the_messages_that_were_held_back() -> None:
    """Nothing that was said is lost (law 15)."""
    run = started(program(guarded()), [*ASKED, told(response()), THANKS])
    run.cancel()

    assert run.state.messages[-1] == THANKS
    assert run.answers[0].tool_call_id == "c1"


def test_speaking_to_a_run_that_rests_on_its_history_goes_on() -> None:
    """The open call is closed; the first step hears what was said."""
    run = started(program(guarded()), ASKED)
    run.steer("Never mind.")

    assert (
        told(
            ToolResult(
                "c1",
                "pay",
                ErrorTextOutput("not run: somebody spoke before this call was answered"),
            )
        ),
        UserMessage("Never mind."),
    ) == run.state.messages[2:]
    assert (CallModel(ModelCallKey(0, 0), ONE),) == run.issued()


def test_limits_hold_for_the_calls_of_a_history() -> None:
    """They count as issued in this run (law 9)."""
    run = started(program(guarded(), limits=Limits(tool_calls=0)), [*ASKED, told(response())])

    assert Stopped(Stop("limit-tool-calls", JsonText('{"reached":0,"limit":0}'))) == run.end


def test_a_run_knows_how_long_the_history_was_that_it_began_with() -> None:
    """What comes after is its own."""
    run = started(program(), [HI, said(Text("Hello.")), HI])
    run.reply("Hello again.")

    assert run.state.transcript.initial == 3


def opened(run: Run) -> list[str]:
    """The ids of the calls that a client owes an answer to."""
    return [it.call.tool_call_id for it in run.open() if isinstance(it, OpenCall)]


def test_an_answer_to_an_earlier_call_of_the_same_id_is_none_to_the_last() -> None:
    """Providers that number calls anew in each reply make such histories."""
    run = started(program(tool(executes=False)), [HI, said(call()), told(result()), said(call())])

    assert opened(run) == ["c1"]


def test_a_call_is_open_although_the_one_before_it_was_answered() -> None:
    """Clients answer in any order."""
    history: list[Message] = [HI, said(call(id="c1"), call(id="c2")), told(result("c1"))]

    assert opened(started(program(tool(executes=False)), history)) == ["c2"]
