"""The table of transitions in the text of `step` is what `step` does, no less and no more."""

import re

from attrs import evolve
from hypothesis import HealthCheck, example, given, seed, settings
from hypothesis import strategies as st

from stepfold.loop import (
    TEXT_OUTPUT,
    Done,
    Limits,
    LoopState,
    OutputSpec,
    Program,
    ToolSpec,
    _step,
    step,
)
from stepfold.loop.events import Event, MessageSteered, Resumed
from stepfold.testing import (
    Intervention,
    InterventionKind,
    Moment,
    Schedule,
    Trace,
    Turn,
    World,
    reply,
    simulate,
)
from stepfold.testing.strategies import programs, schedules, traces, worlds
from stepfold.values import ModelErrorReason, Stop, UserMessage

Row = tuple[str, str]

PHASES = (
    *("Preparing", "Calling", "Waiting", "Working"),
    *("Checking", "Concluding", "Resting", "Done"),
)
EVERYWHERE = {"MessageSteered", "TimedOut", "Cancelled", "CancelRequested", "Resumed"}
ENDS_AFTER_STEP = {
    "Calling": {"Calling"},
    "Working": {"Working"},
    "Concluding": {"Concluding"},
    "Checking": {"Checking", "Done"},  # it is kept where a final answer is still to be looked at
}


def written_table() -> dict[Row, frozenset[str]]:
    """Read the rows: phase, what it owes, event, and the phases that it leads to."""
    lines = (_step.__doc__ or "").splitlines()
    ruler = next(line for line in lines if set(line.strip()) == {"-", " "})
    starts = [match.start() for match in re.finditer("-+", ruler)]
    columns = list(zip(starts, [*starts[1:], None], strict=True))
    rows: dict[Row, frozenset[str]] = {}
    row = ("", "")
    for line in lines[lines.index(ruler) + 1 :]:
        if not line.strip():
            break
        phase, _, event, targets = (line[start:end].strip() for start, end in columns)
        row = (phase, event) if phase else row
        rows[row] = rows.get(row, frozenset()) | frozenset(targets.split())
    return rows


TABLE = written_table()


def row_of(moment: Moment) -> tuple[str, str, str]:
    before, after = moment.before.phase, moment.after.phase
    return type(before).__name__, type(moment.event).__name__, type(after).__name__


def is_written(phase: str, event: str, target: str) -> bool:
    if (phase, event) in TABLE:
        return target in TABLE[phase, event] or (event in EVERYWHERE and target == phase)
    match event:
        case "TimedOut" | "Cancelled":
            return target == "Done"
        case "MessageSteered" | "Resumed":
            return target == phase
        case "CancelRequested":
            return target in ENDS_AFTER_STEP.get(phase, {"Done"})
        case _:
            return False


def test_the_table_names_phases_and_events_that_exist() -> None:
    assert len(TABLE) > 10
    for (phase, event), targets in TABLE.items():
        assert phase in PHASES
        assert hasattr(_step, event)
        assert targets <= set(PHASES)


@given(traces())
def test_every_transition_of_a_run_is_in_the_table(trace: Trace) -> None:
    for moment in trace.moments:
        if moment.changed:
            assert is_written(*row_of(moment)), row_of(moment)


def bound(spec: ToolSpec) -> ToolSpec:
    return evolve(spec, approval="never", executes=True, binds=True)


def decided(spec: ToolSpec) -> ToolSpec:
    return evolve(spec, approval="policy", executes=True, binds=False)


def asked(spec: ToolSpec) -> ToolSpec:
    return evolve(spec, approval="always", executes=True, binds=False)


def awaited(spec: ToolSpec) -> ToolSpec:
    return evolve(spec, approval="never", executes=False, binds=False)


def either(spec: ToolSpec) -> ToolSpec:
    return asked(spec) if spec.name == "look" else awaited(spec)


def mixed(spec: ToolSpec) -> ToolSpec:
    return asked(spec) if spec.name == "look" else evolve(spec, approval="never", executes=True)


def bound_or_asked(spec: ToolSpec) -> ToolSpec:
    return bound(spec) if spec.name == "look" else asked(spec)


