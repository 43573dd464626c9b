"""Working on a run under a lease that is kept alive, so that a dead worker's run is taken over."""

import os
import secrets
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, TypeVar, final

import anyio

from stepfold.durable._journal import RunJournal
from stepfold.ports import JournalError, JournalFault, JournalStore, Lease
from stepfold.values import Failure, Instant, Success, UsageError

T = TypeVar("T")

LEASE_SECONDS: Final = 30.0
_SECOND: Final = 1_000_000_000
_LONGEST_LOOK: Final = 1.0


@final
class Holding:
    """The right to work on a run, for as long as a block of work lasts."""

    def __init__(self) -> None:
        self._journals: list[RunJournal] = []
        self.lost: JournalFault | None = None

    def guard(self, journal: RunJournal) -> RunJournal:
        """Let this journal refuse everything once the right is lost."""
        self._journals.append(journal)
        return journal

    def lose(self, fault: JournalFault) -> None:
        """Give the run up: somebody else has it."""
        self.lost = fault
        for journal in self._journals:
            journal.fence(fault)


async def leased(
    store: JournalStore,
    run: str,
    work: Callable[[Holding], Awaitable[T]],
    *,
    owner: str | None = None,
    seconds: float = LEASE_SECONDS,
    waits: bool = False,
) -> T:
    """Work on a run that nobody else works on; the lease is renewed three times in its length.

    With `waits`, a lease that somebody else holds is waited for: it was left by a worker that is
    gone, and ends.

    Raises:
        JournalError: somebody else has the run, or has got it meanwhile, since this process was
            stopped or cut off for too long; nothing is written any more then.
    """
    if not seconds > 0:
        raise UsageError(f"lease_seconds: expected seconds above zero, got {seconds!r}")
    name = owner_name() if owner is None else owner
    lease = await _claimed(store, run, name, seconds, waits=waits)
    holding = Holding()
    done: list[T] = []
    failure: BaseException | None = None
    try:
        async with anyio.create_task_group() as group:
            scope = anyio.CancelScope()
            group.start_soon(_beat, store, lease, seconds, holding, scope)
            with scope:
                try:
                    done.append(await work(holding))
                except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001
                    failure = error  # raised below, in no group
            group.cancel_scope.cancel()
    finally:
        with anyio.move_on_after(5, shield=True):
            await store.release(lease)
    if done:
        return done[0]
    if holding.lost is not None:
        raise JournalError(holding.lost) from failure
    if failure is None:
        raise RuntimeError("expected the work to end in a result or in an exception")
    raise failure


@asynccontextmanager
async def held(
    store: JournalStore, run: str, *, owner: str | None = None, seconds: float = LEASE_SECONDS
) -> AsyncGenerator[Holding]:
    """Hold a run for as long as a block lasts; as `leased`, but who is in the block is not cut.

    Once somebody else has the run, nothing is written any more: the next event raises.

    Raises:
        JournalError: somebody else has the run.
    """
    if not seconds > 0:
        raise UsageError(f"lease_seconds: expected seconds above zero, got {seconds!r}")
    name = owner_name() if owner is None else owner
    lease = await _claimed(store, run, name, seconds, waits=False)
    holding = Holding()
    failure: BaseException | None = None
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_beat, store, lease, seconds, holding, anyio.CancelScope())
            try:
                yield holding
            except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001
                failure = error  # raised below, in no group
            group.cancel_scope.cancel()
    finally:
        with anyio.move_on_after(5, shield=True):
            await store.release(lease)
    if failure is not None:
        raise failure


async def _claimed(
    store: JournalStore, run: str, owner: str, seconds: float, *, waits: bool
) -> Lease:
    while True:
        now = time.time_ns()
        match await store.claim(run, owner, now=now, until=_after(now, seconds)):
            case Success(lease):
                return lease
            case Failure(held):
                if not waits:
                    raise JournalError(held)
                left = max(held.until - time.time_ns(), _SECOND // 100)
                await anyio.sleep(min(left / _SECOND, _LONGEST_LOOK))


async def _beat(
    store: JournalStore, lease: Lease, seconds: float, holding: Holding, scope: anyio.CancelScope
) -> None:
    """Renew a lease until the work is done or the lease is lost.

    By the clock of the system, since others look at theirs, whatever time a run is told.
    """
    until = lease.until
    while True:
        await anyio.sleep(seconds / 3)
        now = time.time_ns()
        fault: JournalFault
        try:
            match await store.renew(lease, now=now, until=_after(now, seconds)):
                case Success(renewed):
                    until = renewed.until
                    continue
                case Failure(held):
                    fault = held
        except JournalError as error:
            if now < until:
                continue  # the store may be there again before the lease ends
            fault = error.fault
        holding.lose(fault)
        scope.cancel()
        return


def _after(now: Instant, seconds: float) -> Instant:
    return now + round(seconds * _SECOND)


def owner_name() -> str:
    """A name for whoever works here: the host, the process, and a number that is never repeated."""
    return f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"
