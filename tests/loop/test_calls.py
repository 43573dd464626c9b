"""Client calls: from the model's text to an answer."""

from typing import NoReturn, final

import pytest
from attrs import evolve
from typing_extensions import override

from stepfold.loop import Limits, Resting, Working
from stepfold.loop._calls import denied_part, outcome_part, permit, position_of
from stepfold.loop._slots import Slot, slot_of
from stepfold.loop.commands import (
    BindCall,
    CallKey,
    CallModel,
    RepairCall,
    ResolveApproval,
    RunTool,
)
from stepfold.loop.events import (
    ApprovalAnswered,
    CallRepaired,
    StepPlan,
    ToolFailed,
    ToolReturned,
    ToolSucceeded,
)
from stepfold.loop.notes import (
    ApprovalRequested,
    CallOpened,
    CallRejected,
    CallRequested,
    ToolFinished,
)
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    DeniedOutput,
    ErrorTextOutput,
    JsonBounds,
    JsonOutput,
    JsonText,
    OpenApproval,
    OpenCall,
    Stop,
    Stopped,
    TextOutput,
    ToolCall,
    ToolError,
    ToolResult,
)
from tests.loop._scenario import (
    EMPTY_DIGEST,
    Run,
    call,
    calls,
    digest_of,
    guarded,
    policed,
    program,
    started,
    succeeded,
    tool,
)


def errors(run: Run) -> list[str]:
    """List what the model was told of calls that were rejected."""
    return [note.error for note in run.told(CallRejected)]


def outputs(run: Run) -> list[object]:
    """List what the model sees of each answer, in the order of the history."""
    return [answer.output for answer in run.answers]


# --- parsing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_blank_arguments_are_an_empty_object(text: str) -> None:
    """Models send them for tools without parameters; the text is kept as it came."""
    run = started(program(tool()))
    run.reply(call("look", text))

    assert (RunTool(CallKey(0, 0, 0), "look"),) == run.issued()
    assert text == run.slot().call.input


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (call("dance"), "no tool is named 'dance'; the tools are: look"),
        (
            call("look", '{"city":'),
            "the arguments are not acceptable JSON: Expecting value (at character 8)",
        ),
        (call("look", "NaN"), "the arguments are not acceptable JSON: NaN is not JSON"),
        (
            call("look", "[]"),
            "the arguments do not fit the schema of look: (the whole input): expected an object",
        ),
        (
            call("look", '{"bad":1}'),
            "the arguments do not fit the schema of look: /bad: expected no such property",
        ),
    ],
)
def test_a_call_that_cannot_be_accepted_is_answered_with_its_error(
    asked: ToolCall, error: str
) -> None:
    """The model is told what is wrong, so that it can mend it in another step (law 13)."""
    run = started(program(tool()))
    run.reply(asked)

    assert [CallRequested(CallKey(0, 0, 0), asked)] == run.told(CallRequested)
    assert [CallRejected(CallKey(0, 0, 0), asked, error)] == run.told(CallRejected)
    assert [ErrorTextOutput(error)] == outputs(run)
    assert isinstance(run.issued()[0], CallModel)


def test_a_program_without_tools_says_so() -> None:
    """There is nothing to choose from."""
    run = started(program())
    run.reply(call("x" * 1000))

    assert [f"no tool is named '{'x' * 100}'; the tools are: none"] == errors(run)


def test_the_bounds_on_arguments_are_those_of_the_program() -> None:
    """A hostile document is refused before it is parsed."""
    run = started(program(tool(), bounds=JsonBounds(depth=2)))
    run.reply(call("look", '{"a":{"b":{}}}'))

    assert errors(run) == [
        "the arguments are not acceptable JSON: nested more than 2 deep (at character 10)"
    ]


# --- repair -----------------------------------------------------------------------------------


def test_a_bad_call_goes_to_the_repair_hook_once() -> None:
    """New arguments are checked like the old ones, and not repaired again."""
    run = started(program(tool(), repairs=True))
    run.reply(call("look", "{"))

    assert (RepairCall(CallKey(0, 0, 0)),) == run.issued()

    run.repair(text='{"bad":1}')

    assert errors(run) == [
        "the arguments do not fit the schema of look: /bad: expected no such property"
    ]
    assert sum(isinstance(command, RepairCall) for command in run.commands) == 1