KINDS = [bound, decided, asked, awaited, either, mixed, bound_or_asked]


@st.composite
def eventful_traces(draw: st.DrawFn) -> Trace:
    """Draw runs in which much is asked, and much is said meanwhile, of tools of one kind."""
    kind = draw(
        st.sampled_from([bound, bound, decided, asked, awaited, either, mixed, bound_or_asked])
    )
    hooks = draw(st.sampled_from(["", "prepares", "checks", "prepares and checks"]))
    few = [Limits(tokens=1), Limits(steps=2, tokens=30)]
    limits = draw(st.sampled_from([*[Limits()] * 8, *few]))
    program = evolve(
        draw(programs(min_tools=2, max_tools=2, limited=0, breaks=0)),
        tool_choice="auto",
        limits=limits,
        prepares="prepares" in hooks,
        checks_stop="checks" in hooks,
    )
    tools = {name: kind(spec) for name, spec in program.tools.items()}
    program = evolve(program, tools=tools)
    world = draw(
        worlds(
            program=program,
            min_turns=2,
            max_turns=3,
            min_calls=1,
            max_calls=2,
            hostile=20,
            failing=20,
            cut=2,
        )
    )
    if draw(st.booleans()):
        world = evolve(world, bindings=("n is too small",), decisions=("denied",))
    talk: list[InterventionKind] = ["steer", "steer", "queue", "crash", "run-timeout"]
    return simulate(program, "Hello", world, draw(schedules(kinds=talk, max_tick=8)))


def rows_from_outside(trace: Trace, state: LoopState) -> list[tuple[str, str, str]]:
    """What a new process, or a word, leads to in this state."""
    if isinstance(state.phase, Done):
        return []
    number = state.identity.resumed + 1
    said = UserMessage("By the way")
    from_outside: list[Event] = [
        Resumed(number, state.now),
        MessageSteered("*", said, "steer", state.now),
    ]
    return [
        (
            type(state.phase).__name__,
            type(event).__name__,
            type(step(trace.program, state, event).state.phase).__name__,
        )
        for event in from_outside
    ]


def used_up() -> Trace:
    """A run whose failed attempt leaves no tokens for the next one."""
    program = Program(models=("scripted/a",), limits=Limits(tokens=1))
    failure = ModelErrorReason("server", "it did not answer")
    return simulate(
        program, "Hello", World(turns=(Turn(reply("So"), (failure,)),), reports_partial=True)
    )


def judged(*, prepares: bool = False, checks: bool = False, says: str | None = None) -> Trace:
    """A run whose answer has to pass validators, after a word that came before it."""
    output = OutputSpec("text", TEXT_OUTPUT.check, binds=True, retries=1)
    program = Program(models=("scripted/a",), output=output, prepares=prepares, checks_stop=checks)
    steered = () if says else (Intervention(0, "steer"),)
    stops = (None,) if says else (Stop("patience"),)
    world = World(outputs=(says,), stops=stops)
    return simulate(program, "Hello", world, Schedule(interventions=steered))


def gathered(seeded: int) -> set[tuple[str, str, str]]:
    """The transitions of some hundred runs."""
    reached: set[tuple[str, str, str]] = set()

    @seed(seeded)
    @settings(
        max_examples=200, suppress_health_check=list(HealthCheck), database=None, derandomize=False
    )
    @given(eventful_traces())
    @example(used_up())
    @example(judged(checks=True))
    @example(judged(says="too short"))
    @example(judged(says="too short", prepares=True))
    @example(judged(says="too short", checks=True))
    def gather(trace: Trace) -> None:
        reached.update(row_of(moment) for moment in trace.moments if moment.changed)
        for state in trace.states:
            reached.update(rows_from_outside(trace, state))

    gather()
    return reached


def test_every_row_of_the_table_is_reached() -> None:
    unreached = {
        (phase, event, target) for (phase, event), targets in TABLE.items() for target in targets
    }
    for seeded in range(20):
        unreached -= gathered(seeded)
        if not unreached:
            break

    assert not unreached
