"""How a step comes to rest: what is written, and how the run goes on."""

import pytest

from stepfold.loop import (
    Calling,
    Checking,
    Done,
    Limits,
    OutputSpec,
    Progress,
    Resting,
    StopCondition,
    is_step_count,
    request_of,
    stop_if,
)
from stepfold.loop.commands import CallModel, CheckStop, ModelCallKey, PrepareStep
from stepfold.loop.events import StepPlan
from stepfold.loop.notes import (
    RunBlocked,
    RunEnded,
    SteeringDelivered,
    SteeringDropped,
    StepStarted,
)
from stepfold.values import (
    AssistantMessage,
    CallSettings,
    Completed,
    Failed,
    Failure,
    HookFailed,
    JsonText,
    NoOutput,
    Outcome,
    Stop,
    Stopped,
    Success,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from tests.loop._scenario import (
    ONE,
    ProgramOptions,
    Run,
    call,
    calls,
    guarded,
    json,
    policed,
    program,
    started,
    tool,
)


def stop_name(run: Run) -> str:
    """Name the stop that ended a run."""
    end = run.end

    assert isinstance(end, Stopped)
    return end.stop.name


# --- what is written --------------------------------------------------------------------------


def test_a_step_leaves_one_message_of_the_model_and_one_of_its_tools() -> None:
    """Nothing is written while a tool runs, and everything at once after it."""
    run = started(program(tool(), tool("pay")))
    run.reply("Let me see.", *calls("look", "pay"))
    run.finish(1)
    run.finish(0)

    assert [UserMessage, AssistantMessage, ToolMessage] == [
        type(message) for message in run.state.messages
    ]


def test_a_reply_of_nothing_is_no_message() -> None:
    """An empty message is refused by every provider."""
    run = started(program())
    run.reply()

    assert Completed(json("")) == run.end
    assert len(run.state.messages) == 1
    assert len(run.state.steps) == 1


# --- the natural end --------------------------------------------------------------------------


def even(text: str) -> Outcome[JsonText, NoOutput]:
    """Accept an even number."""
    if text.isdecimal() and int(text) % 2 == 0:
        return Success(JsonText(text))
    return Failure(NoOutput("expected an even number", text))


EVEN = OutputSpec("even", even)


def test_the_output_is_what_the_specification_makes_of_the_last_text() -> None:
    """A run is complete only if it gives what was promised."""
    run = started(program(output=EVEN))
    run.reply("12")

    assert Completed(JsonText("12")) == run.end
    assert JsonText("12") == run.phase(Done).output


def test_a_final_answer_that_is_not_what_was_promised_fails_the_run() -> None:
    """What the model said instead is kept."""
    run = started(program(output=EVEN))
    run.reply("twelve")

    assert Failed(NoOutput("expected an even number", "twelve", finish_reason="stop")) == run.end
    assert [RunEnded(run.end)] == run.told(RunEnded)


# --- stop conditions --------------------------------------------------------------------------


def test_a_condition_stops_the_run_after_a_step() -> None:
    """The stop names the condition and its evidence."""
    run = started(program(tool(), stop_when=is_step_count(1)))
    run.reply(call())
    run.finish()

    assert Stopped(Stop("is_step_count", JsonText('{"reached":1,"limit":1}'))) == run.end


def test_conditions_are_asked_only_when_there_is_a_reason_to_go_on() -> None:
    """A final answer completes the run, even where a condition would stop it."""
    run = started(program(tool(), stop_when=is_step_count(1)))
    run.reply("Done.")

    assert Completed(json("Done.")) == run.end


def broken(_: Progress) -> Stop | None:
    """Fail."""
    raise LookupError("secret")


def untrue(_: Progress) -> Stop | None:
    """Answer what is no answer, as code without types does."""
    return True  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("condition", "exception"),
    [
        (broken, "LookupError"),
        (untrue, "TypeError: returned bool, not Stop or None"),
    ],
)
def test_a_condition_that_fails_ends_the_run(condition: StopCondition, exception: str) -> None:
    """`step` is total: the user's code may be wrong, and its text is not kept (law 3)."""
    run = started(program(tool(), stop_when=condition))
    run.reply(call())
    run.finish()

    assert Failed(HookFailed("stop_when", exception)) == run.end


def test_conditions_that_need_the_world_are_asked_by_a_command() -> None:
    """Pure ones come first; the answer of the others is an event."""
    run = started(program(tool(), checks_stop=True))
    run.reply(call())
    run.finish()

    assert (CheckStop(0),) == run.issued()
    assert Checking(0) == run.state.phase

    run.check(None)

    assert (CallModel(ModelCallKey(1, 0), ONE),) == run.issued()


