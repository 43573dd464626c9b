"""Calls of a history for which approval was asked: what lets them run, and what does not."""

from collections.abc import Sequence

import pytest

from stepfold.loop import (
    ApprovalSecret,
    Calling,
    Resting,
    ToolSpec,
    convert_to_model_prompt,
    request_of,
)
from stepfold.loop.commands import (
    BindCall,
    CallKey,
    CallModel,
    Command,
    ResolveApproval,
    RunTool,
)
from stepfold.loop.events import ApprovalDecision
from stepfold.loop.notes import ApprovalRequested, ToolFinished
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    DeniedOutput,
    ErrorTextOutput,
    Message,
    TextOutput,
    ToolCall,
    ToolError,
    ToolMessage,
    ToolPart,
    ToolResult,
    UserMessage,
)
from tests.loop._scenario import Run, call, calls, guarded, policed, program, started, tool

HI = UserMessage("Hi")
SECRET = "s3cret"
PAY = call("pay")
ASKED = ApprovalRequest("a1", "c1")
YES = ApprovalResponse("a1", approved=True, reason="fine")
NO = ApprovalResponse("a1", approved=False, reason="too much")


def said(*parts: AssistantPart) -> AssistantMessage:
    return AssistantMessage(parts)


def told(*parts: ToolPart) -> ToolMessage:
    return ToolMessage(parts)


def outputs(run: Run) -> list[object]:
    """List what the model is told of each call."""
    return [answer.output for answer in run.answers]


def signed(
    approval_id: str = "a1", call_id: str = "c1", text: str = "{}", *, secret: str = SECRET
) -> ApprovalRequest:
    """Ask for the approval of a payment, as a server with this secret does."""
    signature = ApprovalSecret(secret).signature_of(approval_id, call_id, "pay", text)
    return ApprovalRequest(approval_id, call_id, signature=signature)


# --- today's rules ----------------------------------------------------------------------------


def test_the_policy_is_asked_again_and_may_deny_what_was_approved() -> None:
    """Its reason counts; the answer that stands in the history is not written again."""
    run = started(program(policed()), [HI, said(PAY, ASKED), told(YES)])

    assert (ResolveApproval(CallKey(-1, 0, 0)),) == run.issued()

    run.decide("denied", reason="closed today")

    assert [DeniedOutput("closed today")] == outputs(run)
    assert [
        (type(part), getattr(part, "approved", None)) for part in run.state.messages[-1].content
    ] == [(type(run.answers[0]), None)]


LENIENT: list[ApprovalDecision] = ["approved", "user-approval", "not-applicable"]


@pytest.mark.parametrize("decision", LENIENT)
def test_a_policy_that_does_not_deny_lets_an_approved_call_run(decision: ApprovalDecision) -> None:
    """A person has agreed, so nobody is asked again."""
    run = started(program(policed()), [HI, said(PAY, ASKED), told(YES)])
    run.decide(decision)

    assert (RunTool(CallKey(-1, 0, 0), "pay"),) == run.issued()


@pytest.mark.parametrize("decision", LENIENT)
def test_an_open_request_is_put_to_a_person_whatever_the_policy_agrees_to(
    decision: ApprovalDecision,
) -> None:
    """It was asked of a person, and a policy of today may only be stricter."""
    run = started(program(policed()), [HI, said(PAY, ASKED)])
    run.decide(decision)

    assert isinstance(run.state.phase, Resting)
    assert ["a1"] == [note.request.approval_id for note in run.told(ApprovalRequested)]


def test_an_open_request_that_the_policy_denies_is_closed() -> None:
    """The history holds the decision, so that a client can show it."""
    run = started(program(policed()), [HI, said(PAY, ASKED)])
    run.decide("denied", reason="closed today")

    written = run.state.messages[-1].content
    assert ApprovalResponse("a1", approved=False, reason="closed today") == written[0]
    assert [DeniedOutput("closed today")] == outputs(run)


