"""`LoopMachine` finds every planted fault in reducers, conditions and tools, and none in `step`."""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

import pytest
from attrs import evolve
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis.stateful import run_state_machine_as_test
from hypothesis.strategies import SearchStrategy
from typing_extensions import override

import stepfold as sf
from stepfold.loop import (
    Done,
    Limits,
    LoopState,
    Program,
    ToolSpec,
    Transition,
    Working,
    is_step_count,
    step,
)
from stepfold.loop.commands import CallKey, RunTool
from stepfold.loop.events import (
    ApprovalAnswered,
    Cancelled,
    Event,
    MessageSteered,
    ModelReplied,
    Resumed,
    ToolFailed,
    ToolReturned,
)
from stepfold.schema import SchemaFault
from stepfold.testing import InterventionKind, ScriptedModel, Trace, World, laws
from stepfold.testing.exploration import Law
from stepfold.testing.machine import LoopMachine
from stepfold.values import (
    FinishReason,
    IllegalEvent,
    Message,
    OpenApproval,
    ToolCall,
    ToolMessage,
    UsageError,
    UserMessage,
)

NUMBERS = itertools.count()
WHOLE = {"stop", "tool-calls"}


@sf.tool(needs_approval=True)
def pay(cents: int) -> str:
    """Pay somebody."""
    return f"paid {cents}"


@sf.tool(idempotent=True)
def look(city: str) -> str:
    """Look something up."""
    return city


def _program(**options: object) -> Program:
    agent = sf.Agent(
        model=ScriptedModel([]),
        tools=[look, pay],
        limits=Limits(tool_calls=4),
        retry=sf.RetryPolicy(max_retries=1, initial_delay=0),
    )
    return evolve(agent.program, **options)  # type: ignore[arg-type]


class Lawful(LoopMachine):
    program = _program()


DEFAULT = settings.get_profile("default")


def tried(
    machine: type[LoopMachine], *, shrinks: bool = False, examples: int = DEFAULT.max_examples
) -> None:
    """Run a machine in the budget that a user has who sets none, always the same way.

    What is drawn depends on the modules that are imported, even where it is derandomised: each
    fault has to be found with much to spare.
    """
    phases = (Phase.generate, Phase.shrink) if shrinks else (Phase.generate,)
    run_state_machine_as_test(
        machine,
        settings=settings(
            DEFAULT,
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            phases=phases,
            report_multiple_bugs=False,
            verbosity=Verbosity.quiet,
            suppress_health_check=list(HealthCheck),
        ),
    )


def of(decides: laws.Reducer) -> type[LoopMachine]:
    """The machine of a reducer."""

    class Faulty(Lawful):
        @override
        def step(self, program: Program, state: LoopState, event: Event) -> Transition:
            return decides(program, state, event)

    return Faulty


# --- reducers ---------------------------------------------------------------------------------


def _runs_what_was_cut(program: Program, state: LoopState, event: Event) -> Transition:
    """Takes a reply that was cut for a whole one."""
    if isinstance(event, ModelReplied) and event.reply.finish_reason.unified not in WHOLE:
        event = evolve(event, reply=evolve(event.reply, finish_reason=FinishReason("tool-calls")))
    return step(program, state, event)


def _takes_any_digest(program: Program, state: LoopState, event: Event) -> Transition:
    """Takes an approval of other arguments for one of these."""
    if isinstance(event, ApprovalAnswered):
        for request in sf.open_requests(state):
            if isinstance(request, OpenApproval) and request.approval_id == event.approval_id:
                event = evolve(event, digest=request.digest)
    return step(program, state, event)


def _takes_no_for_yes(program: Program, state: LoopState, event: Event) -> Transition:
    if isinstance(event, ApprovalAnswered) and not event.approved:
        event = evolve(event, approved=True)
    return step(program, state, event)


def _loses_the_turn(program: Program, state: LoopState, event: Event) -> Transition:
    """Drops the history of a run that is cancelled."""
    transition = step(program, state, event)
    if not isinstance(event, Cancelled) or transition.state is state:
        return transition
    return _with_messages(transition, transition.state.messages[:1])


def _leaves_orphans(program: Program, state: LoopState, event: Event) -> Transition:
    """Does not close the open calls of a run that is cancelled."""
    transition = step(program, state, event)
    messages = transition.state.messages
    if not isinstance(event, Cancelled) or not isinstance(messages[-1], ToolMessage):
        return transition
    return _with_messages(transition, messages[:-1])


def _swaps_results(program: Program, state: LoopState, event: Event) -> Transition:
    """Gives a result to the first call, whichever it is of."""
    if isinstance(event, ToolReturned) and isinstance(state.phase, Working):
        for slot in state.phase.slots:
            if slot.status == "running":
                key = CallKey(event.key.step, slot.index, slot.attempt)
                return step(program, state, evolve(event, key=key))
    return step(program, state, event)


