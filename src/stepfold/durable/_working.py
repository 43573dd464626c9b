"""Working on one run in a store: begun, taken up or answered, under a lease."""

from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Generic, TypeVar, cast, final

from attrs import frozen
from typing_extensions import TypedDict

from stepfold.agent import (
    Agent,
    Run,
    RunFailed,
    RunOptions,
    begun,
    newly_granted,
)
from stepfold.durable._hand_over import HandedOver, HandOver
from stepfold.durable._journal import RunJournal
from stepfold.durable._leasing import LEASE_SECONDS, Holding, leased
from stepfold.durable._recording import Recovered, recovered
from stepfold.durable._sealed import AnySeal
from stepfold.loop import (
    Done,
    JournalEntry,
    Program,
    Resting,
    Transition,
    command_ids,
    step,
)
from stepfold.loop.events import Resumed
from stepfold.ports import (
    Clock,
    JournalDamaged,
    JournalError,
    JournalStore,
    StoredJournal,
)
from stepfold.shell import (
    CancelHandle,
    ChildRun,
    Observer,
    Runtime,
    Steering,
    driven,
)
from stepfold.values import Failed, Failure, Message, Success, UsageError

D = TypeVar("D")
Out = TypeVar("Out")
T = TypeVar("T")

NO_DEPS = object()


class DurableOptions(TypedDict, total=False):
    """What goes with one piece of work on a run.

    `clock`, `observers`, `cancel` and `steering` are those of `RunOptions`. `owner` is the name
    under which the run is worked on, by default one of this process; `lease_seconds` is after how
    long without a sign of life others may take the run over, 30 by default. `seal` opens and
    closes what is stored. `allow_other_program` lets a run go on although the program is not the
    one that it was begun with. `hand_over` gives the run up for others to take up: see `HandOver`.
    """

    clock: Clock
    observers: Sequence[Observer]
    cancel: CancelHandle
    steering: Steering
    owner: str
    lease_seconds: float
    seal: AnySeal
    allow_other_program: bool
    hand_over: HandOver


@final
@frozen(eq=False)
class Task(Generic[D, Out]):
    """What is worked with: an agent, where its run is kept, and whose call it belongs to."""

    agent: Agent[D, Out]
    store: JournalStore
    deps: object
    options: DurableOptions
    child: ChildRun | None = None

    def runtime(self, journal: RunJournal) -> Runtime[D]:
        """What the program's names stand for here."""
        options = self.options
        clock, observers = options.get("clock"), options.get("observers", ())
        if self.deps is NO_DEPS:
            plain = cast("Agent[object, Out]", self.agent)
            return cast(
                "Runtime[D]", plain.runtime(clock=clock, journal=journal, observers=observers)
            )
        deps = cast("D", self.deps)
        return self.agent.runtime(deps=deps, clock=clock, journal=journal, observers=observers)


async def work_on(
    store: JournalStore,
    run_id: str,
    work: Callable[[Holding], Awaitable[T]],
    options: DurableOptions,
    *,
    waits: bool = False,
) -> T:
    if not run_id:
        raise UsageError("run_id: expected a name, got an empty text")
    hand_over = options.get("hand_over")
    if hand_over is not None and hand_over.is_asked:
        raise HandedOver(run_id)
    owner, seconds = options.get("owner"), options.get("lease_seconds", LEASE_SECONDS)
    return await leased(store, run_id, work, owner=owner, seconds=seconds, waits=waits)


@contextmanager
def covered(
    options: DurableOptions, child: ChildRun | None = None
) -> Generator[CancelHandle | None]:
    """The handle of the run, by which it may be handed over as well."""
    cancel, hand_over = options.get("cancel"), options.get("hand_over")
    if hand_over is None and child is None:
        yield cancel
        return
    handle = CancelHandle() if cancel is None else cancel
    with ExitStack() as stack:
        if hand_over is not None:
            stack.enter_context(hand_over.covering(handle))
        if child is not None:
            stack.enter_context(child.following(handle))
        yield handle