def test_a_pure_condition_that_stops_spares_the_others() -> None:
    """Nobody is asked what is decided already."""
    run = started(program(tool(), checks_stop=True, stop_when=is_step_count(1)))
    run.reply(call())
    run.finish()

    assert stop_name(run) == "is_step_count"


def test_the_answer_of_a_condition_stops_the_run() -> None:
    """The reason is the condition's own."""
    run = started(program(tool(), checks_stop=True))
    run.reply(call())
    run.finish()
    run.check(Stop("budget"))

    assert Stopped(Stop("budget")) == run.end


def test_a_condition_in_the_world_that_fails_ends_the_run() -> None:
    """What raised is named."""
    run = started(program(tool(), checks_stop=True))
    run.reply(call())
    run.finish()
    run.check(HookFailed("stop_when", "OSError"))

    assert Failed(HookFailed("stop_when", "OSError")) == run.end


# --- hard limits ------------------------------------------------------------------------------


def test_the_limit_of_steps_is_never_exceeded() -> None:
    """It is checked before a step is taken (law 9)."""
    run = started(program(tool(), limits=Limits(steps=1)))
    run.reply(call())
    run.finish()

    assert Stopped(Stop("limit-steps", JsonText('{"reached":1,"limit":1}'))) == run.end


def test_no_steps_are_no_steps() -> None:
    """The AI SDK's `0` is unlimited; here it is a limit like any other."""
    run = started(program(limits=Limits(steps=0)))

    assert stop_name(run) == "limit-steps"
    assert run.issued() == ()


def test_a_call_that_the_budget_leaves_no_room_for_is_not_made() -> None:
    """What the next prompt will cost at least is counted before it is sent (law 9)."""
    run = started(program(tool(), limits=Limits(tokens=30)))
    run.reply(call(), usage=Usage(10, 5))
    run.finish()

    assert Stopped(Stop("limit-tokens", JsonText('{"reached":15,"limit":30}'))) == run.end


def test_the_reply_is_capped_to_what_the_budget_leaves() -> None:
    """The model is told how much it may say."""
    run = started(program(tool(), limits=Limits(tokens=100)))

    assert request_of(run.program, run.state).settings.max_output_tokens == 100

    run.reply(call(), usage=Usage(10, 5))
    run.finish()

    assert request_of(run.program, run.state).settings.max_output_tokens == 100 - 15 - 15
    assert run.state.ledger.reserved == 15


def test_a_call_with_a_cap_of_its_own_needs_room_for_all_of_it() -> None:
    """It is not capped further, but refused."""
    settings = CallSettings(max_output_tokens=50)
    run = started(program(tool(), limits=Limits(tokens=100), settings=settings))

    assert run.state.ledger.reserved == 50
    assert request_of(run.program, run.state).settings.max_output_tokens == 50

    run.reply(call(), usage=Usage(20, 10))
    run.finish()

    assert stop_name(run) == "limit-tokens"


# --- the wrap-up ------------------------------------------------------------------------------


def wrapped(run: Run) -> Calling:
    """Give the call that asks for a last answer."""
    calling = run.phase(Calling)

    assert calling.wrap is not None
    return calling


def test_a_wrap_up_asks_for_one_last_answer_without_tools() -> None:
    """The tools stay declared: some providers refuse a history with calls and no tools."""
    run = started(program(tool(), stop_when=is_step_count(1), limits=Limits(wrap_up_tokens=9)))
    run.reply(call())
    run.finish()
    request = request_of(run.program, run.state)

    assert getattr(wrapped(run).wrap, "name", None) == "is_step_count"
    assert request.tool_choice == "none"
    assert tuple(definition.name for definition in request.tools) == ("look",)

    run.reply("In short: warm.")

    assert stop_name(run) == "is_step_count"
    assert json("In short: warm.") == run.phase(Done).output


def test_a_last_answer_that_is_not_what_was_promised_is_no_output() -> None:
    """The end stays the stop."""
    run = started(
        program(tool(), stop_when=is_step_count(1), limits=Limits(wrap_up_tokens=9), output=EVEN)
    )
    run.reply(call())
    run.finish()
    run.reply("twelve")

    assert stop_name(run) == "is_step_count"
    assert run.phase(Done).output is None


def test_one_step_is_kept_back_for_the_wrap_up() -> None:
    """The last answer is inside the hard limit of steps (law 9)."""
    run = started(program(tool(), limits=Limits(steps=2, wrap_up_tokens=9)))
    run.reply(call())
    run.finish()

    assert getattr(wrapped(run).wrap, "name", None) == "limit-steps"

    run.reply("In short.")

    assert len(run.state.steps) == 2


