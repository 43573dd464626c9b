"""The check of stores: what every `JournalStore` must keep, whatever it is made of."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

import anyio

from stepfold.ports import (
    JournalConflict,
    JournalMissing,
    JournalRecord,
    JournalStore,
    Lease,
    LeaseHeld,
    RunStatus,
    StoredJournal,
)
from stepfold.values import Failure, Outcome, Success

T = TypeVar("T")

_NAMES: Final = ("plain", "run/0/1", "Case", "case", "näme ✓", "..", "a b%2f", "n" * 300)


async def check_journal(store: JournalStore, again: JournalStore | None = None) -> None:
    """Try the promises of a store: the one line for your own.

        await check_journal(MyStore(path), again=MyStore(path))

    The store has to be empty, and is left with a few runs in it. `again` is a second way to the
    same place, as another process has it: what one has appended the other reads and respects.
    Runs on asyncio and on trio.

    Raises:
        AssertionError: something is not kept; the text says what was done, and what came of it.
    """
    other = store if again is None else again
    await _keeps_what_is_appended(store, other)
    await _refuses_all_writers_but_one(store, other)
    await _keeps_payloads_once(store, other)
    await _tells_names_apart(store, other)
    await _lists_in_order(store)
    await _forks(store, other)
    await _leases_to_one(store, other)
    await _changes_hands(store, other)
    await _forgets(store, other)


def _record(
    number: int, status: RunStatus = "running", payloads: tuple[tuple[str, bytes], ...] = ()
) -> JournalRecord:
    return JournalRecord(f'{{"number":{number},"text":"ä\\n"}}'.encode(), number, status, payloads)


def _require(what: str, holds: bool, found: object) -> None:  # noqa: FBT001 - it is the claim
    if not holds:
        raise AssertionError(f"{what}; got {found!r:.500}")


def _require_equal(what: str, expected: object, found: object) -> None:
    if expected != found:
        raise AssertionError(f"{what}: expected {expected!r:.500}, got {found!r:.500}")


async def _appended(store: JournalStore, run: str, count: int, *, first: int = 0) -> None:
    for number in range(first, first + count):
        outcome = await store.append(run, _record(number + 1), expected=number)
        _require_equal(
            f"append(expected={number}) to a run at {number}", Success(number + 1), outcome
        )


async def _whole(store: JournalStore, run: str) -> StoredJournal:
    match await store.read(run):
        case Success(stored):
            return stored
        case Failure(fault):
            raise AssertionError(f"read({run!r:.80}) of a run that is there; got {fault!r:.500}")


async def _keeps_what_is_appended(store: JournalStore, other: JournalStore) -> None:
    _require_equal(
        "read of a run that is not there", Failure(JournalMissing("no")), await store.read("no")
    )
    await _appended(store, "kept", 2)
    await _appended(other, "kept", 2, first=2)
    await _appended(store, "kept", 1, first=4)
    for reader in (store, other):
        stored = await _whole(reader, "kept")
        expected = tuple(_record(number).data for number in range(1, 6))
        _require_equal("read gives the records in their order", expected, stored.records)
        told = stored.run
        figures = (told.run, told.version, told.status, told.created, told.updated, told.parent)
        _require_equal("what is told of the run", ("kept", 5, "running", 1, 5, None), figures)


async def _refuses_all_writers_but_one(store: JournalStore, other: JournalStore) -> None:
    await _appended(store, "contested", 1)
    for expected in (0, 2, 7):
        outcome = await other.append("contested", _record(9), expected=expected)
        refused = Failure(JournalConflict("contested", expected, 1))
        _require_equal(f"append(expected={expected}) to a run at 1", refused, outcome)
    outcome = await store.append("never", _record(9), expected=3)
    refused = Failure(JournalConflict("never", 3, 0))
    _require_equal("append(expected=3) to a run that is not there", refused, outcome)
    _require_equal(
        "a refused append leaves no run",
        Failure(JournalMissing("never")),
        await store.read("never"),
    )

    for run, expected in (("contested", 1), ("new", 0)):
        writes = partial(_written_by, store, other, run, expected)
        outcomes = await _at_once(8, writes)
        won = [outcome for outcome in outcomes if isinstance(outcome, Success)]
        _require(f"of 8 writers at version {expected} at once one wins", len(won) == 1, outcomes)
        stored = await _whole(store, run)
        _require_equal("and its record alone is kept", expected + 1, len(stored.records))


async def _written_by(
    store: JournalStore, other: JournalStore, run: str, expected: int, place: int
) -> Outcome[int, JournalConflict]:
    writer = other if place % 2 else store
    return await writer.append(run, _record(100 + place), expected=expected)


async def _keeps_payloads_once(store: JournalStore, other: JournalStore) -> None:
    big = ("d1", "a big text, ä ✓ \n".encode() * 1_000)
    small = ("d2", b"{}")
    await store.append("payloads", _record(1, payloads=(big,)), expected=0)
    await other.append("payloads", _record(2, payloads=(big, small)), expected=1)
    await store.append("payloads", _record(3, payloads=(big,)), expected=2)
    stored = await _whole(other, "payloads")
    _require_equal("payloads come back by their digests", dict((big, small)), dict(stored.payloads))
    _require_equal("and records without them", 3, len(stored.records))


async def _tells_names_apart(store: JournalStore, other: JournalStore) -> None:
    for place, run in enumerate(_NAMES):
        for number in range(1 + place):
            await store.append(run, _record(number), expected=number)
    for place, run in enumerate(_NAMES):
        stored = await _whole(other, run)
        _require_equal(f"the run {run!r:.40} has its own name", run, stored.run.run)
        _require_equal(f"the run {run!r:.40} has its own records", 1 + place, len(stored.records))


async def _lists_in_order(store: JournalStore) -> None:
    await store.append("listed-1", _record(1, "blocked"), expected=0)
    await store.append("listed-2", _record(1), expected=0)
    await store.append("listed-2", _record(2, "completed"), expected=1)
    await store.append("listed-3", _record(1, "blocked"), expected=0)
    found = await store.list_runs()
    names = [run.run for run in found]
    _require_equal("list_runs() is in the order of names", sorted(names), names)
    _require("list_runs() has every run", {*_NAMES, "kept", "listed-1"} <= {*names}, names)
    page = await store.list_runs(after="listed-1", limit=2)
    two = ["listed-2", "listed-3"]
    _require_equal("list_runs(after='listed-1', limit=2)", two, [run.run for run in page])
    blocked = [run.run for run in await store.list_runs(status="blocked")]
    _require_equal("list_runs(status='blocked')", ["listed-1", "listed-3"], blocked)
    done = await store.list_runs(status="completed")
    figures = [(run.run, run.version, run.updated) for run in done]
    _require_equal("list_runs(status='completed')", [("listed-2", 2, 2)], figures)


async def _forks(store: JournalStore, other: JournalStore) -> None:
    payload = ("d", b'"shared"')
    await store.append("origin", _record(1, payloads=(payload,)), expected=0)
    await store.append("origin", _record(2, "blocked"), expected=1)
    await store.append("origin", _record(3, "completed"), expected=2)
    _require_equal(
        "fork(at=2) of a run at 3", Success(2), await other.fork("origin", "branch", at=2)
    )
    await _appended(other, "branch", 1, first=2)
    branch, origin = await _whole(store, "branch"), await _whole(store, "origin")
    _require_equal("a fork has the first records", origin.records[:2], branch.records[:2])
    _require_equal("and the payloads", dict((payload,)), dict(branch.payloads))
    told = branch.run
    figures = (told.version, told.status, told.parent, told.forked_at, told.created)
    _require_equal("what is told of a fork", (3, "running", "origin", 2, 1), figures)
    _require_equal("the run that was forked is as it was", 3, origin.run.version)
    for run, new, at, refused in (
        ("nowhere", "b2", 1, JournalMissing("nowhere")),
        ("origin", "branch", 1, JournalConflict("branch", 0, 3)),
        ("origin", "b2", 9, JournalConflict("origin", 9, 3)),
        ("origin", "b2", 0, JournalConflict("origin", 0, 3)),
    ):
        outcome = await store.fork(run, new, at=at)
        _require_equal(f"fork({run!r}, {new!r}, at={at})", Failure(refused), outcome)


async def _leases_to_one(store: JournalStore, other: JournalStore) -> None:
    _require_equal(
        "claim of a run that nobody works on, and that is not there yet",
        Success(Lease("leased", "Ann", 1, 100)),
        await store.claim("leased", "Ann", now=10, until=100),
    )
    held = Failure(LeaseHeld("leased", "Ann", 100))
    for who in ("Bob", "Ann"):
        outcome = await other.claim("leased", who, now=99, until=200)
        _require_equal(f"claim by {who} while Ann has the run", held, outcome)
    renewed = await store.renew(Lease("leased", "Ann", 1, 100), now=99, until=150)
    _require_equal("renew", Success(Lease("leased", "Ann", 1, 150)), renewed)
    await _appended(store, "leased", 1)
    told = (await _whole(other, "leased")).run.leased_until
    _require_equal("how long the run is leased is told", 150, told)
    listed = await other.list_runs(after="leasec", limit=1)
    _require_equal("and by list_runs", [150], [run.leased_until for run in listed])

    outcomes = await _at_once(
        8,
        lambda place: (other if place % 2 else store).claim(
            "leased", f"worker {place}", now=150, until=300
        ),
    )
    won = [outcome.unwrap() for outcome in outcomes if isinstance(outcome, Success)]
    _require("of 8 who claim a run at once when its lease is over one gets it", len(won) == 1, won)
    _require_equal("and its token is the next", 2, won[0].token)


async def _changes_hands(store: JournalStore, other: JournalStore) -> None:
    mine = (await store.claim("handed", "Ann", now=1, until=10)).unwrap()
    theirs = (await other.claim("handed", "Bob", now=10, until=20)).unwrap()
    late = await store.renew(mine, now=11, until=30)
    _require_equal(
        "renew of a lease that another has taken over",
        Failure(LeaseHeld("handed", "Bob", 20)),
        late,
    )
    await store.release(mine)
    outcome = await store.claim("handed", "Cid", now=12, until=40)
    _require_equal(
        "release of a lease that another has taken over changes nothing",
        Failure(LeaseHeld("handed", "Bob", 20)),
        outcome,
    )
    await other.release(theirs)
    outcome = await store.claim("handed", "Cid", now=12, until=40)
    _require_equal(
        "claim after release", Success(Lease("handed", "Cid", theirs.token + 1, 40)), outcome
    )


async def _forgets(store: JournalStore, other: JournalStore) -> None:
    payload = ("d", b'"gone"')
    await store.append("gone", _record(1, payloads=(payload,)), expected=0)
    await store.claim("gone", "Ann", now=1, until=100)
    _require_equal("delete of a run", True, await other.delete("gone"))  # noqa: FBT003
    _require_equal("delete of what is not there", False, await store.delete("gone"))  # noqa: FBT003
    _require_equal("read after delete", Failure(JournalMissing("gone")), await store.read("gone"))
    outcome = await store.claim("gone", "Bob", now=2, until=100)
    _require("the lease is forgotten with the run", isinstance(outcome, Success), outcome)
    await _appended(store, "gone", 1)
    stored = await _whole(other, "gone")
    _require_equal("payloads are forgotten with the run", {}, dict(stored.payloads))


async def _at_once(count: int, ask: Callable[[int], Awaitable[T]]) -> list[T]:
    answers: list[T] = []

    async def one(place: int) -> None:
        answers.append(await ask(place))

    async with anyio.create_task_group() as group:
        for place in range(count):
            group.start_soon(one, place)
    return answers