def _counts_twice(program: Program, state: LoopState, event: Event) -> Transition:
    """Adds the usage of a reply to what a stream has told before."""
    if isinstance(event, ModelReplied):
        usage = event.reply.usage
        event = evolve(event, reply=evolve(event.reply, usage=usage + usage))
    return step(program, state, event)


def _counts_late(program: Program, state: LoopState, event: Event) -> Transition:
    """Asks no limit before the calls of a reply are started."""
    return step(evolve(program, limits=Limits()), state, event)


def _runs_again(program: Program, state: LoopState, event: Event) -> Transition:
    """Runs whatever was at work at a crash once more."""
    transition = step(program, state, event)
    if not isinstance(event, Resumed) or not isinstance(state.phase, Working):
        return transition
    if transition.state is state:
        return transition
    again = (
        RunTool(CallKey(state.phase.step, slot.index, slot.attempt), slot.call.tool_name)
        for slot in state.phase.slots
        if slot.status == "running" and slot.started
    )
    return evolve(transition, commands=(*transition.commands, *again))


def _knows_every_name(program: Program, state: LoopState, event: Event) -> Transition:
    """Fails on a tool that does not exist."""
    if isinstance(event, ModelReplied):
        for part in event.reply.content:
            if isinstance(part, ToolCall) and not part.provider_executed:
                program.tools[part.tool_name].check({})
    return step(program, state, event)


def _trusts_json(program: Program, state: LoopState, event: Event) -> Transition:
    """Fails on arguments that are no JSON."""
    if isinstance(event, ModelReplied):
        for part in event.reply.content:
            if isinstance(part, ToolCall):
                json.loads(part.input)
    return step(program, state, event)


def _has_hidden_state(program: Program, state: LoopState, event: Event) -> Transition:
    transition = step(program, state, event)
    if transition.state is state:
        return transition
    return evolve(transition, state=evolve(transition.state, now=state.now + next(NUMBERS)))


def _hears_after_the_end(program: Program, state: LoopState, event: Event) -> Transition:
    if isinstance(event, MessageSteered) and isinstance(state.phase, Done):
        return _with_messages(Transition(state), (*state.messages, event.message))
    return step(program, state, event)


def _counts_old_results(program: Program, state: LoopState, event: Event) -> Transition:
    """Counts a result again that comes again."""
    transition = step(program, state, event)
    if isinstance(event, ToolReturned) and transition.state is state:
        ledger = evolve(state.ledger, total_issued=state.ledger.total_issued + 1)
        return Transition(evolve(state, ledger=ledger))
    return transition


def _takes_anything(program: Program, state: LoopState, event: Event) -> Transition:
    """Refuses nothing, so that a host never learns of its mistake."""
    try:
        return step(program, state, event)
    except IllegalEvent:
        return Transition(state)


def _fails_with_its_tools(program: Program, state: LoopState, event: Event) -> Transition:
    """Ends the run as soon as one of several tools fails."""
    transition = step(program, state, event)
    if not isinstance(event, ToolReturned) or not isinstance(event.outcome, ToolFailed):
        return transition
    if transition.state is state:
        return transition
    return step(program, state, Cancelled(event.outcome.message, event.at))


def _rewrites_what_was_said(program: Program, state: LoopState, event: Event) -> Transition:
    """Trims the history itself where only the prompt should be shorter."""
    transition = step(program, state, event)
    if len(transition.state.messages) < 6:
        return transition
    return _with_messages(transition, (UserMessage("In short."), *transition.state.messages[-2:]))


def _forgets_what_it_owes(program: Program, state: LoopState, event: Event) -> Transition:
    """Issues the first of several commands."""
    transition = step(program, state, event)
    return evolve(transition, commands=transition.commands[:1])


def _with_messages(transition: Transition, messages: tuple[sf.Message, ...]) -> Transition:
    state = transition.state
    transcript = evolve(state.transcript, messages=messages)
    return evolve(transition, state=evolve(state, transcript=transcript))


REDUCERS: dict[laws.Reducer, str] = {
    _runs_what_was_cut: "replayed",
    _takes_any_digest: "its id or digest is wrong",
    _takes_no_for_yes: "replayed",
    _loses_the_turn: "did not only grow|left a call open",
    _leaves_orphans: "left a call open|calls and answers|did not only grow",
    _swaps_results: "changed by an old event|never issued was taken|in flight",
    _counts_twice: "replayed",
    _counts_late: "the limit is|replayed",
    _runs_again: "after a crash|in flight",
    _knows_every_name: "step raised KeyError",
    _trusts_json: "step raised (JSONDecodeError|ValueError|RecursionError)",
    _has_hidden_state: "two different transitions",
    _hears_after_the_end: "an ended run was changed|changed by an old event",
    _counts_old_results: "changed by an old event|took ToolReturned|tool calls were issued",
    _takes_anything: "never issued was taken",
    _fails_with_its_tools: "replayed",
    _rewrites_what_was_said: "did not only grow",
    _forgets_what_it_owes: "pending, and what is in flight",
}