def test_a_repaired_call_runs_and_stands_repaired_in_the_history() -> None:
    """What is shown, approved and run is one and the same text."""
    run = started(program(tool(), repairs=True))
    run.reply(call("look", "{"))
    run.repair(text='{"city":"Oslo"}')

    assert (RunTool(CallKey(0, 0, 1), "look"),) == run.issued()

    run.finish()

    assert (ToolCall("c1", "look", '{"city":"Oslo"}'),) == run.state.steps[0].tool_calls
    assert ToolCall("c1", "look", '{"city":"Oslo"}') in run.state.messages[1].content


def test_a_hook_that_knows_no_better_leaves_the_error() -> None:
    """The model hears what was wrong in the first place."""
    run = started(program(tool(), repairs=True))
    run.reply(call("look", "{"))
    run.repair(text=None)

    assert errors(run)[0].startswith("the arguments are not acceptable JSON: Expecting property")


def test_a_second_repair_of_the_same_call_changes_nothing() -> None:
    """A duplicate answer cannot stand for another attempt: its key is of the first one."""
    run = started(program(tool(binds=True), repairs=True))
    run.reply(call("look", "{"))
    event = CallRepaired(run.key(), "{}", run.soon)
    run.feed(event)
    before = run.state
    run.feed(event)

    assert before is run.state
    assert run.slot().status == "binding"


def test_a_call_is_repaired_within_the_tools_of_its_step() -> None:
    """A tool that the plan hid stays hidden."""
    run = started(program(tool(), tool("pay"), prepares=True, repairs=True))
    run.prepare(StepPlan(active_tools=("look",)))
    run.reply(call("pay"))
    run.repair(text="{}")

    assert errors(run) == ["no tool is named 'pay'; the tools are: look"]


# --- binding ----------------------------------------------------------------------------------


def test_arguments_with_validators_of_the_users_are_bound_before_anything_runs() -> None:
    """That code runs in the shell, and its answer is an event."""
    run = started(program(tool(binds=True), tool("other")))
    run.reply(*calls("look", "other"))

    assert (BindCall(CallKey(0, 0, 0)),) == run.issued()

    run.bind()

    assert (
        RunTool(CallKey(0, 0, 0), "look"),
        RunTool(CallKey(0, 1, 0), "other"),
    ) == run.issued()


def test_arguments_that_do_not_bind_are_told_to_the_model() -> None:
    """A validator's text is the error; the call is not repaired again."""
    run = started(program(tool(binds=True), repairs=True))
    run.reply(call())
    run.bind(error="/city: is not in Norway")

    assert errors(run) == ["/city: is not in Norway"]
    assert [ErrorTextOutput("/city: is not in Norway")] == outputs(run)


def test_binding_comes_before_asking_for_approval() -> None:
    """Nobody is asked to approve what cannot run."""
    run = started(program(guarded(binds=True)))
    run.reply(call("pay"))

    assert run.open() == ()

    run.bind()

    assert run.approval().approval_id == "r/0/0"


def test_a_tool_that_the_program_has_lost_is_told_to_the_model() -> None:
    """A run may be taken up by a program without the tool; `step` stays total (law 3)."""
    run = started(program(tool(binds=True)))
    run.reply(call())
    run.program = program(tool("other"))
    run.bind()

    assert errors(run) == ["no tool is named 'look'"]


# --- approvals by a person --------------------------------------------------------------------


def test_a_person_is_asked_for_exactly_these_arguments() -> None:
    """The request carries the digest of the arguments; the run rests."""
    run = started(program(guarded()))
    run.reply(call("pay", '{"amount": 5}'))
    request = OpenApproval("r/0/0", call("pay", '{"amount": 5}'), digest_of('{"amount":5}'))

    assert (request,) == run.open()
    assert [ApprovalRequested(CallKey(0, 0, 0), request)] == run.told(ApprovalRequested)
    assert isinstance(run.state.phase, Resting)
    assert run.issued() == ()


