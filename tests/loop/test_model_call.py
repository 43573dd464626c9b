"""What a reply means, and what is done when there is none."""

import pytest
from attrs import evolve

from stepfold.loop import (
    Calling,
    Done,
    Limits,
    RetryPolicy,
    ToolSpec,
    Waiting,
    is_step_count,
    request_of,
)
from stepfold.loop._draft import Draft
from stepfold.loop._model_call import taken_in
from stepfold.loop.commands import CallKey, CallModel, ModelCallKey, RunTool, Wait
from stepfold.loop.events import Cancelled, ModelFailed, StepPlan
from stepfold.loop.notes import (
    CallRejected,
    CallRequested,
    ModelRetried,
    StepFinished,
    ToolFinished,
)
from stepfold.values import (
    ApprovalRequest,
    CallSettings,
    Completed,
    ErrorTextOutput,
    Failed,
    FinishReason,
    JsonText,
    ModelErrorKind,
    ModelErrorReason,
    NamedTool,
    Stopped,
    Text,
    TextOutput,
    ToolCall,
    ToolChoice,
    ToolChoiceViolated,
    ToolError,
    ToolResult,
    UnifiedFinishReason,
    Usage,
)
from tests.loop._scenario import (
    ONE,
    REFUSED,
    SECOND,
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

NO_WAIT = RetryPolicy(jitter=0, initial_delay=0)
CUT: tuple[UnifiedFinishReason, ...] = ("length", "content-filter", "other", "interrupted")


def stop_name(run: Run) -> str:
    """Name the stop that ended a run."""
    end = run.end

    assert isinstance(end, Stopped)
    return end.stop.name


# --- the table of replies ---------------------------------------------------------------------


@pytest.mark.parametrize("finish", ["stop", "tool-calls"])
def test_a_normal_reply_without_calls_completes_the_run(finish: UnifiedFinishReason) -> None:
    """The word for the end is not what decides: nothing is left to answer."""
    run = started(program(tool()))
    run.reply("It is warm.", finish=finish)

    assert Completed(json("It is warm.")) == run.end


@pytest.mark.parametrize("finish", ["stop", "tool-calls"])
def test_a_normal_reply_with_calls_runs_them(finish: UnifiedFinishReason) -> None:
    """Some providers say `stop` and mean `tool-calls`."""
    run = started(program(tool()))
    run.reply(call(), finish=finish)

    assert (RunTool(CallKey(0, 0, 0), "look"),) == run.issued()


@pytest.mark.parametrize("finish", CUT)
def test_a_cut_reply_without_calls_stops_the_run(finish: UnifiedFinishReason) -> None:
    """The run tells why it stopped, in the provider's word too."""
    run = started(program())
    run.reply("It is", finish=finish, raw="max_tokens")

    assert finish == stop_name(run)
    assert run.state.steps[0].text == "It is"
    assert run.phase(Done).end.stop.evidence.text == '{"raw":"max_tokens"}'  # type: ignore[union-attr]


@pytest.mark.parametrize("finish", CUT)
def test_a_truncated_reply_never_runs_a_tool(finish: UnifiedFinishReason) -> None:
    """The arguments may be cut, even where they parse (law 13)."""
    run = started(program(tool()))
    run.reply(call("look", '{"bad":1}'), call(id="c2"), finish=finish)

    assert finish == stop_name(run)
    assert run.issued() == ()
    assert [error.kind for error in run.state.steps[0].tool_errors] == ["invalid", "not-run"]
    assert [note.key.index for note in run.told(ToolFinished)] == [0, 1]
    assert ErrorTextOutput(f"not run: the reply ended: {finish}") == run.answers[1].output


@pytest.mark.parametrize("finish", [*CUT, "error"])
def test_a_cut_reply_of_invalid_calls_only_is_answered_and_goes_on(
    finish: UnifiedFinishReason,
) -> None:
    """There is nothing to lose: the model reads its errors and tries again."""
    run = started(program(tool()))
    run.reply(call("look", '{"ci'), finish=finish)

    assert (CallModel(ModelCallKey(1, 0), ONE),) == run.issued()
    assert run.state.steps[0].tool_errors[0].kind == "invalid"


@pytest.mark.parametrize("names", [(), ("look",)])
def test_a_reply_that_ends_with_an_error_fails_the_run(names: tuple[str, ...]) -> None:
    """What was said is kept; valid calls are closed, not run."""
    run = started(program(tool()))
    run.reply("It", *calls(*names), finish="error", raw="overload")

    assert (
        Failed(
            ModelErrorReason("unknown", "the model ended its reply with an error", code="overload")
        )
        == run.end
    )
    assert run.state.steps[0].text == "It"
    assert len(names) == len(run.answers)


@pytest.mark.parametrize(
    ("choice", "names", "message"),
    [
        ("none", ("look",), "expected no tool call, got one of 'look'"),
        ("required", (), "expected a tool call, got none"),
        (NamedTool("pay"), ("look",), "expected a call of pay, got look"),
        (NamedTool("pay"), (), "expected a call of pay, got no call"),
    ],
)
def test_a_reply_that_violates_the_tool_choice_fails_the_run(
    choice: ToolChoice, names: tuple[str, ...], message: str
) -> None:
    """Its calls are closed, none is run."""
    run = started(program(tool(), tool("pay"), tool_choice=choice))
    run.reply(*calls(*names))

    assert Failed(ToolChoiceViolated(message)) == run.end
    assert ["not run: the tool choice was not honoured"] * len(names) == [
        error.error for error in run.state.steps[0].tool_errors
    ]


def test_a_violation_counts_even_if_all_calls_are_invalid() -> None:
    """A model that ignores the choice is not asked to try again."""
    run = started(program(tool(), tool_choice="none"))
    run.reply(call("look", '{"bad":1}'), finish="length")

    assert Failed(ToolChoiceViolated("expected no tool call, got one of 'look'")) == run.end


@pytest.mark.parametrize(
    ("choice", "names"),
    [("required", ("look",)), (NamedTool("look"), ("pay", "look")), ("none", ())],
)
def test_an_honoured_tool_choice_goes_on(choice: ToolChoice, names: tuple[str, ...]) -> None:
    """A named tool has to be among the calls; others may stand beside it."""
    run = started(program(tool(), tool("pay"), tool_choice=choice))
    run.reply(*calls(*names))

    assert len(names) == len(run.issued())


@pytest.mark.parametrize("choice", ["required", NamedTool("look")])
def test_a_cut_reply_could_not_honour_the_choice(choice: ToolChoice) -> None:
    """A reply that was cut before its calls is cut, and no violation."""
    run = started(program(tool(), tool_choice=choice))
    run.reply("Let me", finish="length")

    assert stop_name(run) == "length"


@pytest.mark.parametrize("finish", ["stop", "length", "error"])
def test_the_reply_to_a_wrap_up_never_changes_the_end(finish: UnifiedFinishReason) -> None:
    """The run stays stopped by what stopped it, whatever the last answer is like."""
    run = started(program(tool(), stop_when=is_step_count(1), limits=Limits(wrap_up_tokens=100)))
    run.reply(call())
    run.finish()
    run.reply("In short.", call(id="c2"), call("look", '{"bad":1}', id="c3"), finish=finish)

    assert stop_name(run) == "is_step_count"
    assert [error.kind for error in run.state.steps[1].tool_errors] == ["not-run", "invalid"]
    assert json("In short.") == run.phase(Done).output


# --- names of calls ---------------------------------------------------------------------------


def test_blank_and_repeated_ids_are_named_after_their_position() -> None:
    """Ids of calls are unique in a run, so that each answer has one call."""
    run = started(program(tool()))
    run.reply(call(id=""), call(id="c1"), call(id="c1"))

    assert [note.call.tool_call_id for note in run.told(CallRequested)] == ["r/0/0", "c1", "r/0/2"]


def test_an_id_of_an_earlier_step_is_taken() -> None:
    """Some models count their calls anew in each reply."""
    run = started(program(tool()))
    run.reply(call(id="c1"))
    run.finish()
    run.reply(call(id="c1"))

    assert [note.call.tool_call_id for note in run.told(CallRequested)] == ["c1", "r/1/0"]


def test_a_derived_id_that_is_taken_is_derived_further() -> None:
    """A model may say what the loop would have derived."""
    run = started(program(tool()))
    run.reply(call(id="r/0/1"), call(id=""))

    assert [note.call.tool_call_id for note in run.told(CallRequested)] == ["r/0/1", "r/0/1'"]


def test_what_belongs_to_a_renamed_call_is_renamed_with_it() -> None:
    """Results, errors and requests of a provider follow the call that they are about."""
    run = started(program(tool()))
    run.reply(
        ToolCall("", "search", "{}", provider_executed=True),
        ToolResult("", "search", TextOutput("found"), provider_executed=True),
        ToolError("", "search", "no", provider_executed=True),
        ApprovalRequest("a1", ""),
        ToolResult("other", "search", TextOutput("late"), provider_executed=True),
    )
    content = run.state.steps[0].content

    assert [
        part.tool_call_id
        for part in content
        if isinstance(part, ToolCall | ToolResult | ToolError | ApprovalRequest)
    ] == ["r/0/0"] * 4 + ["other"]


def test_ids_that_are_unique_are_kept() -> None:
    """The reply is not copied for nothing."""
    run = started(program(tool()))
    result = ToolResult("p1", "search", TextOutput("found"), provider_executed=True)
    reply = reply_of(ToolCall("p1", "search", "{}", provider_executed=True), result, "So.")
    run.reply(*reply.content)

    assert reply.content == run.state.steps[0].content


# --- provider-executed calls ------------------------------------------------------------------


def test_a_call_that_the_provider_executes_is_not_ours() -> None:
    """It is kept with its result; nothing is run for it."""
    run = started(program())
    run.reply(
        ToolCall("p1", "search", "{}", provider_executed=True),
        ToolResult("p1", "search", TextOutput("found"), provider_executed=True),
        "It is warm.",
    )

    assert Completed(json("It is warm.")) == run.end
    assert tuple(call.tool_call_id for call in run.state.steps[0].tool_calls) == ("p1",)


def test_client_calls_are_counted_without_those_of_the_provider() -> None:
    """The index of a call is its place among the client calls."""
    run = started(program(tool()))
    run.reply(ToolCall("p1", "search", "{}", provider_executed=True), call())

    assert (RunTool(CallKey(0, 0, 0), "look"),) == run.issued()


# --- what it cost -----------------------------------------------------------------------------


def test_usage_is_summed_and_unknown_usage_counts_as_what_was_reserved() -> None:
    """A provider that reports nothing does not make a run free (law 9)."""
    run = started(program(tool()))
    run.reply(call(), usage=Usage(10, 5))
    run.finish()
    reserved = run.state.ledger.reserved
    run.reply("Done.")

    assert reserved == 15
    assert Usage(10, 5) == run.state.usage
    assert run.state.ledger.spent == 30
    assert run.state.ledger.reserved == 0


def test_calls_of_known_tools_are_counted() -> None:
    """Refused and invalid calls count; tools that do not exist do not."""
    run = started(program(tool(), tool("pay")))
    run.reply(call(), call("pay", "{", id="c2"), call("none", id="c3"), call(id="c4"))

    assert run.state.ledger.called == (("look", 2), ("pay", 1))


# --- retries and fallbacks --------------------------------------------------------------------


def test_a_failure_that_may_pass_is_tried_again_after_a_pause() -> None:
    """The pause is a command; the next attempt has another key."""
    run = started(program(retry=RetryPolicy(jitter=0)), at=100)
    run.fail()
    until = run.state.now + 2 * SECOND

    assert (Wait(ModelCallKey(0, 1), until),) == run.issued()
    assert [ModelRetried(0, 1, ONE, SERVER, until)] == run.told(ModelRetried)

    run.wait()

    assert (CallModel(ModelCallKey(0, 1), ONE),) == run.issued()
    assert until == run.state.now


def test_pauses_grow_up_to_a_limit() -> None:
    """The pause before retry n is `initial_delay * factor**(n-1)`, at most `max_delay`."""
    policy = RetryPolicy(max_retries=4, initial_delay=1, factor=3, max_delay=10, jitter=0)
    run = started(program(retry=policy))
    pauses = []
    for _ in range(4):
        run.fail()
        pauses.append((run.phase(Waiting).until - run.state.now) // SECOND)
        run.wait()

    assert pauses == [1, 3, 9, 10]


def test_however_often_it_is_tried_the_pause_stays_at_its_limit() -> None:
    """Growth without end is no number any more, and no reason to raise (law 3)."""
    run = started(program(retry=RetryPolicy(max_retries=5000, jitter=0, max_delay=60)))
    calling = evolve(run.phase(Calling), attempt=4000, total=4000)
    run.transition = evolve(run.transition, state=evolve(run.state, phase=calling))
    run.fail()

    assert run.phase(Waiting).until - run.state.now == 60 * SECOND


def test_the_jitter_is_drawn_from_the_seed() -> None:
    """The same run waits equally long each time, within its share; other seeds wait otherwise."""
    policy = RetryPolicy(initial_delay=8, jitter=0.25)

    def pause(seed: int) -> int:
        run = started(program(retry=policy), seed=seed)
        run.fail()
        return run.phase(Waiting).until - run.state.now

    pauses = {pause(seed) for seed in range(50)}

    assert pause(7) == pause(7)
    assert len(pauses) == 50
    assert 6 * SECOND <= min(pauses) < 7 * SECOND
    assert 9 * SECOND < max(pauses) <= 10 * SECOND


@pytest.mark.parametrize("asked", [0, 5 * SECOND, 60 * SECOND])
def test_what_the_server_asks_for_is_kept_exactly(asked: int) -> None:
    """`retry-after` beats the policy, and has no jitter."""
    run = started(program())
    run.fail(evolve(SERVER, retry_after=asked))

    assert asked == run.phase(Waiting).until - run.state.now


def test_a_server_that_asks_for_the_past_is_not_waited_for() -> None:
    """Time never runs back."""
    run = started(program())
    run.fail(evolve(SERVER, retry_after=-5))

    assert run.state.now == run.phase(Waiting).until


def test_a_server_that_asks_for_too_long_is_not_asked_again() -> None:
    """Over `max_retry_after` the next model is asked, or the run ends."""
    reason = evolve(SERVER, retry_after=61 * SECOND)
    run = started(program())
    run.fail(reason)

    assert Failed(reason) == run.end


def test_retries_are_counted() -> None:
    """After `max_retries` the failure is the end."""
    run = started(program(retry=evolve(NO_WAIT, max_retries=1)))
    run.fail()
    run.wait()
    run.fail()

    assert Failed(SERVER) == run.end


def test_a_failure_that_will_not_pass_is_not_tried_again() -> None:
    """A wrong key stays wrong."""
    run = started(program())
    run.fail(REFUSED)

    assert Failed(REFUSED) == run.end


def test_the_next_model_is_asked_at_once() -> None:
    """A fallback does not wait, and counts its own retries."""
    run = started(program(models=(ONE, TWO), retry=evolve(NO_WAIT, max_retries=1)))
    run.fail()
    run.wait()
    run.fail()

    assert (CallModel(ModelCallKey(0, 2), TWO),) == run.issued()
    assert ModelRetried(0, 2, TWO, SERVER, run.state.now) == run.told(ModelRetried)[-1]

    run.fail()
    run.wait()
    run.fail(REFUSED)

    assert Failed(REFUSED) == run.end
    assert len(run.told(ModelRetried)) == 3


def test_each_step_asks_the_first_model_again() -> None:
    """A fallback is for one step."""
    run = started(program(tool(), models=(ONE, TWO)))
    run.fail(REFUSED)
    run.reply(call())
    run.finish()

    assert (CallModel(ModelCallKey(1, 0), ONE),) == run.issued()
    assert run.state.steps[0].model == TWO


def test_the_kinds_of_failure_that_fall_over_are_the_policys() -> None:
    """Any other ends the run, after the retries that it is worth."""
    policy = RetryPolicy(max_retries=0, fallback_on=("server",))
    run = started(program(models=(ONE, TWO), retry=policy))
    run.fail()

    assert (CallModel(ModelCallKey(0, 1), TWO),) == run.issued()

    run = started(program(models=(ONE, TWO), retry=policy))
    run.fail(REFUSED)

    assert Failed(REFUSED) == run.end


def test_the_model_of_a_plan_falls_over_to_all_others() -> None:
    """It is the first of its step; no model is asked twice."""
    run = started(program(models=(ONE, TWO, "acme/three"), prepares=True))
    run.prepare(StepPlan(model=TWO))
    asked = [TWO]
    for _ in range(2):
        run.fail(REFUSED)
        asked += [command.model for command in run.issued() if isinstance(command, CallModel)]
    run.fail(REFUSED)

    assert asked == [TWO, ONE, "acme/three"]
    assert Failed(REFUSED) == run.end


def test_a_model_that_the_program_has_lost_has_no_fallback() -> None:
    """A run may be taken up by a program that no longer names its model."""
    run = started(program())
    run.program = program(models=(TWO,))
    run.fail(REFUSED)

    assert Failed(REFUSED) == run.end


def test_the_time_of_retries_counts_as_response_time() -> None:
    """A user waits for the answer, not for the last attempt."""
    run = started(program(retry=RetryPolicy(jitter=0, initial_delay=1)))
    run.fail()
    run.wait()
    run.reply("Done.")

    assert run.state.now == run.state.steps[0].performance.response_time
    assert run.state.now > SECOND


def test_what_had_come_is_kept_when_the_last_attempt_fails() -> None:
    """A partial reply becomes a step of its own; its calls are closed."""
    run = started(program(tool()))
    partial = reply_of("It is", call(), finish="interrupted", usage=Usage(7, 3))
    run.fail(REFUSED, partial=partial)

    assert Failed(REFUSED) == run.end
    assert FinishReason("interrupted") == run.state.steps[0].finish_reason
    assert ErrorTextOutput("not run: authentication") == run.answers[0].output
    assert [CallKey(0, 0, 0)] == [note.key for note in run.told(ToolFinished)]
    assert run.state.ledger.spent == 10
    assert len(run.told(StepFinished)) == 1


def test_an_empty_partial_reply_is_no_step() -> None:
    """Nothing was said, so nothing is written."""
    run = started(program())
    run.fail(REFUSED, partial=reply_of(finish="interrupted"))

    assert run.state.steps == ()
    assert len(run.state.messages) == 1


@pytest.mark.parametrize(("kind", "spent"), [("rate-limit", 15), ("server", 30)])
def test_a_rejected_request_costs_nothing_and_a_broken_one_what_was_reserved(
    kind: ModelErrorKind, spent: int
) -> None:
    """A provider that refuses has done no work; one that broke may have (law 9)."""
    run = started(program(tool()))
    run.reply(call(), usage=Usage(10, 5))
    run.finish()
    run.fail(ModelErrorReason(kind, "no"))

    assert spent == run.state.ledger.spent
    assert run.state.ledger.reserved == 0


def test_a_failed_wrap_up_never_changes_the_end() -> None:
    """The run was stopped already; its last answer is a courtesy."""
    run = started(program(tool(), stop_when=is_step_count(1), limits=Limits(wrap_up_tokens=100)))
    run.reply(call())
    run.finish()
    run.fail(REFUSED)

    assert stop_name(run) == "is_step_count"
    assert run.phase(Done).output is None


def test_a_retry_that_the_budget_leaves_no_room_for_is_not_made() -> None:
    """Failed attempts count, so trying again may be over the limit (law 9)."""
    run = started(program(tool(), limits=Limits(tokens=40), retry=NO_WAIT))
    run.reply(call(), usage=Usage(10, 5))
    run.finish()
    run.fail()
    run.wait()

    assert stop_name(run) == "limit-tokens"
    assert run.state.ledger.reserved == 0


def test_a_fallback_that_the_budget_leaves_no_room_for_is_not_asked() -> None:
    """The hard limit holds for every attempt (law 9)."""
    run = started(program(tool(), models=(ONE, TWO), limits=Limits(tokens=40)))
    run.reply(call(), usage=Usage(10, 5))
    run.finish()
    run.fail(ModelErrorReason("protocol", "cut"))
    run.wait()

    assert stop_name(run) == "limit-tokens"


def test_a_retry_is_capped_by_what_the_failed_attempt_left() -> None:
    """`spent + reserved + max_output_tokens` stays within the limit at every attempt (law 9)."""
    run = started(program(tool(), limits=Limits(tokens=100), retry=NO_WAIT))
    run.reply(call(), usage=Usage(10, 5))
    run.finish()
    first = request_of(run.program, run.state).settings.max_output_tokens
    run.fail()
    run.wait()
    second = request_of(run.program, run.state).settings.max_output_tokens

    assert first == 100 - 15 - 15
    assert second == 100 - 30 - 15


def test_a_cap_of_the_users_holds_for_every_attempt() -> None:
    """What was asked for is asked for again."""
    settings = CallSettings(max_output_tokens=20)
    run = started(program(limits=Limits(tokens=100), retry=NO_WAIT, settings=settings))
    run.fail()
    run.wait()

    assert request_of(run.program, run.state).settings.max_output_tokens == 20
    assert run.state.ledger.reserved == 20


def test_a_plan_decides_what_is_visible_in_its_step() -> None:
    """A call of a tool that was not active is answered with the names of those that were."""
    run = started(program(tool(), tool("pay"), prepares=True))
    run.prepare(StepPlan(active_tools=("pay",)))
    run.reply(call("look"), call("pay", id="c2"))

    assert [note.error for note in run.told(CallRejected)] == [
        "no tool is named 'look'; the tools are: pay"
    ]
    assert (RunTool(CallKey(0, 1, 0), "pay"),) == run.issued()


def test_the_choice_of_a_plan_is_the_one_to_be_honoured() -> None:
    """It holds for its step only."""
    run = started(program(tool(), prepares=True))
    run.prepare(StepPlan(tool_choice="required"))
    run.reply("No.")

    assert Failed(ToolChoiceViolated("expected a tool call, got none")) == run.end


# --- tools that ask somebody ------------------------------------------------------------------


@pytest.mark.parametrize("spec", [guarded(), policed(), tool("pay", binds=True)])
def test_a_truncated_reply_asks_nobody(spec: ToolSpec) -> None:
    """A call that will not run needs no approval, no binding and no decision."""
    run = started(program(spec))
    run.reply(call("pay"), finish="length")

    assert run.issued() == ()
    assert run.open() == ()
    assert stop_name(run) == "length"


def test_a_reply_may_run_through_to_the_next_call() -> None:
    """If all calls are invalid, one transition leads from reply to reply."""
    run = started(program(tool()))
    run.reply("Well,", call("none"))

    assert Text("Well,") == run.state.steps[0].content[0]
    assert run.phase(Calling).step == 1


def test_a_late_failure_of_an_attempt_that_was_given_up_changes_nothing() -> None:
    """A time-out and an answer may race."""
    run = started(program())
    key = run.phase(Calling).key
    run.fail()
    before = run.state
    run.feed(ModelFailed(key, SERVER, run.soon))

    assert before is run.state


def test_a_cancelled_pause_spends_nothing_more() -> None:
    """What was reserved was settled when the attempt failed."""
    run = started(program())
    run.fail()
    run.feed(Cancelled("enough", run.soon, partial=reply_of("x", usage=Usage(5, 5))))

    assert run.state.ledger.reserved == 0
    assert run.state.steps == ()


# --- what is kept of a reply ------------------------------------------------------------------


def test_a_call_says_what_its_tool_is() -> None:
    """For who shows calls to people; a part that says itself that it is dynamic stays so."""
    known = evolve(tool("open"), title="Open", metadata=json("door"), dynamic=True)
    run = started(program(known, evolve(tool(), title="Look")))
    run.reply(call("open", id="c1"), evolve(call("look", id="c2"), dynamic=True))
    run.finish(0)
    run.finish(1)

    assert [
        (part.title, part.tool_metadata, part.dynamic)
        for part in run.state.steps[0].content
        if isinstance(part, ToolCall)
    ] == [("Open", json("door"), True), ("Look", None, True)]


def test_one_id_that_is_taken_is_enough_to_be_renamed() -> None:
    """The other call keeps its own."""
    run = started(program(tool()))
    run.reply(call(id="c1"))
    run.finish()
    run.reply(call(id="c1"), call(id="c2"))
    run.finish(0)
    run.finish(1)

    ids = [
        part.tool_call_id
        for step in run.state.steps
        for part in step.content
        if isinstance(part, ToolCall)
    ]
    assert len(set(ids)) == 3
    assert ids[2] == "c2"


def test_of_a_long_reason_the_beginning_is_kept() -> None:
    """What a provider says is no place for a novel."""
    run = started(program())
    run.reply("It", finish="other", raw="x" * 300)

    assert isinstance(run.end, Stopped)
    assert run.end.stop.evidence == JsonText.of({"raw": "x" * 200})


def test_of_calls_that_were_not_asked_for_the_first_are_named() -> None:
    """A model can invent any name, of any length."""
    run = started(program(tool(), tool_choice=NamedTool("look")))
    run.reply(call("y" * 300))

    assert isinstance(run.end, Failed)
    assert isinstance(run.end.error, ToolChoiceViolated)
    assert run.end.error.message == f"expected a call of look, got {'y' * 200}"


def test_a_reply_without_fault_is_kept_as_it_came() -> None:
    """Its calls have ids of their own, so that nothing is to be named."""
    reply = reply_of("Let me see.", call(), call("pay", id="c2"))
    kept, made = taken_in(program(tool()), Draft(started(program(tool())).state), 0, reply)

    assert kept is reply
    assert len(made) == 2
