"""Each law notices what breaks it, and says so in the user's words."""

from collections.abc import AsyncGenerator, Callable
from itertools import count

import pytest
from attrs import evolve

from stepfold.loop import (
    LoopState,
    OutputSpec,
    Program,
    Progress,
    ToolSpec,
    Transition,
    Working,
    always,
    begin,
    is_step_count,
    negate,
    never,
    step,
    stop_if,
)
from stepfold.loop.commands import CallKey, CallModel, ModelCallKey, RunTool
from stepfold.loop.events import (
    MessageSteered,
    ModelReplied,
    Resumed,
    StepPlan,
    StepPrepared,
    ToolReturned,
    ToolStarted,
)
from stepfold.loop.notes import Note, SteeringDelivered
from stepfold.ports import LanguageModel, streamed
from stepfold.testing import (
    Intervention,
    Schedule,
    ScriptedModel,
    Trace,
    Turn,
    World,
    call,
    laws,
    reply,
    simulate,
)
from stepfold.values import (
    AssistantMessage,
    JsonText,
    Message,
    ModelReply,
    ModelRequest,
    NoOutput,
    Outcome,
    Stop,
    StreamPart,
    TextDelta,
    TextOutput,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)

GOOD = '{"n":1}'
LOOK = ToolSpec(definition=ToolDefinition("look", "", JsonText("{}")), check=lambda _: ())
PROGRAM = Program(models=("m/m",), tools={"look": LOOK}, stop_when=never)
WORLD = World(turns=(Turn(reply(call("look", GOOD, id="c"))),))
REQUEST = ModelRequest(messages=(UserMessage("Hello"),), key="run/0/0")


def traced(program: Program = PROGRAM, *, schedule: Schedule = Schedule()) -> Trace:  # noqa: B008
    return simulate(program, "Hello", WORLD, schedule)


def asking(*tool_call_ids: str) -> AssistantMessage:
    return AssistantMessage(tuple(call("look", GOOD, id=it) for it in tool_call_ids))


def answering(*tool_call_ids: str) -> ToolMessage:
    return ToolMessage(tuple(ToolResult(it, "look", TextOutput("x")) for it in tool_call_ids))


def running(trace: Trace) -> Transition:
    """The transition that issued the tool of the world's one call."""
    return next(
        one for one in trace.transitions if any(isinstance(it, RunTool) for it in one.commands)
    )


def at_work(transition: Transition) -> Working:
    assert isinstance(transition.state.phase, Working)
    return transition.state.phase


def in_phase(transition: Transition, phase: Working) -> Transition:
    return evolve(transition, state=evolve(transition.state, phase=phase))


def test_a_good_run_keeps_every_law() -> None:
    cancelled = Schedule(interventions=(Intervention(2, "cancel", with_partial=True),))
    for schedule in (Schedule(), cancelled):
        laws.every_law_holds(traced(schedule=schedule))


def test_an_impure_condition_is_noticed() -> None:
    numbers = count()
    impure = stop_if(lambda _: next(numbers) % 2 == 1, "every other time")
    with pytest.raises(AssertionError, match="two different transitions"):
        laws.every_law_holds(traced(evolve(PROGRAM, stop_when=impure)))


def test_what_makes_step_raise_is_noticed() -> None:
    def check(text: str) -> Outcome[JsonText, NoOutput]:
        raise ZeroDivisionError

    program = evolve(PROGRAM, output=OutputSpec("broken", check))
    state = begin(program, "Hello", run="run", seed=0, at=0).state
    event = ModelReplied(ModelCallKey(0, 0), reply("So"), 1, started=0)
    with pytest.raises(AssertionError, match="step raised ZeroDivisionError"):
        laws.step_is_total(program, state, event)