def test_tokens_are_kept_back_for_the_wrap_up() -> None:
    """The last answer is inside the hard limit of tokens (law 9)."""
    run = started(program(tool(), limits=Limits(tokens=60, wrap_up_tokens=30)))

    assert request_of(run.program, run.state).settings.max_output_tokens == 30

    run.reply(call(), usage=Usage(10, 5))
    run.finish()

    assert getattr(wrapped(run).wrap, "name", None) == "limit-tokens"
    assert request_of(run.program, run.state).settings.max_output_tokens == 30


@pytest.mark.parametrize(
    "limits", [Limits(steps=0, wrap_up_tokens=9), Limits(tokens=30, wrap_up_tokens=9)]
)
def test_no_wrap_up_is_asked_for_where_the_limits_leave_no_room(limits: Limits) -> None:
    """A hard limit is a hard limit (law 9)."""
    run = started(program(tool(), stop_when=is_step_count(1), limits=limits))
    if isinstance(run.state.phase, Calling):
        run.reply(call(), usage=Usage(30, 5))
        run.finish()

    assert isinstance(run.end, Stopped)


def test_a_refused_call_stops_with_a_wrap_up_too() -> None:
    """Any stop may be followed by a last answer."""
    run = started(program(tool(), limits=Limits(tool_calls=0, wrap_up_tokens=9)))
    run.reply(call())

    assert getattr(wrapped(run).wrap, "name", None) == "limit-tool-calls"


# --- steering ---------------------------------------------------------------------------------


def test_a_steered_message_is_heard_at_the_next_step() -> None:
    """It stands after the results of the step, and belongs to the step that hears it."""
    run = started(program(tool()))
    run.reply(call())
    run.steer("In Oslo.")
    run.finish()

    assert UserMessage("In Oslo.") == run.state.messages[-1]
    assert [SteeringDelivered("m1", 1)] == run.told(SteeringDelivered)

    run.reply("Done.")

    assert (UserMessage("In Oslo."),) == run.state.steps[1].late
    assert run.state.steps[0].late == ()


def test_steered_messages_are_heard_in_the_order_in_which_they_came() -> None:
    """Several are delivered together; a queued one waits."""
    run = started(program(tool()))
    run.reply(call())
    run.queue("Thanks.", id="q1")
    run.steer("a", id="m1")
    run.steer("b", id="m2")
    run.finish()

    assert (UserMessage("a"), UserMessage("b")) == run.state.messages[-2:]
    assert [item.id for item in run.state.inbox.waiting] == ["q1"]


def test_steering_after_the_final_answer_goes_on() -> None:
    """Somebody has more to say, so the run is not at its end."""
    run = started(program())
    run.steer("And in Rome?")
    run.reply("It is warm in Oslo.")

    assert UserMessage("And in Rome?") == run.state.messages[-1]
    assert (CallModel(ModelCallKey(1, 0), ONE),) == run.issued()


def test_queued_messages_are_heard_one_by_one_after_final_answers() -> None:
    """Each is a new question to a model that has finished with the one before."""
    run = started(program())
    run.queue("Two?", id="q1")
    run.queue("Three?", id="q2")
    run.reply("One.")

    assert UserMessage("Two?") == run.state.messages[-1]

    run.reply("Two.")

    assert UserMessage("Three?") == run.state.messages[-1]

    run.reply("Three.")

    assert Completed(json("Three.")) == run.end
    assert [(note.id, note.step) for note in run.told(SteeringDelivered)] == [("q1", 1), ("q2", 2)]


def test_a_queued_message_does_not_overtake_a_call() -> None:
    """It waits for a final answer."""
    run = started(program(tool()))
    run.queue("Thanks.")
    run.reply(call())
    run.finish()

    assert len(run.state.inbox.waiting) == 1


def test_a_promoted_message_keeps_its_place_before_other_queued_ones() -> None:
    """A steered message is heard first and leaves the queue alone."""
    run = started(program())
    run.queue("Later?", id="q1")
    run.steer("Now!", id="m1")
    run.reply("One.")

    assert UserMessage("Now!") == run.state.messages[-1]
    assert [item.id for item in run.state.inbox.waiting] == ["q1"]


