"""Streamed runs in a store, under a lease like all others."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar, cast, overload

from typing_extensions import Unpack

from stepfold.agent import Agent, RunStream, StreamOptions
from stepfold.durable._hand_over import HandedOver
from stepfold.durable._journal import RunJournal
from stepfold.durable._leasing import LEASE_SECONDS, held
from stepfold.durable._working import NO_DEPS, DurableOptions, covered
from stepfold.ports import JournalStore
from stepfold.values import Message, UsageError

D = TypeVar("D")
Out = TypeVar("Out")


@overload
def stream(
    agent: Agent[object, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: str,
    **options: Unpack[DurableOptions],
) -> AbstractAsyncContextManager[RunStream[Out]]: ...
@overload
def stream(
    agent: Agent[D, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: str,
    deps: D,
    **options: Unpack[DurableOptions],
) -> AbstractAsyncContextManager[RunStream[Out]]: ...
@asynccontextmanager
async def stream(
    agent: Agent[D, Out],
    store: JournalStore,
    prompt: str | Sequence[Message],
    /,
    *,
    run_id: str,
    deps: object = NO_DEPS,
    **options: Unpack[DurableOptions],
) -> AsyncGenerator[RunStream[Out]]:
    """Begin a run under a name and stream it; as `Agent.stream`, in a store and under a lease.

        async with durable.stream(agent, store, "Go", run_id="order-17") as parts:
            async for part in parts: ...

    A worker that dies leaves a run that others take over, and one that has lost its run to another
    is refused its next event. A run of this name that is there is not streamed again: `resume` it.

    Raises:
        HandedOver: `hand_over` was called before the run was begun.
        JournalError: there is a run of this name, somebody else works on it, or the store fails.
        UsageError: an argument is wrong.
    """
    if not run_id:
        raise UsageError("run_id: expected a name, got an empty text")
    hand_over = options.get("hand_over")
    if hand_over is not None and hand_over.is_asked:
        raise HandedOver(run_id)
    owner, seconds = options.get("owner"), options.get("lease_seconds", LEASE_SECONDS)
    async with held(store, run_id, owner=owner, seconds=seconds) as holding:
        journal = holding.guard(RunJournal(store, seal=options.get("seal")))
        with covered(options) as handle:
            given: StreamOptions = {
                "journal": journal,
                "run_id": run_id,
                "clock": options.get("clock"),
                "observers": options.get("observers", ()),
                "cancel": handle,
                "steering": options.get("steering"),
            }
            if deps is NO_DEPS:
                begun = cast("Agent[object, Out]", agent).stream(prompt, **given)
            else:
                begun = agent.stream(prompt, deps=cast("D", deps), **given)
            async with begun as parts:
                yield parts
