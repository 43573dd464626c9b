"""Whole runs in a simulated world, moment by moment, without a clock or an event loop."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias, final

from attrs import evolve, frozen

from stepfold.loop import (
    Calling,
    Done,
    Granted,
    JournalEntry,
    JournalHeader,
    LoopState,
    Program,
    Transition,
    begin,
    command_ids,
    open_requests,
    pending,
    replay,
    step,
)
from stepfold.loop.commands import (
    BindCall,
    BindOutput,
    CallModel,
    CheckStop,
    Command,
    PrepareStep,
    RepairCall,
    ResolveApproval,
    RunTool,
    Wait,
    command_id,
)
from stepfold.loop.events import (
    ApprovalDecided,
    CallBound,
    CallRepaired,
    Cancelled,
    CancelRequested,
    Event,
    MessageSteered,
    ModelFailed,
    ModelReplied,
    OutputBound,
    Resumed,
    StepPrepared,
    StopChecked,
    TimedOut,
    ToolReturned,
    Waited,
)
from stepfold.testing._world import World
from stepfold.values import (
    Failure,
    IllegalEvent,
    Instant,
    Message,
    UsageError,
    UserMessage,
)

InterventionKind: TypeAlias = Literal[
    "steer", "queue", "cancel", "cancel-after-step", "run-timeout", "step-timeout", "crash"
]
"""What may come from outside; `crash` is a new process that takes the run up again."""


@final
@frozen(order=False)
class Intervention:
    """Something that comes from outside before the answer number `tick`, counted from 0.

    A cancelled or timed-out model call reports what had come of its reply if `with_partial`.
    """

    tick: int
    kind: InterventionKind
    with_partial: bool = False


@final
@frozen(order=False)
class Schedule:
    """In which order a world answers: at each tick `order` picks one of the open answers.

    The picks are repeated for as long as the run goes; `Schedule()` answers in call order.
    """

    order: tuple[int, ...] = (0,)
    interventions: tuple[Intervention, ...] = ()


@final
@frozen(order=False)
class Moment:
    """One event: the state it met, what it did, and what is in flight after it.

    `transition` is `None` if the event was refused. `in_flight` is what a host knows of, by
    keeping count of what was issued and answered, without looking into the state.
    """

    before: LoopState
    event: Event
    transition: Transition | None
    in_flight: frozenset[Command]

    @property
    def after(self) -> LoopState:
        """The state after the event."""
        return self.before if self.transition is None else self.transition.state

    @property
    def changed(self) -> bool:
        """Whether the event belongs into the journal."""
        return self.after is not self.before


@final
@frozen(order=False)
class Trace:
    """A run in a world: how it began, and every event that came."""

    program: Program
    world: World
    header: JournalHeader
    start: Transition
    moments: tuple[Moment, ...]

    @property
    def states(self) -> tuple[LoopState, ...]:
        """Every state of the run, the first one included."""
        return (self.start.state, *(moment.after for moment in self.moments if moment.changed))

    @property
    def end(self) -> LoopState:
        """The state in which the run was left."""
        return self.moments[-1].after if self.moments else self.start.state

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """Every transition that changed something, the first one included."""
        changed = (moment.transition for moment in self.moments if moment.changed)
        return (self.start, *(transition for transition in changed if transition is not None))

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """The journal of the run."""
        return tuple(
            JournalEntry(moment.event, command_ids(moment.transition))
            for moment in self.moments
            if moment.changed and moment.transition is not None
        )


def simulate(
    program: Program,
    prompt: str | Sequence[Message],
    world: World,
    schedule: Schedule = Schedule(),
    *,
    run: str = "run",
    seed: int = 0,
    at: Instant = 0,
    granted: Granted | None = None,
    most: int = 1_000,
) -> Trace:
    """Run a program in a world until it ends, rests for good, or has taken `most` events.

    With `granted`, it runs as the run of a tool call that was granted so much.

    Raises:
        UsageError: as `begin` does.
    """
    start = begin(program, prompt, run=run, seed=seed, at=at, granted=granted)
    messages = (UserMessage(prompt),) if isinstance(prompt, str) else tuple(prompt)
    header = JournalHeader(
        run,
        seed,
        at,
        messages,
        program.fingerprint,
        commands=command_ids(start),
        granted=granted,
    )
    host = _Host(program, world, start.state, frozenset(start.commands))
    moments = tuple(host.moments(schedule, most))
    return Trace(program, world, header, start, moments)


def trace_of(program: Program, header: JournalHeader, entries: Iterable[JournalEntry]) -> Trace:
    """The trace of a real run, from its journal: what the laws of whole runs are checked on.

        journal = MemoryJournal()
        await agent.generate("Hello", journal=journal)
        laws.every_law_holds(trace_of(agent.program, journal.header, journal.entries))

    Its world is empty: what came is in the entries.

    Raises:
        UsageError: the program decides otherwise than the one that wrote the journal.
    """
    kept = tuple(entries)
    replayed = replay(program, header, kept)
    if isinstance(replayed, Failure):
        raise UsageError(f"trace_of: expected a journal of this program, got {replayed.failure()}")
    start = begin(
        program,
        header.messages,
        run=header.run,
        seed=header.seed,
        at=header.at,
        runtime_context=header.runtime_context,
        granted=header.granted,
    )
    host = _Host(program, World(), start.state, frozenset(start.commands))
    moments = tuple(host.give(entry.event) for entry in kept)
    return Trace(program, World(), header, start, moments)


def carry_on(
    trace: Trace,
    state: LoopState,
    schedule: Schedule = Schedule(),
    *,
    most: int = 1_000,
) -> Trace:
    """Go on from any state of a run, in the same world; `moments` are those after it."""
    host = _Host(trace.program, trace.world, state, frozenset(pending(state)))
    moments = tuple(host.moments(schedule, most))
    return evolve(trace, start=Transition(state, pending(state)), moments=moments)


def answered_command(event: Event) -> str | None:
    """The id of the command that an event answers; `None` if it answers none."""
    match event:
        case ModelReplied(key) | ModelFailed(key):
            return command_id(CallModel(key, ""))
        case Waited(key):
            return command_id(Wait(key, 0))
        case ToolReturned(key):
            return command_id(RunTool(key, ""))
        case CallRepaired(key):
            return command_id(RepairCall(key))
        case CallBound(key):
            return command_id(BindCall(key))
        case ApprovalDecided(key):
            return command_id(ResolveApproval(key))
        case StepPrepared(at_step):
            return command_id(PrepareStep(at_step))
        case StopChecked(at_step):
            return command_id(CheckStop(at_step))
        case OutputBound(at_step):
            return command_id(BindOutput(at_step))
        case _:
            return None


def event_from_outside(
    world: World, state: LoopState, kind: InterventionKind, name: str, *, partial: bool = False
) -> Event:
    """What comes from outside, now; words are told apart by `name`.

    With `partial`, what had come of the reply of a model call in flight is reported as well.
    """
    now, phase = state.now, state.phase
    cut = world.partial(phase.step) if partial and isinstance(phase, Calling) else None
    at_step = len(state.steps) - 1 if isinstance(phase, Done) else phase.step
    match kind:
        case "steer" | "queue":
            return MessageSteered(name, UserMessage(f"By the way, {name}"), kind, now)
        case "cancel":
            return Cancelled("enough", now, partial=cut)
        case "cancel-after-step":
            return CancelRequested("enough for now", now)
        case "run-timeout":
            return TimedOut("total", at_step, now, partial=cut)
        case "step-timeout":
            return TimedOut("step", at_step, now, partial=cut)
        case "crash":
            return Resumed(state.identity.resumed + 1, now)


def left_in_flight(
    in_flight: Iterable[Command], event: Event, transition: Transition
) -> frozenset[Command]:
    """What is in flight after an event that changed something, by keeping count alone."""
    issued = frozenset(transition.commands)
    if isinstance(event, Resumed):
        return issued  # a new process knows of nothing else
    if isinstance(transition.state.phase, Done):
        return issued  # whoever drives a run abandons what is left at its end
    answered = answered_command(event)
    left = (command for command in in_flight if command_id(command) != answered)
    return frozenset((*left, *issued))


class _Host:
    """What drives a run: it knows what it has issued, and believes nothing else."""

    def __init__(
        self, program: Program, world: World, state: LoopState, in_flight: frozenset[Command]
    ) -> None:
        self._program: Final = program
        self._world: Final = world
        self._state = state
        self._in_flight = in_flight

    def moments(self, schedule: Schedule, most: int) -> Iterator[Moment]:
        """Answer what is open and intervene, as scheduled."""
        interventions = sorted(schedule.interventions, key=lambda it: it.tick)
        tick = 0
        while tick < most:
            if interventions and (interventions[0].tick <= tick or not self._open()):
                yield self.give(self._intervention(interventions.pop(0), len(interventions)))
                continue
            answers = self._open()
            if not answers or isinstance(self._state.phase, Done):
                return
            yield self.give(answers[schedule.order[tick % len(schedule.order)] % len(answers)])
            tick += 1

    def _open(self) -> list[Event]:
        """All events that may come next, in an order that depends on the state alone."""
        program, world, state = self._program, self._world, self._state
        owed = (world.reply_to(state, request) for request in open_requests(state))
        return [
            *(
                world.answer(program, state, command)
                for command in sorted(self._in_flight, key=command_id)
            ),
            *(answer for answer in owed if answer is not None),
        ]

    def _intervention(self, what: Intervention, left: int) -> Event:
        return event_from_outside(
            self._world, self._state, what.kind, f"{what.tick}.{left}", partial=what.with_partial
        )

    def give(self, event: Event) -> Moment:
        """Let something happen."""
        before = self._state
        try:
            transition = step(self._program, before, event)
        except IllegalEvent:
            return Moment(before, event, None, self._in_flight)
        self._state = transition.state
        if transition.state is not before:
            self._in_flight = left_in_flight(self._in_flight, event, transition)
        return Moment(before, event, transition, self._in_flight)