async def read_journal(store: JournalStore, run_id: str) -> StoredJournal:
    match await store.read(run_id):
        case Success(stored):
            return stored
        case Failure(fault):
            raise JournalError(fault)


def recovery(program: Program, stored: StoredJournal, options: DurableOptions) -> Recovered:
    allows, seal = options.get("allow_other_program", False), options.get("seal")
    outcome = recovered(program, stored, seal=seal, allow_other_program=allows)
    if isinstance(outcome, Success):
        return outcome.unwrap()
    fault = outcome.failure()
    if isinstance(fault, JournalDamaged):
        raise JournalError(fault)
    where = "its header" if fault.position < 0 else f"entry {fault.position}"
    raise UsageError(
        f"the run {stored.run.run!r} was not begun with this program: {where} says "
        f"{fault.expected}, and the program {fault.got}; give the program that it was begun with, "
        "or allow_other_program=True if another one may go on with it"
    )


async def begin_run(
    task: Task[D, Out], prompt: str | Sequence[Message], run_id: str, holding: Holding
) -> Run[Out]:
    journal = holding.guard(RunJournal(task.store, seal=task.options.get("seal")))
    runtime = task.runtime(journal)
    cancel, steering = task.options.get("cancel"), task.options.get("steering")
    started: RunOptions = {
        "run_id": run_id,
        "parent": task.child,
        "cancel": cancel,
        "steering": steering,
    }
    given = begun(task.agent.program, prompt, runtime, started)
    await journal.begin(given.header)
    return await drive_on(task, given.first, runtime)


async def carry_on(task: Task[D, Out], stored: StoredJournal, holding: Holding) -> Run[Out]:
    program = task.agent.program
    found = recovery(program, stored, task.options)
    state = found.state
    if isinstance(state.phase, Done | Resting):
        if task.child is not None:
            task.child.end(state)
        return come_to_rest(task.agent.run_of(state))
    journal = holding.guard(continued(task.store, stored.run.run, found, task.options))
    runtime = task.runtime(journal)
    number, now = state.identity.resumed + 1, runtime.clock.now()
    event = Resumed(number, now, newly_granted(task.child, state))
    first = step(program, state, event)
    await journal.advance(JournalEntry(event, command_ids(first)), first)
    return await drive_on(task, first, runtime)


async def drive_on(task: Task[D, Out], first: Transition, runtime: Runtime[D]) -> Run[Out]:
    steering = task.options.get("steering")
    child = task.child
    with covered(task.options, child) as handle:
        program = task.agent.program
        driver = await driven(program, first, runtime, handle, steering, child=child)
    if not isinstance(driver.state.phase, Done | Resting):
        if child is not None:
            child.leave()
        raise HandedOver(driver.state.identity.run)
    run = Run(driver.state, task.agent.output, driver.outputs)
    try:
        return come_to_rest(run)
    except RunFailed as failed:
        raise failed from driver.cause


def come_to_rest(run: Run[Out]) -> Run[Out]:
    """The run, unless it failed, or was handed over.

    Raises:
        RunFailed: it ended in `Failed`.
        HandedOver: it is at work.
    """
    if not isinstance(run.state.phase, Done | Resting):
        raise HandedOver(run.id)
    if isinstance(run.end, Failed):
        run.unwrap()  # raises what `generate` would
    return run


def continued(
    store: JournalStore, run_id: str, found: Recovered, options: DurableOptions
) -> RunJournal:
    seal = options.get("seal")
    return RunJournal.continued(store, run_id, found.version, found.kept, seal=seal)


def run_options(
    journal: RunJournal, options: DurableOptions, handle: CancelHandle | None
) -> RunOptions:
    return {
        "journal": journal,
        "clock": options.get("clock"),
        "observers": options.get("observers", ()),
        "cancel": handle,
        "steering": options.get("steering"),
    }
