"""Runs that survive: begun under a name, taken up where they were left, answered, handed over."""

import time
from collections.abc import Sequence
from typing import TypeVar, cast, overload

from typing_extensions import Unpack

from stepfold.agent import (
    Agent,
    AnyAnswer,
    Run,
    RunFailed,
    child_of,
)
from stepfold.durable._hand_over import HandedOver
from stepfold.durable._leasing import Holding
from stepfold.durable._recording import is_of_a_call
from stepfold.durable._working import (
    NO_DEPS,
    DurableOptions,
    Task,
    begin_run,
    carry_on,
    come_to_rest,
    continued,
    covered,
    read_journal,
    recovery,
    run_options,
    work_on,
)
from stepfold.loop import (
    Done,
    Resting,
)
from stepfold.ports import (
    JournalConflict,
    JournalError,
    JournalMissing,
    JournalStore,
    LeaseHeld,
)
from stepfold.shell import (
    ToolContext,
)
from stepfold.values import Failure, Message, Success, UsageError

D = TypeVar("D")
Out = TypeVar("Out")
T = TypeVar("T")


@overload
async def run(
    agent: Agent[object, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: str,
    parent: None = None,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
@overload
async def run(
    agent: Agent[object, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: None = None,
    parent: ToolContext[object],
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
    parent: None = None,
    deps: D,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
@overload
async def run(
    agent: Agent[D, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: None = None,
    parent: ToolContext[object],
    deps: D,
    **options: Unpack[DurableOptions],
) -> Run[Out]: ...
async def run(
    agent: Agent[D, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: str | None = None,
    parent: ToolContext[object] | None = None,
    deps: object = NO_DEPS,
    **options: Unpack[DurableOptions],
) -> Run[Out]:
    """Run under a name: begin, or go on where it was left; what has ended is given as it is.

    So it may be called again with the same arguments after any crash. The prompt is that of the
    first call.

    With a `parent`, which is the context of the tool call that this belongs to, the run is named
    after the call and keeps to what the call was granted; what it has spent is the call's. A tool
    that does nothing else may be declared idempotent: called again after a crash, it finds its run
    where it was left. If the run that calls is handed over, so is this one, where the tool may be
    called again; else it comes to its end first.

    Raises:
        RunFailed: the run ended in `Failed`.
        HandedOver: `hand_over` was called before it rested or ended; that of its parent, where it
            has one. A tool lets it pass.
        JournalError: somebody else works on it, or the store fails.
        UsageError: an argument is wrong, or the run was begun with another program.
    """
    child = child_of(parent, agent.program)
    if (run_id is None) == (child is None):
        raise UsageError("expected run_id=…, or parent=…, which names the run after its call")
    name = child.run if run_id is None and child is not None else run_id or ""
    if child is not None and options.get("hand_over") is not None:
        raise UsageError(
            "hand_over: expected none beside parent=…: it is handed over with the run whose call "
            "it belongs to, so give that one hand_over=…"
        )
    if child is not None and child.is_to_leave:
        child.leave()
        raise HandedOver(name)
    task = Task(agent, store, deps, options, child)

    async def work(holding: Holding) -> Run[Out]:
        match await store.read(name):
            case Success(stored):
                return await carry_on(task, stored, holding)
            case Failure(JournalMissing()):
                return await begin_run(task, prompt, name, holding)
            case Failure(damaged):
                raise JournalError(damaged)

    return await work_on(store, name, work, options, waits=child is not None)


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
    deps: object = NO_DEPS,
    **options: Unpack[DurableOptions],
) -> Run[Out]:
    """Take a run up where it was left, in whatever process, and give it at rest or at its end.

    A tool call that was owed and had not started runs; an idempotent one that had started runs
    again, with the same `context.idempotency_key`; any other one that had started is closed as
    interrupted. Attempts at the model are counted on, and a pause before the next one ends when
    it would have. A run that is blocked or has ended is given as it is.

    Raises:
        RunFailed: the run ended in `Failed`.
        HandedOver: `hand_over` was called before it rested or ended.
        JournalError: there is no such run, somebody else works on it, or the store fails.
        UsageError: an argument is wrong, or the run was begun with another program.
    """

    async def work(holding: Holding) -> Run[Out]:
        stored = await read_journal(store, run_id)
        return await carry_on(Task(agent, store, deps, options), stored, holding)

    return await work_on(store, run_id, work, options)


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
    deps: object = NO_DEPS,
    **options: Unpack[DurableOptions],
) -> Run[Out]:
    """Answer what a blocked run asks, and let it go on; as `Agent.answer`, in a store.

    Raises:
        RunFailed: the run ended in `Failed`.
        JournalError: there is no such run, somebody else works on it, or the store fails.
        UsageError: an argument is wrong, the run is at work, or was begun with another program.
    """

    async def work(holding: Holding) -> Run[Out]:
        found = recovery(agent.program, await read_journal(store, run_id), options)
        if not isinstance(found.state.phase, Done | Resting):
            raise UsageError(
                f"answer: expected the run {run_id!r} at rest, got it in "
                f"{type(found.state.phase).__name__}: resume it first"
            )
        asked = agent.run_of(found.state)
        journal = holding.guard(continued(store, run_id, found, options))
        with covered(options) as handle:
            given = run_options(journal, options, handle)
            if deps is NO_DEPS:
                plain = cast("Agent[object, Out]", agent)
                answered = await plain.answer(asked, answers, **given)
            else:
                answered = await agent.answer(asked, answers, deps=cast("D", deps), **given)
        return come_to_rest(answered)

    return await work_on(store, run_id, work, options)


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
    deps: object = NO_DEPS,
    most: int | None = None,
    **options: Unpack[DurableOptions],
) -> tuple[Run[Out], ...]:
    """Resume the runs whose workers are gone: those at work on which no lease is alive.

    One after another, by name, `most` of them or all; each is taken over by one worker, however
    many look for it at once. Runs that never had a lease (they were begun with `journal=` alone)
    are left, and so are runs of tool calls, which the run that called takes up itself. Runs that
    fail are given like all others.

    Raises:
        JournalError: the store fails.
        UsageError: as `resume`.
    """
    taken: list[Run[Out]] = []
    after = ""
    hand_over = options.get("hand_over")
    while most is None or len(taken) < most:
        page = await store.list_runs(status="running", after=after)
        if not page:
            break
        after = page[-1].run
        for stored in page:
            if hand_over is not None and hand_over.is_asked:
                return tuple(taken)
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
        stored = await read_journal(store, run_id)
        if stored.run.status != "running" or is_of_a_call(stored, seal=options.get("seal")):
            return None
        return await carry_on(Task(agent, store, deps, options), stored, holding)

    try:
        return await work_on(store, run_id, work, options)
    except HandedOver:
        return None  # and the next one is not begun
    except RunFailed as failed:
        return cast("Run[Out]", failed.run)
    except JournalError as error:
        if isinstance(error.fault, LeaseHeld | JournalConflict | JournalMissing):
            return None
        raise