def test_what_is_not_heard_is_dropped_and_said_so() -> None:
    """Nobody waits for an answer that will not come."""
    run = started(program(tool(), stop_when=is_step_count(1)))
    run.reply(call())
    run.steer("Wait!", id="m1")
    run.queue("Thanks.", id="q1")
    run.finish()

    assert stop_name(run) == "is_step_count"
    assert [SteeringDropped("m1", "stopped"), SteeringDropped("q1", "stopped")] == run.told(
        SteeringDropped
    )
    assert run.state.inbox.waiting == ()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("is_step_count", {"stop_when": is_step_count(1)}),
        ("is_step_count", {"stop_when": is_step_count(1), "limits": Limits(wrap_up_tokens=9)}),
        ("limit-steps", {"limits": Limits(steps=1)}),
        ("limit-tokens", {"limits": Limits(tokens=20)}),
    ],
    ids=["condition", "wrap-up", "steps", "tokens"],
)
def test_a_word_that_cannot_be_heard_does_not_cost_the_final_answer(
    name: str, options: ProgramOptions
) -> None:
    """Steering overrules no condition and no limit; the run ends as it would have without it."""
    run = started(program(**options))
    run.steer("And in Rome?", id="m1")
    run.queue("Thanks.", id="q1")
    run.reply("It is warm in Oslo.", usage=Usage(10, 5))

    assert Completed(json("It is warm in Oslo.")) == run.end
    assert [SteeringDropped("m1", name), SteeringDropped("q1", name)] == run.told(SteeringDropped)
    assert [type(command) for command in run.commands] == [CallModel]


def test_a_condition_in_the_world_does_not_cost_the_final_answer_either() -> None:
    """Nor does a word that comes while it is asked."""
    run = started(program(checks_stop=True))
    run.steer("And in Rome?", id="m1")
    run.reply("It is warm in Oslo.")
    run.steer("And in Bonn?", id="m2")
    run.check(Stop("enough"))

    assert Completed(json("It is warm in Oslo.")) == run.end
    assert [SteeringDropped("m1", "enough"), SteeringDropped("m2", "enough")] == run.told(
        SteeringDropped
    )


def test_an_answer_that_is_not_what_was_promised_fails_as_it_would_have() -> None:
    """A word that cannot be heard makes it neither better nor worse."""
    run = started(program(stop_when=is_step_count(1), output=EVEN))
    run.steer("And three?")
    run.reply("twelve")

    assert Failed(NoOutput("expected an even number", "twelve", finish_reason="stop")) == run.end


def test_what_only_the_provider_runs_leaves_an_answer_final() -> None:
    """Nothing is to be answered here."""
    run = started(program(tool(), stop_when=is_step_count(1)))
    run.steer("And in Rome?")
    run.reply(ToolCall("p1", "search", "{}", provider_executed=True), "Found.")

    assert Completed(json("Found.")) == run.end


def test_a_step_with_calls_is_stopped_whoever_speaks() -> None:
    """There is no final answer yet."""
    run = started(program(tool(), stop_when=is_step_count(1)))
    run.reply(call())
    run.steer("And in Rome?")
    run.finish()

    assert stop_name(run) == "is_step_count"


# --- the next step ----------------------------------------------------------------------------


def test_a_prepare_function_is_asked_before_each_step() -> None:
    """The call is made when its plan is here."""
    run = started(program(tool(), prepares=True))

    assert (PrepareStep(0),) == run.issued()
    assert run.told(StepStarted) == []

    run.prepare(StepPlan())
    run.reply(call())
    run.finish()

    assert (PrepareStep(1),) == run.issued()
    assert [StepStarted(0, ONE)] == run.told(StepStarted)


def test_the_run_rests_while_somebody_owes_an_answer() -> None:
    """What was settled is written; what is open is told."""
    run = started(program(guarded(), tool()))
    run.reply(*calls("pay", "look"))
    run.finish(1)

    assert [answer.tool_call_id for answer in run.answers] == ["c2"]
    assert [RunBlocked(run.open())] == run.told(RunBlocked)
    assert isinstance(run.state.phase, Resting)


def test_each_answer_tells_what_is_still_owed() -> None:
    """An answer that is held is owed no more."""
    run = started(program(guarded(), guarded("sell")))
    run.reply(*calls("pay", "sell"))
    run.answer(0)

    assert [len(note.open) for note in run.told(RunBlocked)] == [2, 1]


def test_conditions_see_the_whole_run() -> None:
    """Steps, usage, calls and time are those of the run so far."""
    seen: list[Progress] = []

    def look(progress: Progress) -> bool:
        seen.append(progress)
        return False

    run = started(program(policed("look"), stop_when=stop_if(look, "never")), at=5)
    run.reply(call(), usage=Usage(3, 4))
    run.decide("denied")

    assert [
        (len(each.steps), each.usage.total_tokens, each.calls_of("look"), each.started)
        for each in seen
    ] == [(1, 7, 1, 5)]
    assert run.state.now == seen[0].now