def test_an_approved_call_runs() -> None:
    """The decision stands in the history, before the result."""
    run = started(program(guarded()))
    run.reply(call("pay"))
    run.answer(reason="go on")

    assert (RunTool(CallKey(0, 0, 0), "pay"),) == run.issued()

    run.finish(outcome="paid")

    assert (
        ApprovalResponse("r/0/0", approved=True, reason="go on"),
        ToolResult("c1", "pay", TextOutput("paid")),
    ) == run.state.messages[-1].content


def test_a_denied_call_is_not_run_and_the_model_is_told() -> None:
    """A denial is an answer: the run goes on."""
    run = started(program(guarded()))
    run.reply(call("pay"))
    run.answer(approved=False, reason="too dear")

    assert [DeniedOutput("too dear")] == outputs(run)
    assert isinstance(run.issued()[0], CallModel)


@pytest.mark.parametrize(
    ("approval_id", "digest"),
    [("r/0/0", digest_of('{"amount":6}')), ("r/0/9", EMPTY_DIGEST), ("", "")],
)
def test_an_answer_to_something_else_is_ignored(approval_id: str, digest: str) -> None:
    """An approval is for exactly these arguments (law 13)."""
    run = started(program(guarded()))
    run.reply(call("pay"))
    before = run.state
    run.feed(ApprovalAnswered(approval_id, digest, approved=True, at=run.soon))

    assert before is run.state


def test_the_first_answer_counts() -> None:
    """A second thought comes too late: an approval is used once."""
    run = started(program(guarded(), guarded("sell")))
    run.reply(*calls("pay", "sell"))
    request = run.approval(0)
    run.answer(0, approved=False)
    before = run.state
    run.feed(ApprovalAnswered(request.approval_id, request.digest, approved=True, at=run.soon))

    assert before is run.state


def test_an_answer_after_the_call_has_run_is_ignored() -> None:
    """Nothing runs twice."""
    run = started(program(guarded()))
    run.reply(call("pay"))
    request = run.approval()
    run.answer()
    run.finish()
    before = run.state
    run.feed(ApprovalAnswered(request.approval_id, request.digest, approved=True, at=run.soon))

    assert before is run.state


def test_an_early_answer_is_held_until_the_step_rests() -> None:
    """Answers from outside take effect when no tool runs, so their order is no matter (law 6)."""
    run = started(program(guarded(), tool()))
    run.reply(*calls("pay", "look"))
    run.answer(0)

    assert run.issued() == ()
    assert run.open() == ()

    run.finish(1)

    assert (RunTool(CallKey(0, 0, 0), "pay"),) == run.issued()
    assert run.answers[0].tool_call_id == "c2"


def test_early_and_late_answers_leave_one_record() -> None:
    """The step and the history are the same, whenever the person was asked and answered."""
    early, late = (started(program(guarded(), tool())) for _ in range(2))
    early.reply(*calls("pay", "look"))
    early.answer(0)
    early.finish(1)
    late.reply(*calls("pay", "look"))
    late.finish(1)
    late.answer(0)
    for run in (early, late):
        run.finish(0)

    assert late.state.messages == early.state.messages
    assert late.state.steps[0].content == early.state.steps[0].content


def test_all_open_calls_are_answered_before_one_runs() -> None:
    """A run rests until the last answer is here; then they are taken up in call order (law 6)."""
    run = started(program(guarded(), guarded("sell")))
    run.reply(*calls("pay", "sell"))
    run.answer(1)

    assert run.issued() == ()
    assert tuple(request.call.tool_call_id for request in run.open()) == ("c1",)

    run.answer(0)

    assert (
        RunTool(CallKey(0, 0, 0), "pay"),
        RunTool(CallKey(0, 1, 0), "sell"),
    ) == run.issued()


def test_a_request_stands_right_after_its_call() -> None:
    """A client that shows the history shows the question where it belongs."""
    run = started(program(guarded(), tool()))
    run.reply(*calls("pay", "look"))
    run.finish(1)

    assert (
        call("pay"),
        ApprovalRequest("r/0/0", "c1", digest=EMPTY_DIGEST),
        call("look", id="c2"),
    ) == run.state.messages[1].content


