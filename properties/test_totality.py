"""Law 3: whatever a model, a tool, a policy or a hook answers, `step` raises nothing."""

from collections.abc import Callable
from typing import Literal

from attrs import fields
from hypothesis import assume, given
from hypothesis import strategies as st

from stepfold.codec import encode
from stepfold.loop import LoopState, Preparing, Program, begin
from stepfold.loop.commands import CallKey, ModelCallKey
from stepfold.loop.events import (
    ApprovalAnswered,
    ApprovalDecided,
    ApprovalDecision,
    CallBound,
    CallRepaired,
    Cancelled,
    Event,
    MessageSteered,
    ModelFailed,
    ModelReplied,
    Resumed,
    StepPlan,
    StepPrepared,
    StopChecked,
    TimedOut,
    ToolFailed,
    ToolReturned,
    ToolStarted,
    ToolSucceeded,
    Waited,
)
from stepfold.testing import Trace, Turn, World, laws, simulate
from stepfold.testing.strategies import (
    model_errors,
    model_replies,
    programs,
    schedules,
    step_plans,
    traces,
    worlds,
)
from stepfold.values import (
    AssistantMessage,
    FinishReason,
    HookFailed,
    ModelReply,
    NamedTool,
    Reasoning,
    Stop,
    SystemMessage,
    Text,
    TextOutput,
    ToolCall,
    ToolError,
    ToolMessage,
    ToolResult,
    Usage,
    UsageError,
    UserMessage,
)

# Any text at all, lone surrogates included, and what is wrong in a way that has a name.
DECISIONS: tuple[ApprovalDecision, ...] = ("approved", "not-applicable", "denied", "user-approval")
LIMITS: tuple[Literal["total", "step"], ...] = ("total", "step")

texts = st.text(max_size=8) | st.sampled_from(["", "\ud800", "\x00", "c1", "look", "{", "run/0/0"])
arguments = texts | st.recursive(
    st.sampled_from(["1", "null", '"\ud800"', "NaN", "1e999", "9" * 5_000, "-0", "true"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]"),
        st.dictionaries(st.sampled_from(["n", "__proto__", "", "m"]), inner, max_size=2).map(
            lambda members: "{" + ",".join(f'"{k}":{v}' for k, v in members.items()) + "}"
        ),
    ),
    max_leaves=6,
)
outputs = st.builds(TextOutput, texts)
NOTHING = TextOutput("")
by_provider = st.just(True)
parts = st.one_of(
    st.builds(ToolCall, texts, texts, arguments, provider_executed=st.booleans()),
    st.builds(Text, texts),
    st.builds(Reasoning, texts),
    st.builds(
        ToolResult, texts, texts, st.builds(TextOutput, texts), provider_executed=by_provider
    ),
    st.builds(ToolError, texts, texts, texts, provider_executed=by_provider),
)
hostile_replies = st.builds(
    ModelReply,
    st.lists(parts, max_size=5).map(tuple),
    st.builds(
        FinishReason,
        st.sampled_from(
            ["stop", "tool-calls", "length", "content-filter", "error", "interrupted", "other"]
        ),
        st.none() | texts,
    ),
    st.builds(Usage, st.none() | st.integers(0, 100), st.none() | st.integers(0, 100)),
)


@given(st.data(), programs())
def test_replies_made_of_anything_keep_every_law(data: st.DataObject, program: Program) -> None:
    world = data.draw(worlds(program=program, max_turns=2))
    said = data.draw(st.lists(hostile_replies, min_size=1, max_size=3))
    hostile = World(
        turns=(*world.turns[:1], *map(Turn, said)),
        plans=world.plans,
        repairs=tuple(data.draw(st.lists(st.none() | arguments, min_size=1, max_size=3))),
        bindings=(None, "\ud800"),
        decisions=world.decisions,
        outcomes=(ToolFailed("\ud800"), ToolSucceeded(TextOutput("\ud800"))),
        answers=world.answers,
        stops=(None, Stop("\ud800")),
        reports_partial=True,
    )

    laws.every_law_holds(simulate(program, "\ud800", hostile, data.draw(schedules())))


