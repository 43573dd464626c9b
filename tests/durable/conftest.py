"""Stores of each kind, each empty and with a second way to the same place."""

import os
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path

import pytest
import sqlalchemy as sa

from stepfold.durable import FileStore, MemoryStore
from stepfold.durable.sql import SqlStore
from stepfold.ports import JournalStore
from tests.durable._postgres import AbsentError, postgres

OpenStore = Callable[[], JournalStore]


@pytest.fixture(scope="session")
def postgres_url() -> Generator[str]:
    """Start a PostgreSQL for the session."""
    try:
        server = postgres()
        url = server.__enter__()
    except AbsentError as absent:
        if os.environ.get("STEPFOLD_REQUIRE_SERVICES") == "1":
            raise
        pytest.skip(f"no PostgreSQL here: {absent}")
    try:
        yield url
    finally:
        server.__exit__(None, None, None)


@pytest.fixture
def empty_postgres(postgres_url: str) -> str:
    """Give a new database of that server."""
    administrator = sa.create_engine(
        sa.make_url(postgres_url).set(drivername="postgresql+psycopg"),
        isolation_level="AUTOCOMMIT",
    )
    with administrator.connect() as connection:
        connection.execute(sa.text("DROP DATABASE IF EXISTS tried WITH (FORCE)"))
        connection.execute(sa.text("CREATE DATABASE tried"))
    administrator.dispose()
    return sa.make_url(postgres_url).set(database="tried").render_as_string(hide_password=False)


@pytest.fixture(params=["memory", "file", "sqlite", "postgresql"])
async def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[OpenStore]:
    """Give a function that opens the same place again and again."""
    opened: list[SqlStore] = []

    def sql(url: str) -> SqlStore:
        store = SqlStore(url)
        opened.append(store)
        return store

    match request.param:
        case "memory":
            one = MemoryStore()
            yield lambda: one
        case "file":
            yield lambda: FileStore(tmp_path / "runs")
        case "sqlite":
            yield lambda: sql(f"sqlite:///{tmp_path / 'runs.db'}")
        case _:
            url = request.getfixturevalue("empty_postgres")
            yield lambda: sql(url)
    for store in opened:
        await store.aclose()
