from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, final
from attrs import frozen
from stepfold.loop import Granted, JournalEntry, JournalHeader, LoopState, Program, Transition, step
from stepfold.loop.commands import Command
from stepfold.loop.events import Event
from stepfold.testing._world import World
from stepfold.values import Instant, Message

InterventionKind: TypeAlias = Literal[
    "steer", "queue", "cancel", "cancel-after-step", "run-timeout", "step-timeout", "crash"
]

@final
@frozen(order=False)
class Intervention:
    tick: int
    kind: InterventionKind
    with_partial: bool = False

@final
@frozen(order=False)
class Schedule:
    order: tuple[int, ...] = (0,)
    interventions: tuple[Intervention, ...] = ()

@final
@frozen(order=False)
class Moment:
    before: LoopState
    event: Event
    transition: Transition | None
    in_flight: frozenset[Command]

    @property
    def after(self) -> LoopState: ...
    @property
    def changed(self) -> bool: ...

@final
@frozen(order=False)
class Trace:
    program: Program
    world: World
    header: JournalHeader
    start: Transition
    moments: tuple[Moment, ...]

    @property
    def states(self) -> tuple[LoopState, ...]: ...
    @property
    def end(self) -> LoopState: ...
    @property
    def transitions(self) -> tuple[Transition, ...]: ...
    @property
    def entries(self) -> tuple[JournalEntry, ...]: ...

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
    most: int = 1000,
) -> Trace: ...
def trace_of(program: Program, header: JournalHeader, entries: Iterable[JournalEntry]) -> Trace: ...
def carry_on(
    trace: Trace, state: LoopState, schedule: Schedule = Schedule(), *, most: int = 1000
) -> Trace: ...
def answered_command(event: Event) -> str | None: ...