def test_a_rewritten_history_is_noticed() -> None:
    start, end = traced().start.state, traced().end
    other = evolve(end.transcript, messages=(UserMessage("Bye"), *end.messages[1:]))
    laws.history_only_grows(start, end)
    with pytest.raises(AssertionError, match="did not only grow: messages"):
        laws.history_only_grows(start, evolve(end, transcript=other))
    with pytest.raises(AssertionError, match="did not only grow: messages"):
        laws.history_only_grows(end, start)


@pytest.mark.parametrize(
    "messages",
    [
        (asking("a"),),
        (asking("a", "b"), answering("a")),
        (asking("a"), answering("a", "b")),
        (asking("a"), UserMessage("and?"), answering("a")),
        (answering("a"),),
        (UserMessage("Hello"), answering("a")),
    ],
)
def test_unpaired_calls_are_noticed(messages: tuple[Message, ...]) -> None:
    with pytest.raises(AssertionError, match="of the prompt"):
        laws.prompt_is_paired(messages)


def test_answers_in_another_order_are_put_in_order() -> None:
    laws.prompt_is_paired((asking("a", "b"), answering("b"), answering("a")))


def test_wrong_figures_are_noticed() -> None:
    state = traced().start.state
    laws.budgets_hold(PROGRAM, state)
    with pytest.raises(AssertionError, match="reserved tokens"):
        laws.budgets_hold(PROGRAM, evolve(state, ledger=evolve(state.ledger, reserved=5)))


def test_a_forgotten_command_is_noticed() -> None:
    state = traced().start.state
    flying = CallModel(ModelCallKey(0, 0), "m/m")
    laws.pending_is_in_flight([flying], state)
    with pytest.raises(AssertionError, match="pending, and what is in flight"):
        laws.pending_is_in_flight([], state)


@pytest.mark.parametrize(
    ("forged", "law"),
    [
        (lambda state, notes: (state, ()), "each word has one fate"),
        (lambda state, notes: (state, notes * 2), "each word has one fate"),
        (
            lambda state, notes: (
                evolve(state, transcript=state.transcript.with_late(state.messages[-1:])),
                notes,
            ),
            "is in the history, and was heard",
        ),
    ],
    ids=["lost", "told twice", "written twice"],
)
def test_words_that_are_lost_or_heard_twice_are_noticed(
    forged: Callable[[LoopState, tuple[Note, ...]], tuple[LoopState, tuple[Note, ...]]], law: str
) -> None:
    said = Schedule(interventions=(Intervention(0, "steer"),))
    trace = traced(evolve(PROGRAM, stop_when=is_step_count(2)), schedule=said)
    laws.words_are_heard_once(trace)
    assert isinstance(trace.end.messages[-1], AssistantMessage)

    place, delivery = next(
        (place, moment.transition)
        for place, moment in enumerate(trace.moments)
        if moment.transition is not None
        and any(isinstance(note, SteeringDelivered) for note in moment.transition.notes)
    )
    state, notes = forged(delivery.state, delivery.notes)
    changed = evolve(trace.moments[place], transition=evolve(delivery, state=state, notes=notes))

    with pytest.raises(AssertionError, match=law):
        laws.words_are_heard_once(evolve(trace, moments=(*trace.moments[:place], changed)))


def test_old_events_that_count_are_noticed() -> None:
    trace = traced()
    steered = MessageSteered("new", UserMessage("By the way"), "steer", 0)
    with pytest.raises(AssertionError, match="changed by an old event"):
        laws.stale_changes_nothing(PROGRAM, trace.start.state, steered)
    with pytest.raises(AssertionError, match="refused when it comes again"):
        laws.stale_changes_nothing(
            PROGRAM, trace.start.state, StepPrepared(9, StepPlan(), trace.start.state.now)
        )