def test_a_denied_call_asks_nobody() -> None:
    """Not even whether its arguments are still acceptable."""
    history: list[Message] = [HI, said(call("pay", '{"bad":1}'), ASKED), told(NO)]
    run = started(program(policed(binds=True)), history)

    assert [DeniedOutput("too much")] == outputs(run)
    assert isinstance(run.state.phase, Calling)


@pytest.mark.parametrize(
    ("spec", "then"),
    [
        (guarded(binds=True), RunTool(CallKey(-1, 0, 0), "pay")),
        (policed(binds=True), ResolveApproval(CallKey(-1, 0, 0))),
    ],
    ids=["always", "policy"],
)
def test_the_users_validators_see_an_approved_call_first(spec: ToolSpec, then: Command) -> None:
    """What they refuse is answered by their error, and no policy is asked about it."""
    run = started(program(spec), [HI, said(PAY, ASKED), told(YES)])

    assert (BindCall(CallKey(-1, 0, 0)),) == run.issued()

    refused = started(program(spec), [HI, said(PAY, ASKED), told(YES)])
    refused.bind(error="no such account")
    run.bind()

    assert (then,) == run.issued()
    assert [ErrorTextOutput("no such account")] == outputs(refused)
    assert [("invalid", "no such account")] == errors(refused)
    assert isinstance(refused.state.phase, Calling)


def test_a_process_that_takes_over_asks_again_what_was_asked() -> None:
    """What the pre-phase owes is in the state."""
    run = started(program(policed("pay", binds=True)), [HI, said(PAY, ASKED), told(YES)])
    run.resume()

    assert (BindCall(CallKey(-1, 0, 0)),) == run.issued()

    run.bind()
    run.resume()

    assert (ResolveApproval(CallKey(-1, 0, 0)),) == run.issued()


# --- which answer belongs to which request ----------------------------------------------------


def test_an_old_answer_does_not_approve_a_new_request_of_the_same_id() -> None:
    """Two runs of one conversation may have one name, and then one id for two requests."""
    run = started(
        program(guarded()),
        [
            *(HI, said(PAY, ASKED), told(YES, result())),
            *(UserMessage("Once more"), said(call("pay", '{"cents":99}', id="c2"), again("c2"))),
        ],
    )

    assert isinstance(run.state.phase, Resting)
    assert ["c2"] == [request.call.tool_call_id for request in run.open()]


def result() -> ToolPart:
    """Give what came of the first payment."""
    return ToolResult("c1", "pay", TextOutput("paid"))


def again(call_id: str) -> ApprovalRequest:
    """Ask under the same id, for another call."""
    return ApprovalRequest("a1", call_id)


def test_one_answer_lets_one_call_run() -> None:
    """A second request under the same id is none."""
    one, other = calls("pay", "pay")
    run = started(program(guarded()), [HI, said(one, ASKED, other, again("c2")), told(YES)])

    assert (RunTool(CallKey(-1, 0, 0), "pay"),) == run.issued()
    assert [ErrorTextOutput("interrupted: this call was never answered")] == outputs(run)


def test_an_answer_to_an_unknown_request_changes_nothing() -> None:
    """It stays in the history, and no provider sees it."""
    stray = ApprovalResponse("a9", approved=True)
    run = started(program(guarded()), [HI, said(PAY, ASKED), told(stray)])

    assert ["a1"] == [note.request.approval_id for note in run.told(ApprovalRequested)]
    assert told(stray) in run.state.messages