def test_a_tool_that_was_lost_while_a_person_thought_is_told_to_the_model() -> None:
    """The program may have changed over night; `step` stays total (law 3)."""
    run = started(program(guarded()))
    run.reply(call("pay"))
    run.program = program(tool())
    run.answer()

    assert [ErrorTextOutput("not run: no tool is named 'pay' any more")] == outputs(run)
    [told] = (note.part for note in run.told(ToolFinished))
    assert isinstance(told, ToolError)
    assert told.kind == "invalid"
    assert isinstance(run.issued()[0], CallModel)


# --- approvals by a policy --------------------------------------------------------------------


def test_a_policy_is_asked_by_a_command() -> None:
    """It may be code of the user's, so the shell runs it."""
    run = started(program(policed()))
    run.reply(call("pay"))

    assert (ResolveApproval(CallKey(0, 0, 0)),) == run.issued()


def test_what_needs_no_approval_leaves_no_trace() -> None:
    """Not applicable: the call simply runs."""
    run = started(program(policed()))
    run.reply(call("pay"))
    run.decide("not-applicable")
    run.finish()

    assert (call("pay"),) == run.state.messages[1].content
    assert len(run.state.messages[2].content) == 1


def test_what_a_policy_approves_runs_and_is_recorded_as_automatic() -> None:
    """Nobody was asked, and the history says so."""
    run = started(program(policed()))
    run.reply(call("pay"))
    run.decide("approved", reason="small")

    assert (RunTool(CallKey(0, 0, 0), "pay"),) == run.issued()

    run.finish()
    request = ApprovalRequest("r/0/0", "c1", digest=EMPTY_DIGEST, is_automatic=True)
    response = ApprovalResponse("r/0/0", approved=True, reason="small")

    assert (call("pay"), request) == run.state.messages[1].content
    assert response == run.state.messages[2].content[0]
    assert (call("pay"), request, response) == run.state.steps[0].content[:3]


def test_what_a_policy_denies_is_not_run() -> None:
    """The model is told, and the run goes on."""
    run = started(program(policed()))
    run.reply(call("pay"))
    run.decide("denied", reason="too dear")

    assert [DeniedOutput("too dear")] == outputs(run)
    assert ApprovalResponse("r/0/0", approved=False, reason="too dear") in (
        run.state.messages[2].content
    )
    assert isinstance(run.issued()[0], CallModel)


def test_a_policy_may_ask_a_person_and_say_why() -> None:
    """The reason is shown with the question, live and in the history."""
    run = started(program(policed()))
    run.reply(call("pay"))
    run.decide("user-approval", reason="over 100")

    assert run.approval().reason == "over 100"
    assert run.told(ApprovalRequested)[0].request.reason == "over 100"
    assert (
        ApprovalRequest("r/0/0", "c1", digest=EMPTY_DIGEST, reason="over 100")
        in run.state.messages[1].content
    )

    run.answer(reason="fine")

    assert (RunTool(CallKey(0, 0, 0), "pay"),) == run.issued()


# --- client tools -----------------------------------------------------------------------------


def test_a_call_of_a_client_tool_waits_for_the_client() -> None:
    """There is no code here: the run rests, and says what is owed."""
    run = started(program(tool(executes=False)))
    run.reply(call())
    request = OpenCall(0, 0, 0, call())

    assert (request,) == run.open()
    assert [CallOpened(CallKey(0, 0, 0), request)] == run.told(CallOpened)
    assert isinstance(run.state.phase, Resting)

    run.finish(outcome="warm")

    assert [TextOutput("warm")] == outputs(run)
    assert isinstance(run.issued()[0], CallModel)


def test_a_clients_failure_is_an_answer_too() -> None:
    """The model is told."""
    run = started(program(tool(executes=False)))
    run.reply(call())
    run.break_down(message="no camera")

    assert [ErrorTextOutput("no camera")] == outputs(run)


def test_an_early_result_of_a_client_is_held() -> None:
    """It is written when the step has come to rest, after what ran here (law 6)."""
    run = started(program(tool(executes=False), tool("other")))
    run.reply(*calls("look", "other"))
    run.finish(0, "from the client")
    before = run.state

    assert isinstance(run.state.phase, Working)

    run.finish(0, "again")

    assert before is run.state

    run.finish(1, "from here")

    assert [TextOutput("from here"), TextOutput("from the client")] == outputs(run)