def test_a_tool_that_must_not_run_is_noticed() -> None:
    issued = running(traced())
    laws.tools_run_only_if_permitted(PROGRAM, issued)
    phase = at_work(issued)
    slot, replied = phase.slots[0], phase.replied
    assert replied is not None
    cut = evolve(replied, reply=reply(call("look", GOOD), finish="length"))
    garbled = evolve(slot, call=call("look", "{"))
    waiting = evolve(slot, status="asked")
    asks = evolve(PROGRAM, tools={"look": evolve(LOOK, approval="always")})
    wrong: list[tuple[str, Program, Transition]] = [
        ("ended length", PROGRAM, in_phase(issued, evolve(phase, replied=cut))),
        ("all calls were resolved", PROGRAM, in_phase(issued, evolve(phase, unresolved=1))),
        ("not its own", PROGRAM, in_phase(issued, evolve(phase, slots=(garbled,)))),
        ("no running slot", PROGRAM, in_phase(issued, evolve(phase, slots=(waiting,)))),
        ("outside of the work", PROGRAM, evolve(issued, state=traced().start.state)),
        ("choice was not honoured", evolve(PROGRAM, tool_choice="none"), issued),
        ("without approval", asks, issued),
        ("no such tool", evolve(PROGRAM, tools={}), issued),
    ]
    for message, program, transition in wrong:
        with pytest.raises(AssertionError, match=message):
            laws.tools_run_only_if_permitted(program, transition)


def resumed(trace: Trace, before: LoopState) -> Transition:
    return step(trace.program, before, Resumed(1, before.now))


def test_a_tool_that_runs_twice_is_noticed() -> None:
    trace = traced()
    again = resumed(trace, running(trace).state)
    begun = next(one.after for one in trace.moments if isinstance(one.event, ToolStarted))
    laws.nothing_runs_twice(PROGRAM, begun, resumed(trace, begun))
    with pytest.raises(AssertionError, match="run after a crash"):
        laws.nothing_runs_twice(PROGRAM, begun, again)


def test_a_call_that_was_approved_meanwhile_may_run_where_a_crash_leaves_nothing_at_work() -> None:
    """The one beside it had started and is closed, so the approval takes effect at once."""
    send = evolve(LOOK, definition=evolve(LOOK.definition, name="send"), approval="always")
    program = evolve(PROGRAM, tools={"look": LOOK, "send": send})
    both = World(turns=(Turn(reply(call("look", GOOD, id="c"), call("send", GOOD, id="d"))),))
    trace = simulate(program, "Hello", both, Schedule((0, 1)))
    begun = next(one.before for one in trace.moments if isinstance(one.event, ToolReturned))
    issued = resumed(trace, begun)

    assert issued.commands == (RunTool(CallKey(0, 1, 0), "send"),)
    laws.nothing_runs_twice(program, begun, issued)


def test_an_end_that_cannot_be_sent_is_noticed() -> None:
    end = traced().end
    laws.end_can_be_sent(end)
    open_call = evolve(end.transcript, messages=(*end.messages, asking("d")))
    with pytest.raises(AssertionError, match="calls and answers"):
        laws.end_can_be_sent(evolve(end, transcript=open_call))


def test_a_journal_of_another_run_is_noticed() -> None:
    trace = traced()
    with pytest.raises(AssertionError, match="reached another state"):
        laws.run_is_replayable(PROGRAM, trace.header, trace.entries[:-1], trace.end)
    with pytest.raises(AssertionError, match="cannot be replayed"):
        laws.run_is_replayable(PROGRAM, trace.header, trace.entries[1:], trace.end)


def test_other_histories_are_noticed() -> None:
    one = traced().end
    other = simulate(PROGRAM, "Goodbye", WORLD).end
    laws.same_run(one, one)
    with pytest.raises(AssertionError, match="two histories"):
        laws.same_run(one, other)
    with pytest.raises(AssertionError, match="more than time"):
        laws.same_run(one, evolve(one, ledger=evolve(one.ledger, spent=1)))
    with pytest.raises(AssertionError, match="otherwise than the undisturbed"):
        laws.resumed_run_is_the_same(one, other, frozenset())