def test_some_answers_of_a_batch_let_their_calls_run_and_the_rest_stays_open() -> None:
    """What was agreed to need not wait for what was not."""
    requests = [ApprovalRequest(f"a{number}", f"c{number}") for number in (1, 2, 3)]
    asked: list[AssistantPart] = []
    for one, request in zip(calls("pay", "pay", "pay"), requests, strict=True):
        asked += [one, request]
    denied = ApprovalResponse("a3", approved=False, reason="no")
    run = started(program(guarded()), [HI, said(*asked), told(YES, denied)])

    assert (RunTool(CallKey(-1, 0, 0), "pay"),) == run.issued()

    run.finish(outcome="paid")

    assert isinstance(run.state.phase, Resting)
    assert ["c2"] == [request.call.tool_call_id for request in run.open()]

    run.answer(1)
    run.finish(1, "paid too")

    prompt = convert_to_model_prompt(request_of(run.program, run.state).messages)
    assert ["c1", "c2", "c3"] == [getattr(part, "tool_call_id", "") for part in prompt[-1].content]


@pytest.mark.parametrize("claims", [True, False])
def test_who_executes_a_call_is_told_of_the_answer(claims: bool) -> None:
    """An answer to a request of the provider's goes into the prompt, any other one does not."""
    own = ToolCall("p1", "search", "{}", provider_executed=True)
    asked = said(own, ApprovalRequest("p", "p1"), PAY, ASKED)
    answers = [
        ApprovalResponse("p", approved=True, provider_executed=claims),
        ApprovalResponse("a1", approved=False, provider_executed=claims),
    ]
    run = started(program(guarded()), [HI, asked, told(*answers)])

    prompt = convert_to_model_prompt(request_of(run.program, run.state).messages)
    seen = [part for part in prompt[-1].content if isinstance(part, ApprovalResponse)]
    assert [ApprovalResponse("p", approved=True, provider_executed=True)] == seen


def test_a_provider_hears_of_an_answer_that_came_after_a_word() -> None:
    """Wherever the answer stands, it follows its request."""
    own = ToolCall("p1", "search", "{}", provider_executed=True)
    asked = said(own, ApprovalRequest("p", "p1"))
    history: list[Message] = [
        HI,
        asked,
        UserMessage("Well"),
        told(ApprovalResponse("p", approved=True)),
    ]
    run = started(program(tool()), history)

    expected = told(ApprovalResponse("p", approved=True, provider_executed=True))
    assert expected == run.state.messages[-1]


# --- signatures -------------------------------------------------------------------------------


def errors(run: Run) -> list[tuple[str, str]]:
    """List the kinds and texts of the errors that calls were closed with."""
    return [
        (note.part.kind, note.part.error)
        for note in run.told(ToolFinished)
        if isinstance(note.part, ToolError)
    ]


def test_requests_are_signed_and_a_signed_one_lets_its_call_run() -> None:
    """Live and back again; decisions of a policy are signed as well."""
    signing = program(guarded(), policed("ask"), tool_approval_secret=SECRET)
    run = started(signing)
    run.reply(*calls("pay", "ask"))
    run.decide("approved", 1)
    run.finish(1)

    requests = [
        part
        for message in run.state.messages
        for part in message.content
        if isinstance(part, ApprovalRequest)
    ]
    assert [True, True] == [
        ApprovalSecret(SECRET).has_signed(
            request.signature or "", request.approval_id, request.tool_call_id, name, "{}"
        )
        for request, name in zip(requests, ("pay", "ask"), strict=True)
    ]
    assert run.approval().signature == requests[0].signature

    answer = ApprovalResponse(run.approval().approval_id, approved=True)
    again = started(signing, [*run.state.messages, told(answer)])

    assert (RunTool(CallKey(-1, 0, 0), "pay"),) == again.issued()