def test_a_client_cannot_answer_a_call_that_waits_for_an_approval() -> None:
    """Otherwise a client could do without asking."""
    run = started(program(guarded(executes=False)))
    run.reply(call("pay"))
    before = run.state
    run.finish(outcome="paid")

    assert before is run.state

    run.answer()

    assert (OpenCall(0, 0, 0, call("pay")),) == run.open()

    run.finish(outcome="paid")

    assert [TextOutput("paid")] == outputs(run)
    assert ApprovalResponse("r/0/0", approved=True) in run.state.messages[-1].content


def test_a_client_tool_that_a_policy_approved_waits_for_the_client() -> None:
    """Approval opens the call; it does not run it."""
    run = started(program(policed(executes=False)))
    run.reply(call("pay"))
    run.decide("approved")

    assert (OpenCall(0, 0, 0, call("pay")),) == run.open()


# --- the two barriers -------------------------------------------------------------------------


def test_nothing_runs_until_every_call_is_resolved() -> None:
    """Budgets are reserved in call order, not in the order of answers (barrier 1)."""
    run = started(program(policed(), tool(), tool("book", binds=True), repairs=True))
    run.reply(*calls("pay", "look"), call("book", id="c3"), call("look", "{", id="c4"))
    run.bind(2)
    run.repair(3, "{}")

    assert not any(isinstance(command, RunTool) for command in run.commands)

    run.decide("not-applicable", 0)

    assert [command.key.index for command in run.issued() if isinstance(command, RunTool)] == [
        0,
        1,
        2,
        3,
    ]


def test_nothing_is_written_until_none_runs() -> None:
    """Answers stand in call order, whatever the order in which they came (barrier 2)."""
    run = started(program(tool()))
    run.reply(*calls("look", "look", "look"))
    run.finish(2, "three")
    run.finish(0, "one")

    assert len(run.state.messages) == 1

    run.finish(1, "two")

    assert [TextOutput("one"), TextOutput("two"), TextOutput("three")] == outputs(run)


def test_results_and_errors_are_kept_as_they_came() -> None:
    """What the program keeps may differ from what the model sees; errors may be typed."""
    run = started(program(tool()))
    run.reply(*calls("look", "look"))
    run.finish(0, ToolSucceeded(TextOutput("warm"), JsonText('{"celsius":21}')))
    run.finish(1, ToolFailed("no such city", "failed", JsonText('{"city":"Olso"}')))
    step = run.state.steps[0]

    assert JsonText('{"celsius":21}') == step.tool_results[0].json
    assert JsonText('{"city":"Olso"}') == step.tool_errors[0].value
    assert ErrorTextOutput("no such city") == run.answers[1].output
    assert [
        ToolFinished(CallKey(0, 0, 0), step.tool_results[0]),
        ToolFinished(CallKey(0, 1, 0), step.tool_errors[0]),
    ] == run.told(ToolFinished)


def test_the_time_of_each_tool_is_kept() -> None:
    """Never negative, even if two clocks disagree."""
    run = started(program(tool()))
    run.reply(*calls("look", "look"))
    run.finish(0, took=7)
    run.finish(1, took=-7)

    assert run.state.steps[0].performance.tool_time == (("c1", 7), ("c2", 0))


def test_what_belongs_to_the_provider_comes_back_with_the_answer() -> None:
    """Some providers want their signature back beside the result."""
    options = JsonText('{"acme":{"signature":"x"}}')
    run = started(program(tool()))
    run.reply(ToolCall("c1", "look", "{}", dynamic=True, provider_options=options))
    run.finish()

    assert options == run.answers[0].provider_options
    assert run.answers[0].dynamic


def test_a_tool_has_until_its_deadline() -> None:
    """The deadline is fixed when the tool is issued."""
    run = started(program(tool(timeout=500)), at=1000)
    run.reply(call())

    assert (RunTool(CallKey(0, 0, 0), "look", run.state.now + 500),) == run.issued()


def test_a_second_result_changes_nothing() -> None:
    """The first answer counts."""
    run = started(program(tool()))
    run.reply(*calls("look", "look"))
    event = ToolReturned(run.key(0), succeeded(), run.soon, started=0)
    run.feed(event)
    before = run.state
    run.feed(event)

    assert before is run.state


# --- limits of calls --------------------------------------------------------------------------


