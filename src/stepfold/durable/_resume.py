"""Runs that survive: begun under a name, taken up where they were left, answered, handed over."""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar, cast, overload

from typing_extensions import TypedDict, Unpack

from stepfold.agent import Agent, AnyAnswer, Run, RunFailed, RunOptions
from stepfold.durable._journal import RunJournal
from stepfold.durable._leasing import LEASE_SECONDS, Holding, leased
from stepfold.durable._recording import Recovered, recovered
from stepfold.durable._seal import Seal
from stepfold.loop import (
    Done,
    JournalEntry,
    LoopState,
    Program,
    Resting,
    command_ids,
    step,
)
from stepfold.loop.events import Resumed
from stepfold.ports import (
    Clock,
    JournalConflict,
    JournalDamaged,
    JournalError,
    JournalMissing,
    JournalStore,
    LeaseHeld,
    StoredJournal,
)
from stepfold.shell import CancelHandle, Observer, Runtime, Steering, SystemClock, drive
from stepfold.values import Failed, Failure, Message, Success, UsageError

D = TypeVar("D")
Out = TypeVar("Out")
T = TypeVar("T")

_NO_DEPS = object()


class DurableOptions(TypedDict, total=False):
    """What goes with one piece of work on a run.

    `clock`, `observers`, `cancel` and `steering` are those of `RunOptions`. `owner` is the name
    under which the run is worked on, by default one of this process; `lease_seconds` is after how
    long without a sign of life others may take the run over, 30 by default. `seal` opens and
    closes what is stored. `allow_other_program` lets a run go on although the program is not the
    one that it was begun with.
    """

    clock: Clock
    observers: Sequence[Observer]
    cancel: CancelHandle
    steering: Steering
    owner: str
    lease_seconds: float
    seal: Seal
    allow_other_program: bool


