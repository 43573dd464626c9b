"""A store in a database: addresses, tables, and what is not said in errors."""

import itertools
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import psycopg
import pytest
import sqlalchemy as sa

from stepfold.durable.sql import SqlStore
from stepfold.durable.sql._engine import engine_of
from stepfold.durable.sql._schema import MIGRATIONS, migrate
from stepfold.ports import JournalDamaged, JournalError, JournalRecord
from stepfold.values import Failure, Success, UsageError

RECORD = JournalRecord(b'{"text":"a secret"}', 1, "running", (("d", b"another secret"),))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("nonsense", "expected an address such as"),
        ("mysql://host/name", "expected sqlite or postgresql, got mysql"),
        ("sqlite://", "use MemoryStore"),
        ("sqlite:///:memory:", "use MemoryStore"),
    ],
)
def test_addresses_that_cannot_be_are_refused(url: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        SqlStore(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'runs.db'}"
    return str(request.getfixturevalue("empty_postgres"))


async def test_tables_are_brought_up_to_date_with_what_is_in_them(url: str) -> None:
    engine = engine_of(url)
    with engine.begin() as connection:
        assert migrate(connection, most=1) == 0
        connection.execute(
            sa.text(
                "INSERT INTO stepfold_runs (run, version, status, created, updated, forked_at)"
                " VALUES ('old', 0, 'running', 1, 1, 0)"
            )
        )
    async with SqlStore(url) as store:
        [told] = await store.list_runs()
        assert (told.run, told.leased_until) == ("old", None)
        assert isinstance(await store.claim("old", "Ann", now=1, until=2), Success)
    with engine.begin() as connection:
        assert migrate(connection) == len(MIGRATIONS)
    engine.dispose()


async def test_tables_of_a_newer_version_are_left_alone(url: str) -> None:
    async with SqlStore(url) as store:
        await store.append("run", RECORD, expected=0)
    engine = engine_of(url)
    with engine.begin() as connection:
        connection.execute(sa.text("INSERT INTO stepfold_schema (version) VALUES (99)"))
    engine.dispose()
    store = SqlStore(url)
    with pytest.raises(JournalError, match="of version 99"):
        await store.read("run")
    await store.aclose()


def test_processes_that_come_at_once_make_the_tables_once(url: str) -> None:
    code = f"""
import anyio
from stepfold.durable.sql import SqlStore
async def main():
    async with SqlStore({url!r}) as store:
        print(await store.list_runs())
anyio.run(main)
"""
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]

    assert [process.communicate()[0] for process in started] == ["()\n"] * 3


async def test_records_that_are_gone_are_damage(url: str) -> None:
    async with SqlStore(url) as store:
        await store.append("run", RECORD, expected=0)
        with store._engine.begin() as connection:
            connection.execute(sa.text("DELETE FROM stepfold_records"))

        outcome = await store.read("run")
    assert outcome == Failure(JournalDamaged("run", "expected 1 records, found 0"))


async def test_errors_tell_nothing_of_what_is_stored(url: str) -> None:
    async with SqlStore(url) as store:
        with store._engine.begin() as connection:
            connection.execute(sa.text("DROP TABLE stepfold_payloads"))
        with pytest.raises(JournalError, match="cannot be reached") as caught:
            await store.append("run", RECORD, expected=0)

        assert "secret" not in str(caught.value) + str(caught.value.__cause__)
        assert await store.list_runs() == ()


async def test_a_server_that_is_not_there_is_told_without_the_password() -> None:
    store = SqlStore("postgresql://me:hunter2@127.0.0.1:1/none?connect_timeout=2")
    with pytest.raises(JournalError) as caught:
        await store.list_runs()

    assert "hunter2" not in str(caught.value)
    await store.aclose()


async def test_an_append_is_one_way_there_and_back_to_postgresql(
    empty_postgres: str, tmp_path: Path
) -> None:
    """And one to see that the connection is still there; however many payloads it has."""
    payloads = tuple((f"digest-{number}", b"big" * 1000) for number in range(5))
    async with SqlStore(empty_postgres) as store:
        trace = (tmp_path / "trace").open("w+b")

        def follow(connection: psycopg.Connection, *rest: object) -> None:
            connection.pgconn.trace(trace.fileno())

        sa.event.listen(store._engine, "checkout", follow)
        await store.append("run", RECORD, expected=0)
        ways = [_ways(trace)]
        for number in range(1, 4):
            record = JournalRecord(b'{"n":1}', number, "running", payloads)
            assert await store.append("run", record, expected=number) == Success(number + 1)
            ways.append(_ways(trace))
        stored = (await store.read("run")).unwrap()
        trace.close()

    assert [after - before for before, after in itertools.pairwise(ways)] == [2, 2, 2]
    assert len(stored.records) == 4
    assert len(stored.payloads) == 6


def _ways(trace: BinaryIO) -> int:
    """How often a server has said, in what libpq wrote down, that it is ready again."""
    trace.seek(0)
    return sum(b"ReadyForQuery" in line for line in trace)