def test_other_prompts_are_noticed() -> None:
    one = traced().start.state
    other = begin(PROGRAM, "Goodbye", run="run", seed=0, at=0).state
    laws.same_prompt(PROGRAM, one, one)
    with pytest.raises(AssertionError, match="two prompts"):
        laws.same_prompt(PROGRAM, one, other)


# --- conditions -------------------------------------------------------------------------------


def progress() -> Progress:
    steps = traced().end.steps
    return laws.progress_of(Progress(steps, Usage(), 0, 0), len(steps))


def test_impure_and_nameless_conditions_are_noticed() -> None:
    numbers = count()
    with pytest.raises(AssertionError, match="two answers to one question"):
        laws.condition_is_pure(lambda _: Stop(str(next(numbers))), progress())
    with pytest.raises(AssertionError, match="without a name"):
        laws.condition_is_pure(lambda _: Stop(""), progress())
    laws.condition_is_pure(is_step_count(1), progress())


def test_conditions_that_are_not_monotone_are_noticed() -> None:
    laws.condition_is_monotone(is_step_count(1), progress())
    laws.condition_is_monotone(is_step_count(9), progress())
    with pytest.raises(AssertionError, match="stopped after 1 steps"):
        laws.condition_is_monotone(negate(is_step_count(2)), progress())


def test_conditions_that_change_their_mind_are_no_algebra() -> None:
    numbers = count()
    fickle = stop_if(lambda _: next(numbers) % 2 == 0, "fickle")
    laws.conditions_form_an_algebra(never, always, is_step_count(1), progress())
    with pytest.raises(AssertionError, match="with a="):
        laws.conditions_form_an_algebra(fickle, never, never, progress())


# --- models -----------------------------------------------------------------------------------


class Liar:
    """A model that streams something else than it generates."""

    provider = "scripted"
    model_id = "liar"

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        return reply("one")

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        async with ScriptedModel([reply("other")]).stream(request) as parts:
            async for part in parts:
                yield part


async def test_a_model_that_streams_otherwise_is_noticed() -> None:
    await laws.generate_is_the_folded_stream(ScriptedModel([reply("one")]), REQUEST)
    with pytest.raises(AssertionError, match="the fold of the stream"):
        await laws.generate_is_the_folded_stream(Liar(), REQUEST)


async def test_a_middleware_that_is_not_transparent_is_noticed() -> None:
    def renamed(model: LanguageModel) -> LanguageModel:
        return ScriptedModel([reply("one")], model_id="renamed")

    model = ScriptedModel([reply("one")])
    await laws.middleware_is_transparent(lambda inner: inner, model, REQUEST)
    await laws.middleware_is_a_monoid(renamed, lambda inner: inner, renamed, model, REQUEST)
    with pytest.raises(AssertionError, match="two models answer differently"):
        await laws.middleware_is_transparent(renamed, model, REQUEST)


async def test_a_middleware_with_a_memory_is_no_monoid() -> None:
    numbers = count()

    def numbered(model: LanguageModel) -> LanguageModel:
        return ScriptedModel([reply(str(next(numbers)))])

    with pytest.raises(AssertionError, match="two models answer differently"):
        await laws.middleware_is_a_monoid(
            numbered, numbered, numbered, ScriptedModel([reply("one")]), REQUEST
        )


def test_other_streams_are_noticed() -> None:
    parts = [TextDelta("0", "a")]
    laws.fold_ignores_chunks(parts, parts)
    with pytest.raises(AssertionError, match="two ways to cut"):
        laws.fold_ignores_chunks(parts, [])


# --- values -----------------------------------------------------------------------------------


def test_a_value_that_is_kept_survives() -> None:
    laws.value_survives(traced().end, LoopState)
    laws.value_survives(UserMessage("Hello"), Message)


def test_a_value_that_cannot_be_read_is_noticed() -> None:
    with pytest.raises(AssertionError, match="cannot be read"):
        laws.value_survives(UserMessage("Hello"), ToolMessage)
