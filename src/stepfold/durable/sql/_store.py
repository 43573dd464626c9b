"""The store: each method is one transaction, in a thread beside the event loop."""

import os
import threading
from collections.abc import Callable
from types import MappingProxyType, TracebackType
from typing import Final, Self, TypeVar, cast, final

import sqlalchemy as sa
from attrs import evolve
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from stepfold.durable._threads import waited
from stepfold.durable.sql._engine import engine_of
from stepfold.durable.sql._schema import (
    LEASES,
    METADATA,
    MIGRATIONS,
    PAYLOADS,
    RECORDS,
    RUNS,
    migrate,
)
from stepfold.ports import (
    JournalConflict,
    JournalDamaged,
    JournalError,
    JournalMissing,
    JournalRecord,
    JournalUnavailable,
    Lease,
    LeaseHeld,
    RunStatus,
    StoredJournal,
    StoredRun,
)
from stepfold.values import Failure, Instant, Outcome, Success

T = TypeVar("T")


@final
class SqlStore:
    """Keeps runs in a database: `SqlStore("sqlite:///runs.db")`, `SqlStore("postgresql://…")`.

    SQLite is for the processes of one machine, PostgreSQL for many. The tables are made, or
    brought up to date, when the store is first used. Close it by `aclose`, or use it in
    `async with`.

    Raises:
        UsageError: the address is none, or of a database that is not supported.
    """

    def __init__(self, url: str) -> None:
        self._engine: Final = engine_of(url)
        self._preparing: Final = threading.Lock()
        self._prepared_by: int | None = None

    async def __aenter__(self) -> Self:
        """Connect, and bring the tables up to date."""
        await self._done("*", lambda connection: None)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        """Close all connections."""
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections; the store can be used again, and then opens new ones."""
        await waited(self._engine.dispose)

    # --- records ------------------------------------------------------------------------------

    async def append(
        self, run: str, record: JournalRecord, /, *, expected: int
    ) -> Outcome[int, JournalConflict]:
        """Append a record to a run that is at version `expected`, and give its new version."""
        if self._is_postgres:
            return await self._append_at_once(run, record, expected)

        def work(connection: sa.Connection) -> Outcome[int, JournalConflict]:
            if expected == 0:
                row = _first_row(run, 1, record.status, record.at, record.at)
                moved = self._is_new(connection, RUNS.name, row)
            else:
                moved = connection.execute(_moved(run, record, expected)).rowcount == 1
            if not moved:
                return Failure(JournalConflict(run, expected, _version(connection, run)))
            connection.execute(sa.insert(RECORDS).values(_record_row(run, record, expected + 1)))
            for digest, data in record.payloads:
                payload: dict[str, object] = {"run": run, "digest": digest, "data": data}
                self._is_new(connection, PAYLOADS.name, payload)
            return Success(expected + 1)

        return await self._done(run, work)

    async def _append_at_once(
        self, run: str, record: JournalRecord, expected: int
    ) -> Outcome[int, JournalConflict]:
        """Append by one statement, which is a transaction of its own: one way there and back."""
        appended = _appended(run, record, expected)

        def work(connection: sa.Connection) -> Outcome[int, JournalConflict]:
            if connection.execute(appended).first() is None:
                return Failure(JournalConflict(run, expected, _version(connection, run)))
            return Success(expected + 1)

        return await self._done(run, work, in_one=True)

    async def read(self, run: str, /) -> Outcome[StoredJournal, JournalMissing | JournalDamaged]:
        """Give all that was kept of a run."""

        def work(
            connection: sa.Connection,
        ) -> Outcome[StoredJournal, JournalMissing | JournalDamaged]:
            row = connection.execute(_told().where(RUNS.c.run == run)).one_or_none()
            if row is None:
                return Failure(JournalMissing(run))
            stored = _stored(row)
            found = connection.execute(
                sa.select(RECORDS.c.data)
                .where(RECORDS.c.run == run, RECORDS.c.number <= stored.version)
                .order_by(RECORDS.c.number)
            )
            records = tuple(bytes(cast("bytes", data)) for (data,) in found)
            if len(records) != stored.version:
                problem = f"expected {stored.version} records, found {len(records)}"
                return Failure(JournalDamaged(run, problem))
            payloads = connection.execute(
                sa.select(PAYLOADS.c.digest, PAYLOADS.c.data).where(PAYLOADS.c.run == run)
            )
            by_digest = {
                cast("str", digest): bytes(cast("bytes", data)) for digest, data in payloads
            }
            return Success(StoredJournal(stored, records, MappingProxyType(by_digest)))

        return await self._done(run, work)

    async def list_runs(
        self, *, status: RunStatus | None = None, after: str = "", limit: int = 100
    ) -> tuple[StoredRun, ...]:
        """Give the first `limit` runs after a name, by name; of one status, or of any."""
        asked = _told().where(RUNS.c.run > after).order_by(RUNS.c.run).limit(limit)
        if status is not None:
            asked = asked.where(RUNS.c.status == status)
        return await self._done(
            "*", lambda connection: tuple(map(_stored, connection.execute(asked)))
        )

    async def fork(
        self, run: str, new: str, /, *, at: int
    ) -> Outcome[int, JournalMissing | JournalConflict | JournalDamaged]:
        """Make a run of the first `at` records of another, and give its version."""

        def work(
            connection: sa.Connection,
        ) -> Outcome[int, JournalMissing | JournalConflict | JournalDamaged]:
            version = _version(connection, run)
            if version == 0:
                return Failure(JournalMissing(run))
            if not 0 < at <= version:
                return Failure(JournalConflict(run, at, version))
            ends = connection.execute(
                sa.select(RECORDS.c.number, RECORDS.c.at, RECORDS.c.status)
                .where(RECORDS.c.run == run, RECORDS.c.number.in_([1, at]))
                .order_by(RECORDS.c.number)
            ).all()
            row = _first_row(new, at, ends[-1].status, ends[0].at, ends[-1].at)
            row |= {"parent": run, "forked_at": at}
            if not self._is_new(connection, RUNS.name, row):
                return Failure(JournalConflict(new, 0, _version(connection, new)))
            columns = ["number", "at", "status", "data"]
            records = sa.select(sa.literal(new), *(RECORDS.c[name] for name in columns)).where(
                RECORDS.c.run == run, RECORDS.c.number <= at
            )
            connection.execute(sa.insert(RECORDS).from_select(["run", *columns], records))
            payloads = sa.select(sa.literal(new), PAYLOADS.c.digest, PAYLOADS.c.data).where(
                PAYLOADS.c.run == run
            )
            connection.execute(sa.insert(PAYLOADS).from_select(["run", "digest", "data"], payloads))
            return Success(at)

        return await self._done(new, work)

    async def delete(self, run: str, /) -> bool:
        """Forget a run, its payloads and its lease; tells whether it was there."""

        def work(connection: sa.Connection) -> bool:
            for table in (LEASES, PAYLOADS, RECORDS):
                connection.execute(sa.delete(table).where(table.c.run == run))
            return connection.execute(sa.delete(RUNS).where(RUNS.c.run == run)).rowcount == 1

        return await self._done(run, work)

    # --- leases -------------------------------------------------------------------------------

    async def claim(
        self, run: str, owner: str, /, *, now: Instant, until: Instant
    ) -> Outcome[Lease, LeaseHeld]:
        """Get the right to work on a run, if nobody has it at `now`."""
        again = (
            sa.update(LEASES)
            .where(LEASES.c.run == run, LEASES.c.until <= now)
            .values(owner=owner, token=LEASES.c.token + 1, until=until)
        )
        first: dict[str, object] = {"run": run, "owner": owner, "token": 1, "until": until}

        def work(connection: sa.Connection) -> Outcome[Lease, LeaseHeld]:
            is_again = connection.execute(again).rowcount == 1
            if not is_again and not self._is_new(connection, LEASES.name, first):
                return Failure(_holder(connection, run, now))
            token = connection.execute(sa.select(LEASES.c.token).where(LEASES.c.run == run))
            return Success(Lease(run, owner, int(token.scalar_one()), until))

        return await self._done(run, work)

    async def renew(
        self, lease: Lease, /, *, now: Instant, until: Instant
    ) -> Outcome[Lease, LeaseHeld]:
        """Keep the right for longer; refused once somebody else has claimed the run."""

        def work(connection: sa.Connection) -> Outcome[Lease, LeaseHeld]:
            if connection.execute(_of(lease).values(until=until)).rowcount != 1:
                return Failure(_holder(connection, lease.run, now))
            return Success(evolve(lease, until=until))

        return await self._done(lease.run, work)

    async def release(self, lease: Lease, /) -> None:
        """Give the right back, if it is still held."""

        def work(connection: sa.Connection) -> None:
            connection.execute(_of(lease).values(until=0))

        await self._done(lease.run, work)

    # --- in a thread --------------------------------------------------------------------------

    def _is_new(self, connection: sa.Connection, name: str, row: dict[str, object]) -> bool:
        """Insert a row into a table, unless there is one of its key; tells whether it was."""
        table = METADATA.tables[name]
        if self._is_postgres:
            insert = postgresql.insert(table).values(row).on_conflict_do_nothing()
            return connection.execute(insert.returning(table.c.run)).first() is not None
        other = sqlite.insert(table).values(row).on_conflict_do_nothing()
        return connection.execute(other.returning(table.c.run)).first() is not None

    @property
    def _is_postgres(self) -> bool:
        return self._engine.dialect.name == "postgresql"

    async def _done(
        self, run: str, work: Callable[[sa.Connection], T], *, in_one: bool = False
    ) -> T:
        """Do work in a transaction, or `in_one` statement that needs none around it."""

        def done() -> T:
            try:
                self._prepare()
                if in_one:
                    alone = self._engine.execution_options(isolation_level="AUTOCOMMIT")
                    with alone.connect() as connection:
                        return work(connection)
                with self._engine.begin() as connection:
                    return work(connection)
            except SQLAlchemyError as error:
                problem = _problem(error)
                raise JournalError(JournalUnavailable(run, problem)) from error

        return await waited(done)

    def _prepare(self) -> None:
        process = os.getpid()
        if self._prepared_by == process:
            return
        with self._preparing:
            if self._prepared_by == process:
                return
            if self._prepared_by is not None:  # this is a fork: connections belong to the parent
                self._engine.dispose(close=False)
            with self._engine.begin() as connection:
                found = migrate(connection)
            if found > len(MIGRATIONS):
                problem = (
                    f"its tables are of version {found}, and this stepfold knows up to "
                    f"{len(MIGRATIONS)}: upgrade it"
                )
                raise JournalError(JournalUnavailable("*", problem))
            self._prepared_by = process


def _first_row(
    run: str, version: int, status: object, created: object, updated: object
) -> dict[str, object]:
    return {
        "run": run,
        "version": version,
        "status": status,
        "created": created,
        "updated": updated,
        "forked_at": 0,
    }


def _record_row(run: str, record: JournalRecord, number: int) -> dict[str, object]:
    return {
        "run": run,
        "number": number,
        "at": record.at,
        "status": record.status,
        "data": record.data,
    }


def _moved(run: str, record: JournalRecord, expected: int) -> sa.Update:
    return (
        sa.update(RUNS)
        .where(RUNS.c.run == run, RUNS.c.version == expected)
        .values(version=expected + 1, status=record.status, updated=record.at)
    )


def _appended(run: str, record: JournalRecord, expected: int) -> sa.Insert:
    """Everything that is appended, where the run is at the version that its writer expects.

    For PostgreSQL, where a part of a statement may write too.
    """
    if expected == 0:
        row = _first_row(run, 1, record.status, record.at, record.at)
        made = postgresql.insert(RUNS).values(row).on_conflict_do_nothing()
        moved = made.returning(RUNS.c.run).cte("moved")
    else:
        moved = _moved(run, record, expected).returning(RUNS.c.run).cte("moved")

    row = _record_row(run, record, expected + 1)
    del row["run"]
    appended = sa.insert(RECORDS).from_select(["run", *row], _beside(moved.c.run, row))
    for number, (digest, data) in enumerate(record.payloads):
        columns: dict[str, object] = {"digest": digest, "data": data}
        payload = postgresql.insert(PAYLOADS).from_select(
            ["run", *columns], _beside(moved.c.run, columns)
        )
        kept = payload.on_conflict_do_nothing().returning(PAYLOADS.c.run)
        appended = appended.add_cte(kept.cte(f"payload_{number}"))
    return appended.returning(RECORDS.c.run)


def _beside(
    run: sa.ColumnElement[str], columns: dict[str, object]
) -> sa.Select[tuple[object, ...]]:
    """A row of values for the run that has moved, or none if it has not."""
    types = {name: column.type for table in (PAYLOADS, RECORDS) for name, column in table.c.items()}
    values = [sa.literal(value, types[name]) for name, value in columns.items()]
    return sa.select(run, *values)


def _problem(error: SQLAlchemyError) -> str:
    """What the database said, without what was asked of it."""
    said = error.orig if isinstance(error, DBAPIError) else error
    return f"{type(said).__name__}: {str(said).strip()}"


def _told() -> sa.Select[tuple[object, ...]]:
    joined = RUNS.outerjoin(LEASES, LEASES.c.run == RUNS.c.run)
    return sa.select(*RUNS.c, LEASES.c.until).select_from(joined)


def _stored(row: sa.Row[tuple[object, ...]]) -> StoredRun:
    return StoredRun(
        row.run,
        row.version,
        row.status,
        row.created,
        row.updated,
        parent=row.parent,
        forked_at=row.forked_at,
        leased_until=row.until,
    )


def _version(connection: sa.Connection, run: str) -> int:
    found = connection.execute(sa.select(RUNS.c.version).where(RUNS.c.run == run)).scalar()
    return 0 if found is None else found


def _of(lease: Lease) -> sa.Update:
    return sa.update(LEASES).where(LEASES.c.run == lease.run, LEASES.c.token == lease.token)


def _holder(connection: sa.Connection, run: str, now: Instant) -> LeaseHeld:
    row = connection.execute(
        sa.select(LEASES.c.owner, LEASES.c.until).where(LEASES.c.run == run)
    ).one_or_none()
    return LeaseHeld(run, "nobody", now) if row is None else LeaseHeld(run, row.owner, row.until)