@pytest.mark.parametrize(
    ("asked", "text", "error"),
    [
        (ASKED, "{}", "not run: the request for its approval is not signed"),
        (signed(secret="another"), "{}", "the signature of the request for its approval is not"),
        (signed(), '{"cents":1}', "not run: the signature of the request for its approval"),
        (signed("a2"), "{", "not run: the signature of the request for its approval is not"),
        (signed(call_id="c2"), "{}", "not run: the signature of the request"),
    ],
    ids=["none", "another secret", "other arguments", "no JSON", "another call"],
)
@pytest.mark.parametrize("answers", [[YES], []], ids=["approved", "open"])
def test_a_request_that_is_not_proved_to_be_ours_lets_nothing_run(
    asked: ApprovalRequest, text: str, error: str, answers: Sequence[ToolPart]
) -> None:
    """Nor is a person asked about it; the model is told, and may ask for the call anew."""
    request = ApprovalRequest("a1", "c1", signature=asked.signature)
    history: list[Message] = [HI, said(call("pay", text), request)]
    run = started(
        program(guarded(), tool_approval_secret=SECRET),
        [*history, told(*answers)] if answers else history,
    )

    [(kind, message)] = errors(run)
    assert kind == "unverified"
    assert error in message
    assert isinstance(run.state.phase, Calling)


def test_beside_a_forged_request_no_call_of_the_history_runs() -> None:
    """Somebody has written into it; what was denied stays denied."""
    one, other, third = calls("pay", "pay", "pay")
    unsigned = ApprovalRequest("a2", "c2")
    asked = (one, signed(), other, unsigned, third, ApprovalRequest("a3", "c3"))
    answers = [
        ApprovalResponse("a1", approved=True),
        ApprovalResponse("a2", approved=True),
        ApprovalResponse("a3", approved=False, reason="no"),
    ]
    secret = program(guarded(), tool_approval_secret=SECRET)
    run = started(secret, [HI, said(*asked), told(*answers)])

    assert ["unverified", "unverified"] == [kind for kind, _ in errors(run)]
    assert "another request for approval in this history" in errors(run)[0][1]
    assert DeniedOutput("no") == outputs(run)[2]


def test_a_denial_needs_no_signature_and_an_overtaken_request_neither() -> None:
    """Neither lets anything run."""
    secret = program(guarded(), tool_approval_secret=SECRET)
    denied = started(secret, [HI, said(PAY, ASKED), told(NO)])
    overtaken = started(secret, [HI, said(PAY, ASKED), UserMessage("Never mind")])
    error = "not run: the conversation went on before anybody approved this call"

    assert [DeniedOutput("too much")] == outputs(denied)
    assert [ErrorTextOutput(error)] == outputs(overtaken)


def test_what_needs_no_signature_casts_no_doubt_on_what_has_one() -> None:
    """A denial, and a request that only the provider can have made."""
    own = ToolCall("p1", "search", "{}", provider_executed=True)
    no = ApprovalResponse("a2", approved=False)
    beside = (call("pay", id="c2"), ApprovalRequest("a2", "c2"), own, ApprovalRequest("p", "p1"))
    secret = program(guarded(), tool_approval_secret=SECRET)
    run = started(secret, [HI, said(PAY, signed(), *beside), told(YES, no)])

    assert errors(run) == []
    assert (RunTool(CallKey(-1, 0, 0), "pay"),) == run.issued()


def test_a_signed_open_request_keeps_its_signature() -> None:
    """The history that the run leaves can be sent back once more."""
    request = signed()
    run = started(program(guarded(), tool_approval_secret=SECRET), [HI, said(PAY, request)])

    assert run.approval().signature == request.signature


@pytest.mark.parametrize(
    ("refined", "runs"),
    [(None, True), (" {} ", True), ('{"n":2}', False), ('{"bad":1}', False), ("{", False)],
)
def test_arguments_that_are_refined_anew_are_not_those_that_were_approved(
    refined: str | None, runs: bool
) -> None:
    """What stands in a history was refined before anybody was asked about it."""
    run = started(program(guarded(refines=True)), [HI, said(PAY, ASKED), told(YES)])
    assert [type(command) for command in run.issued()] == [BindCall]
    run.bind(refined=refined)

    assert [type(command) for command in run.issued()] == [RunTool if runs else CallModel]