junk = st.sampled_from(
    [None, 5, "look", b"look", 1.5, ("look",), ["wipe", None], [5], {"look": 1}, object(), "none"]
    + [(UserMessage("a"), 5), [AssistantMessage((Text("a"),))], (SystemMessage("b"),), Text]
    + [NamedTool("look"), ToolMessage(()), [ToolMessage((ToolResult("c", "", NOTHING),))]]
)
untyped_plan: Callable[..., StepPlan] = StepPlan


@given(
    programs(hooks=100, min_tools=1),
    st.dictionaries(st.sampled_from([field.name for field in fields(StepPlan)]), junk),
)
def test_a_plan_of_anything_is_refused_where_it_is_made_or_taken(
    program: Program, given_plan: dict[str, object]
) -> None:
    state = begin(program, "Hello", run="run", seed=0, at=0).state
    assume(isinstance(state.phase, Preparing))
    try:
        plan = untyped_plan(**given_plan)
    except UsageError:
        return

    event = StepPrepared(0, plan, 0)
    laws.step_is_deterministic(program, state, event)
    transition = laws.step_is_total(program, state, event)
    assert transition is not None
    laws.request_is_paired(program, transition.state)


@given(st.data(), traces())
def test_any_event_at_any_state_is_taken_or_refused(data: st.DataObject, trace: Trace) -> None:
    """Events of any kind with keys near those in use: answered, stale, early or never issued."""
    state = data.draw(st.sampled_from(trace.states))
    event = data.draw(events_near(trace, state))

    laws.step_is_deterministic(trace.program, state, event)
    transition = laws.step_is_total(trace.program, state, event)
    if transition is not None:
        laws.history_only_grows(state, transition.state)
        laws.budgets_hold(trace.program, transition.state)
        laws.request_is_paired(trace.program, transition.state)
        laws.tools_run_only_if_permitted(trace.program, transition)
        assert encode(transition.state)


@st.composite
def events_near(draw: st.DrawFn, trace: Trace, state: LoopState) -> Event:
    at_step = getattr(state.phase, "step", len(state.steps) - 1)
    steps = st.integers(at_step - 1, at_step + 1)
    small = st.integers(-1, 3)
    model_key = ModelCallKey(draw(steps), draw(small))
    key = CallKey(draw(steps), draw(small), draw(small))
    replies = model_replies(tools=[*trace.program.tools], cut=30)
    at = draw(st.integers(state.now - 5, state.now + 5))
    kind = draw(st.integers(0, 14))
    match kind:
        case 0:
            return ModelReplied(model_key, draw(replies), at, started=at)
        case 1:
            return ModelFailed(model_key, draw(model_errors()), at, partial=draw(replies))
        case 2:
            return Waited(model_key, at)
        case 3:
            return StepPrepared(key.step, draw(step_plans(program=trace.program)), at)
        case 4:
            return CallRepaired(key, draw(st.none() | arguments), at)
        case 5:
            return CallBound(key, draw(st.none() | texts), at)
        case 6:
            return ApprovalDecided(key, draw(st.sampled_from(DECISIONS)), at)
        case 7:
            name = f"run/{key.step}/{key.index}"
            return ApprovalAnswered(name, draw(texts), draw(st.booleans()), at)
        case 8:
            return ToolStarted(key, at)
        case 9:
            return ToolReturned(key, ToolFailed("\ud800"), at, started=at)
        case 10:
            stops = [None, Stop("enough"), HookFailed("check", "OSError")]
            return StopChecked(key.step, draw(st.sampled_from(stops)), at)
        case 11:
            return MessageSteered(draw(texts), UserMessage(draw(texts)), "steer", at)
        case 12:
            limit = draw(st.sampled_from(LIMITS))
            return TimedOut(limit, key.step, at, partial=draw(st.none() | replies))
        case 13:
            return Cancelled(draw(texts), at, partial=draw(st.none() | replies))
        case _:
            return Resumed(draw(small), at)