def test_the_limit_of_tool_calls_is_reserved_in_call_order_and_stops_the_run() -> None:
    """The calls over it are answered, and the run ends with all that was done (law 9)."""
    run = started(program(tool(), limits=Limits(tool_calls=2)))
    run.reply(*calls("look", "look", "look"))

    assert len(run.issued()) == 2

    run.finish(1)
    run.finish(0)

    assert Stopped(Stop("limit-tool-calls", JsonText('{"reached":2,"limit":2}'))) == run.end
    assert (
        ErrorTextOutput("not run: the run's limit of 2 tool calls is used up")
        == run.answers[2].output
    )


def test_a_limit_of_one_tool_refuses_its_calls_and_goes_on() -> None:
    """The model may do without it."""
    run = started(program(tool(), tool("pay"), limits=Limits(calls_of=(("pay", 1),))))
    run.reply(*calls("pay", "pay", "look"))
    run.finish(0)
    run.finish(2)

    assert (
        ErrorTextOutput("not run: the limit of 1 calls of pay is used up; go on without it")
        == run.answers[1].output
    )
    assert isinstance(run.issued()[0], CallModel)
    assert run.state.ledger.issued == (("pay", 1),)
    assert run.state.ledger.total_issued == 2


def test_a_limit_of_none_runs_none() -> None:
    """Everything is refused, and the run goes on at once."""
    run = started(program(tool(), limits=Limits(calls_of=(("look", 0),))))
    run.reply(call())

    assert isinstance(run.issued()[0], CallModel)
    assert run.state.ledger.total_issued == 0


def test_limits_count_over_all_steps() -> None:
    """What was issued stays issued."""
    run = started(program(tool(), limits=Limits(tool_calls=2)))
    run.reply(call(id="c1"))
    run.finish()
    run.reply(call(id="c2"))
    run.finish()
    run.reply(call(id="c3"))

    assert isinstance(run.end, Stopped)
    assert run.state.ledger.total_issued == 2


def test_a_limit_that_was_met_before_a_person_answered_still_stops_the_run() -> None:
    """That a call was refused is not forgotten while the run rests."""
    run = started(program(guarded(), tool(), limits=Limits(tool_calls=1)))
    run.reply(*calls("look", "look", "pay"))
    run.finish(0)
    run.answer(2, approved=False)

    assert Stopped(Stop("limit-tool-calls", JsonText('{"reached":1,"limit":1}'))) == run.end


def test_a_json_result_is_shown_as_json() -> None:
    """What the shell encoded goes through untouched."""
    run = started(program(tool()))
    run.reply(call())
    run.finish(outcome=ToolSucceeded(JsonOutput(JsonText('{"celsius":21}'))))

    assert [JsonOutput(JsonText('{"celsius":21}'))] == outputs(run)


def test_an_acceptable_call_is_told_once() -> None:
    """Streams show a call when it has been accepted, in call order."""
    run = started(program(tool(), guarded()))
    run.reply(*calls("look", "pay"))

    assert [note.call.tool_call_id for note in run.told(CallRequested)] == ["c1", "c2"]


# --- limits of what clients run ---------------------------------------------------------------


def test_a_limit_covers_what_clients_run_in_call_order() -> None:
    """Whoever runs a call, it is one call."""
    limited = program(tool(executes=False), policed(), limits=Limits(tool_calls=1))
    run = started(limited)
    run.reply(call("pay"), call("look", id="c2"))
    assert run.open() == ()
    run.decide("approved")

    assert [type(command) for command in run.issued()] == [RunTool]
    assert run.open() == ()
    run.finish()

    assert isinstance(run.end, Stopped)
    assert [error.kind for error in run.state.steps[0].tool_errors] == ["limit"]


def test_a_limit_of_a_client_tool_refuses_its_calls() -> None:
    run = started(program(tool(executes=False), limits=Limits(calls_of={"look": 1})))
    run.reply(*calls("look", "look"))

    assert [request.call.tool_call_id for request in run.open()] == ["c1"]
    assert run.state.ledger.issued == (("look", 1),)