@overload
async def run(
    agent: Agent[object, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: str,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
@overload
async def run(
    agent: Agent[D, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: str,
    deps: D,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
async def run(
    agent: Agent[D, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: str,
    deps: object = _NO_DEPS,
    **options: Unpack[DurableOptions],
) -> Run[Out]:
    """Run under a name: begin, or go on where it was left; what has ended is given as it is.

    So it may be called again with the same arguments after any crash. The prompt is that of the
    first call.

    Raises:
        RunFailed: the run ended in `Failed`.
        JournalError: somebody else works on it, or the store fails.
        UsageError: an argument is wrong, or the run was begun with another program.
    """

    async def work(holding: Holding) -> Run[Out]:
        match await store.read(run_id):
            case Success(stored):
                return await _carried_on(agent, store, stored, deps, options, holding)
            case Failure(JournalMissing()):
                journal = holding.guard(RunJournal(store, seal=options.get("seal")))
                return await _begun(agent, prompt, run_id, journal, deps, options)
            case Failure(damaged):
                raise JournalError(damaged)

    return await _leased(store, run_id, work, options)


@overload
async def resume(
    agent: Agent[object, Out],
    store: JournalStore,
    run_id: str,
    /,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
@overload
async def resume(
    agent: Agent[D, Out],
    store: JournalStore,
    run_id: str,
    /,
    *,
    deps: D,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
async def resume(
    agent: Agent[D, Out],
    store: JournalStore,
    run_id: str,
    /,
    *,
    deps: object = _NO_DEPS,
    **options: Unpack[DurableOptions],
) -> Run[Out]:
    """Take a run up where it was left, in whatever process, and give it at rest or at its end.

    A tool call that was owed and had not started runs; an idempotent one that had started runs
    again, with the same `context.idempotency_key`; any other one that had started is closed as
    interrupted. Attempts at the model are counted on, and a pause before the next one ends when
    it would have. A run that is blocked or has ended is given as it is.

    Raises:
        RunFailed: the run ended in `Failed`.
        JournalError: there is no such run, somebody else works on it, or the store fails.
        UsageError: an argument is wrong, or the run was begun with another program.
    """

    async def work(holding: Holding) -> Run[Out]:
        stored = await _read(store, run_id)
        return await _carried_on(agent, store, stored, deps, options, holding)

    return await _leased(store, run_id, work, options)


@overload
async def answer(
    agent: Agent[object, Out],
    store: JournalStore,
    run_id: str,
    answers: Sequence[AnyAnswer],
    /,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
@overload
async def answer(
    agent: Agent[D, Out],
    store: JournalStore,
    run_id: str,
    answers: Sequence[AnyAnswer],
    /,
    *,
    deps: D,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
async def answer(
    agent: Agent[D, Out],
    store: JournalStore,
    run_id: str,
    answers: Sequence[AnyAnswer],
    /,
    *,
    deps: object = _NO_DEPS,
    **options: Unpack[DurableOptions],
) -> Run[Out]:
    """Answer what a blocked run asks, and let it go on; as `Agent.answer`, in a store.

    Raises:
        RunFailed: the run ended in `Failed`.
        JournalError: there is no such run, somebody else works on it, or the store fails.
        UsageError: an argument is wrong, the run is at work, or was begun with another program.
    """

    async def work(holding: Holding) -> Run[Out]:
        found = _recovered(agent.program, await _read(store, run_id), options)
        if not isinstance(found.state.phase, Done | Resting):
            raise UsageError(
                f"answer: expected the run {run_id!r} at rest, got it in "
                f"{type(found.state.phase).__name__}: resume it first"
            )
        asked = agent.run_of(found.state)
        journal = holding.guard(_continued(store, run_id, found, options))
        given = _run_options(journal, options)
        if deps is _NO_DEPS:
            return await cast("Agent[object, Out]", agent).answer(asked, answers, **given)
        return await agent.answer(asked, answers, deps=cast("D", deps), **given)

    return await _leased(store, run_id, work, options)


@overload
async def take_over(
    agent: Agent[object, Out],
    store: JournalStore,
    /,
    *,
    most: int | None = None,
    **options: Unpack[DurableOptions],
) -> tuple[Run[Out], ...]: ...
@overload
async def take_over(
    agent: Agent[D, Out],
    store: JournalStore,
    /,
    *,
    deps: D,
    most: int | None = None,
    **options: Unpack[DurableOptions],
) -> tuple[Run[Out], ...]: ...
async def take_over(
    agent: Agent[D, Out],
    store: JournalStore,
    /,
    *,
    deps: object = _NO_DEPS,
    most: int | None = None,
    **options: Unpack[DurableOptions],
) -> tuple[Run[Out], ...]:
    """Resume the runs whose workers are gone: those at work on which no lease is alive.

    One after another, by name, `most` of them or all; each is taken over by one worker, however
    many look for it at once. Runs that never had a lease (they were begun with `journal=` alone)
    are left. Runs that fail are given like all others.

    Raises:
        JournalError: the store fails.
        UsageError: as `resume`.
    """
    taken: list[Run[Out]] = []
    after = ""
    while most is None or len(taken) < most:
        page = await store.list_runs(status="running", after=after)
        if not page:
            break
        after = page[-1].run
        for stored in page:
            if stored.leased_until is None or stored.leased_until > time.time_ns():
                continue
            given = await _taken_over(agent, store, stored.run, deps, options)
            if given is not None:
                taken.append(given)
            if most is not None and len(taken) >= most:
                break
    return tuple(taken)


async def _taken_over(
    agent: Agent[D, Out], store: JournalStore, run_id: str, deps: object, options: DurableOptions
) -> Run[Out] | None:
    """Resume a run that seemed to be left; `None` if somebody else was there before."""

    async def work(holding: Holding) -> Run[Out] | None:
        stored = await _read(store, run_id)
        if stored.run.status != "running":
            return None
        return await _carried_on(agent, store, stored, deps, options, holding)

    try:
        return await _leased(store, run_id, work, options)
    except RunFailed as failed:
        return cast("Run[Out]", failed.run)
    except JournalError as error:
        if isinstance(error.fault, LeaseHeld | JournalConflict | JournalMissing):
            return None
        raise


# --- what they share --------------------------------------------------------------------------


async def _leased(
    store: JournalStore,
    run_id: str,
    work: Callable[[Holding], Awaitable[T]],
    options: DurableOptions,
) -> T:
    if not run_id:
        raise UsageError("run_id: expected a name, got an empty text")
    owner, seconds = options.get("owner"), options.get("lease_seconds", LEASE_SECONDS)
    return await leased(store, run_id, work, owner=owner, seconds=seconds)


async def _read(store: JournalStore, run_id: str) -> StoredJournal:
    match await store.read(run_id):
        case Success(stored):
            return stored
        case Failure(fault):
            raise JournalError(fault)


def _recovered(program: Program, stored: StoredJournal, options: DurableOptions) -> Recovered:
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


async def _begun(
    agent: Agent[D, Out],
    prompt: str | Sequence[Message],
    run_id: str,
    journal: RunJournal,
    deps: object,
    options: DurableOptions,
) -> Run[Out]:
    given = _run_options(journal, options)
    given["run_id"] = run_id
    if deps is _NO_DEPS:
        return await cast("Agent[object, Out]", agent).generate(prompt, **given)
    return await agent.generate(prompt, deps=cast("D", deps), **given)


async def _carried_on(
    agent: Agent[D, Out],
    store: JournalStore,
    stored: StoredJournal,
    deps: object,
    options: DurableOptions,
    holding: Holding,
) -> Run[Out]:
    found = _recovered(agent.program, stored, options)
    state = found.state
    if not isinstance(state.phase, Done | Resting):
        journal = holding.guard(_continued(store, stored.run.run, found, options))
        state = await _driven(agent, state, journal, deps, options)
    given = agent.run_of(state)
    if isinstance(given.end, Failed):
        given.unwrap()  # raises what `generate` would
    return given


async def _driven(
    agent: Agent[D, Out],
    state: LoopState,
    journal: RunJournal,
    deps: object,
    options: DurableOptions,
) -> LoopState:
    clock, observers = options.get("clock", SystemClock()), options.get("observers", ())
    event = Resumed(state.identity.resumed + 1, clock.now())
    first = step(agent.program, state, event)
    await journal.advance(JournalEntry(event, command_ids(first)), first)
    cancel, steering = options.get("cancel"), options.get("steering")
    if deps is _NO_DEPS:
        plain = cast("Agent[object, Out]", agent)
        runtime: Runtime[object] = plain.runtime(clock=clock, journal=journal, observers=observers)
        return await drive(agent.program, first, runtime, cancel=cancel, steering=steering)
    given = agent.runtime(deps=cast("D", deps), clock=clock, journal=journal, observers=observers)
    return await drive(agent.program, first, given, cancel=cancel, steering=steering)


def _continued(
    store: JournalStore, run_id: str, found: Recovered, options: DurableOptions
) -> RunJournal:
    seal = options.get("seal")
    return RunJournal.continued(store, run_id, found.version, found.kept, seal=seal)


def _run_options(journal: RunJournal, options: DurableOptions) -> RunOptions:
    return {
        "journal": journal,
        "clock": options.get("clock"),
        "observers": options.get("observers", ()),
        "cancel": options.get("cancel"),
        "steering": options.get("steering"),
    }
