"""All stores keep the same promises, and a check that says so finds what does not."""

from collections.abc import Callable

import pytest
from attrs import evolve

from stepfold.durable import MemoryStore
from stepfold.ports import (
    JournalMissing,
    JournalRecord,
    JournalStore,
    Lease,
    RunStatus,
    StoredJournal,
    StoredRun,
)
from stepfold.testing.conformance import check_journal
from stepfold.values import Failure, Outcome, Success


async def test_stores_keep_their_promises(open_store: Callable[[], JournalStore]) -> None:
    await check_journal(open_store(), open_store())


class _Wrapped:
    """A store that does as another does, until something is changed about it."""

    def __init__(self) -> None:
        self.inner = MemoryStore()

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)


class _TakesAnyVersion(_Wrapped):
    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Outcome[int, object]:
        match await self.inner.read(run):
            case Success(stored):
                expected = stored.run.version
            case Failure():
                expected = 0
        return await self.inner.append(run, record, expected=expected)


class _WritesBeforeItRefuses(_Wrapped):
    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Outcome[int, object]:
        outcome = await self.inner.append(run, record, expected=expected)
        if isinstance(outcome, Failure) and expected == 3:
            await self.inner.append(run, record, expected=0)
        return outcome


class _ForgetsPayloads(_Wrapped):
    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Outcome[int, object]:
        bare = evolve(record, payloads=record.payloads[:1])
        return await self.inner.append(run, bare, expected=expected)


class _FoldsCase(_Wrapped):
    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Outcome[int, object]:
        return await self.inner.append(run.lower(), record, expected=expected)

    async def read(self, run: str, /) -> Outcome[StoredJournal, JournalMissing]:
        return await self.inner.read(run.lower())


class _ChangesBytes(_Wrapped):
    async def read(self, run: str, /) -> Outcome[StoredJournal, JournalMissing]:
        match await self.inner.read(run):
            case Success(stored):
                records = tuple(record.replace(b":", b": ") for record in stored.records)
                return Success(evolve(stored, records=records))
            case Failure() as failure:
                return failure


class _ListsAll(_Wrapped):
    async def list_runs(
        self, *, status: RunStatus | None = None, after: str = "", limit: int = 100
    ) -> tuple[StoredRun, ...]:
        return await self.inner.list_runs(after=after, limit=limit)


class _ForksWhole(_Wrapped):
    async def fork(self, run: str, new: str, /, *, at: int) -> Outcome[int, object]:
        match await self.inner.read(run):
            case Success(stored) if 0 < at <= stored.run.version:
                return await self.inner.fork(run, new, at=stored.run.version)
            case _:
                return await self.inner.fork(run, new, at=at)


class _LeasesToAll(_Wrapped):
    async def claim(
        self, run: str, owner: str, /, *, now: int, until: int
    ) -> Outcome[Lease, object]:
        return Success(Lease(run, owner, 1, until))


class _RenewsWhatIsLost(_Wrapped):
    async def renew(self, lease: Lease, /, *, now: int, until: int) -> Outcome[Lease, object]:
        return Success(evolve(lease, until=until))


class _ReleasesOthers(_Wrapped):
    async def release(self, lease: Lease, /) -> None:
        for token in range(9):
            await self.inner.release(evolve(lease, token=token))


class _KeepsLeases(_Wrapped):
    async def delete(self, run: str, /) -> bool:
        lease = self.inner._leases.get(run)
        was_there = await self.inner.delete(run)
        if lease is not None:
            self.inner._leases[run] = lease
        return was_there


@pytest.mark.parametrize(
    "faulty",
    [
        _TakesAnyVersion,
        _WritesBeforeItRefuses,
        _ForgetsPayloads,
        _FoldsCase,
        _ChangesBytes,
        _ListsAll,
        _ForksWhole,
        _LeasesToAll,
        _RenewsWhatIsLost,
        _ReleasesOthers,
        _KeepsLeases,
    ],
)
async def test_a_faulty_store_is_found(faulty: type[_Wrapped]) -> None:
    store: JournalStore = faulty()  # type: ignore[assignment]  # the rest is the inner store's

    with pytest.raises(AssertionError, match="got"):
        await check_journal(store)