def test_an_approved_call_of_a_client_is_opened_in_call_order() -> None:
    """Which of two calls gets the last of the budget is not for the quicker person to decide."""
    limited = program(guarded(executes=False), limits=Limits(tool_calls=1))
    run = started(limited)
    run.reply(call("pay"), call("pay", '{"n":1}', id="c2"))
    run.answer(1)
    assert [type(request) for request in run.open()] == [OpenApproval]
    run.answer(0)

    assert [request.call.tool_call_id for request in run.open()] == ["c1"]


def test_an_approved_call_of_a_client_is_opened_at_once_where_nothing_limits_it() -> None:
    run = started(program(guarded(executes=False), tool(executes=False)))
    run.reply(call("pay"), call(id="c2"))
    run.answer(0)

    assert [type(request) for request in run.open()] == [OpenCall, OpenCall]
    assert run.state.ledger.total_issued == 2


def test_an_invalid_call_of_a_cut_reply_is_told_so() -> None:
    """The model may say less next time."""
    run = started(program(tool()))
    run.reply(call(text='{"n":'), finish="length")

    assert run.answers[0].output.value.endswith("; the reply ended: length")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("lok", "no tool is named 'lok'; did you mean 'look'? the tools are: look, pay"),
        ("LOOK", "no tool is named 'LOOK'; did you mean 'look'? the tools are: look, pay"),
        ("xyz", "no tool is named 'xyz'; the tools are: look, pay"),
    ],
)
def test_the_tool_that_was_meant_is_named(name: str, told: str) -> None:
    run = started(program(tool(), tool("pay")))
    run.reply(call(name))

    [rejected] = run.told(CallRejected)
    assert rejected.error == told


def test_a_denied_call_keeps_what_belongs_to_the_provider() -> None:
    options = JsonText('{"acme":{"id":1}}')
    run = started(program(guarded()))
    run.reply(ToolCall("c1", "pay", "{}", provider_options=options))
    run.answer(approved=False)

    assert run.answers[0].provider_options == options


# --- what is told of a call -------------------------------------------------------------------


LABELLED = evolve(
    call(),
    dynamic=True,
    title="Look",
    tool_metadata=JsonText('{"icon":"eye"}'),
    provider_options=JsonText('{"acme":{}}'),
)


@pytest.mark.parametrize("outcome", [succeeded(), ToolFailed("no"), None])
def test_an_answer_is_labelled_as_its_call(outcome: ToolSucceeded | ToolFailed | None) -> None:
    """Who shows calls to people shows the answer in the same place; a denial is one too."""
    part = denied_part(LABELLED, None) if outcome is None else outcome_part(LABELLED, outcome)

    assert part.dynamic
    assert part.title == "Look"
    assert part.tool_metadata == JsonText('{"icon":"eye"}')
    assert part.provider_options == JsonText('{"acme":{}}')


def kinds(run: Run) -> list[str]:
    """List what kinds of errors stand in the steps."""
    return [
        part.kind
        for step in run.state.steps
        for part in step.content
        if isinstance(part, ToolError)
    ]


def test_a_call_beyond_the_limit_of_its_tool_is_no_failure_of_the_tool() -> None:
    """The step says that a limit refused it."""
    run = started(program(tool(), limits=Limits(calls_of={"look": 1})))
    run.reply(*calls("look", "look"))
    run.finish()

    assert kinds(run) == ["limit"]


def test_a_limit_of_one_tool_does_not_hold_back_another() -> None:
    """A client's call that was approved is opened at once, though others are not answered yet."""
    client = guarded("ask", executes=False)
    run = started(program(client, tool(), limits=Limits(calls_of={"look": 1})))
    run.reply(*calls("ask", "ask"))
    run.answer(0)

    assert [note.key.index for note in run.told(CallOpened)] == [0]


# --- what it costs ----------------------------------------------------------------------------


def test_a_call_that_may_run_already_is_not_copied() -> None:
    slot = slot_of(0, call())

    assert permit(slot) is slot


def test_a_slot_at_its_own_place_is_found_without_a_search() -> None:
    """Answering many calls of a step costs no more for each."""

    @final
    class Unsearched(list[Slot]):
        """Refuses to be walked through."""

        @override
        def __iter__(self) -> NoReturn:
            raise AssertionError

    slots = Unsearched([slot_of(index, call()) for index in range(3)])

    assert [position_of(slots, index) for index in range(3)] == [0, 1, 2]