@pytest.mark.parametrize("reducer", REDUCERS, ids=lambda it: it.__name__)
def test_a_faulty_reducer_is_found(reducer: laws.Reducer) -> None:
    with pytest.raises(AssertionError, match=REDUCERS[reducer]):
        tried(of(reducer))


def test_the_smallest_run_is_told_in_events() -> None:
    with pytest.raises(AssertionError) as found:
        tried(of(_hears_after_the_end), shrinks=True)

    law, _, told = str(found.value).partition("\nin this run:\n")
    assert law.startswith("an ended run was changed by MessageSteered")
    assert told.splitlines() == [
        "  0. user: 'Hello'",
        "  1. ModelReplied: step 0: 'That is all.' (stop, 10+5 tokens)",
        "  2. MessageSteered: 1 (steer) 'By the way, 1'",
    ]


def test_a_program_is_asked_for() -> None:
    with pytest.raises(UsageError, match="LoopMachine: expected a program, got none: write"):
        tried(LoopMachine)


def test_what_may_come_from_outside_is_restricted() -> None:
    class Left(Lawful):
        interventions: ClassVar[Sequence[InterventionKind]] = ("steer",)

        @override
        def teardown(self) -> None:
            came = {type(moment.event) for moment in self.trace.moments}
            assert not came & {Cancelled, Resumed}
            super().teardown()

    tried(Left, examples=10)


def test_a_law_of_ones_own_is_held_to() -> None:
    def never_pays(trace: Trace) -> None:
        assert not any(isinstance(it.event, ApprovalAnswered) for it in trace.moments), "paid"

    class Own(Lawful):
        laws: ClassVar[Sequence[Law]] = (never_pays,)

    with pytest.raises(AssertionError, match=r"(?s)paid.*\nin this run:.*ApprovalAnswered: "):
        tried(Own)


def test_another_run_begins_where_one_has_ended() -> None:
    """Whatever is left of an example is used; the laws of whole runs are asked at each end."""

    class Several(Lawful):
        begun = 0

        @override
        def prompts(self, program: Program) -> SearchStrategy[str | tuple[Message, ...]]:
            self.begun += 1
            assert self.begun < 3, "a third run"
            return super().prompts(program)

    with pytest.raises(AssertionError, match="a third run"):
        tried(Several)


@pytest.mark.parametrize("approved", [True, False])
def test_people_agree_and_deny_alike(*, approved: bool) -> None:
    """Within a few examples, whatever the world would have people say."""

    def never(trace: Trace) -> None:
        answers = [it.event for it in trace.moments if isinstance(it.event, ApprovalAnswered)]
        assert not answers or answers[-1].approved is not approved, "said"

    class Silent(Lawful):
        laws: ClassVar[Sequence[Law]] = (never,)

        @override
        def worlds(self, program: Program) -> SearchStrategy[World]:
            return super().worlds(program).map(lambda world: evolve(world, answers=(None,)))

    with pytest.raises(AssertionError, match="said"):
        tried(Silent)


def test_nothing_is_found_in_step() -> None:
    tried(Lawful, examples=25)


# --- what the user's own functions may do wrong -----------------------------------------------


class Moods:
    """How often something was asked in a run: the same run is tried again in the same moods."""

    counted: ClassVar[Iterator[int]] = itertools.count()


def _moody(_: sf.Progress) -> sf.Stop | None:
    return sf.Stop("enough", sf.JsonText("1")) if next(Moods.counted) % 2 else None


def _checked(check: Callable[[object], tuple[SchemaFault, ...]]) -> dict[str, ToolSpec]:
    specs = dict(Lawful.program.tools)
    specs["look"] = evolve(specs["look"], check=check)
    return specs


def _check_moodily(value: object) -> tuple[SchemaFault, ...]:
    return Lawful.program.tools["look"].check(value) if next(Moods.counted) % 5 else ()


ARGUMENTS = {"look": [{"city": "Oslo"}]}
FAULTS = {
    "a condition of moods": (_program(stop_when=_moody), "two different transitions"),
    "a tool of moods": (
        _program(tools=_checked(_check_moodily)),
        "two different|another|not its own|repl",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_program_is_found(fault: str) -> None:
    broken, law = FAULTS[fault]

    class Faulty(LoopMachine):
        program = broken
        arguments: ClassVar[Mapping[str, Sequence[object]]] = ARGUMENTS

        def __init__(self) -> None:
            super().__init__()
            Moods.counted = itertools.count()

    with pytest.raises(AssertionError, match=law):
        tried(Faulty)


def test_nothing_is_found_in_sound_programs() -> None:
    class Sound(LoopMachine):
        program = _program(stop_when=is_step_count(2))

    tried(Sound, examples=10)
