"""Connections: which databases are taken, and what they promise once something is committed."""

import sqlite3
from collections.abc import Callable
from typing import Final, cast

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError

from stepfold.values import UsageError

_BUSY_SECONDS: Final = 30
_DRIVERS: Final = {"postgresql": "postgresql+psycopg"}


def engine_of(url: str) -> sa.Engine:
    """Make an engine for threads; nothing is connected yet.

    Raises:
        UsageError: the address is none, is of a database that is not supported, or of one that
            ends with the process.
    """
    try:
        parsed = sa.make_url(url)
    except ArgumentError:
        raise UsageError(
            "SqlStore: expected an address such as sqlite:///runs.db or "
            "postgresql://user@host/name, got something else"
        ) from None
    kind = parsed.get_backend_name()
    if kind not in {"sqlite", "postgresql"}:
        raise UsageError(f"SqlStore: expected sqlite or postgresql, got {kind}")
    if kind == "sqlite" and parsed.database in {None, "", ":memory:"}:
        raise UsageError(
            "SqlStore: expected a file, such as sqlite:///runs.db, got a database in memory: use "
            "MemoryStore()"
        )
    if parsed.drivername in _DRIVERS:
        parsed = parsed.set(drivername=_DRIVERS[parsed.drivername])
    try:
        # What is written never stands in an error's text.
        engine = sa.create_engine(parsed, hide_parameters=True, pool_pre_ping=kind != "sqlite")
    except ModuleNotFoundError as error:
        raise UsageError(
            f"SqlStore: the driver {error.name!r} is not installed: pip install 'psycopg[binary]'"
        ) from None
    if kind == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: object, _record: object) -> None:
    """Readers do not wait for writers (WAL), and what is committed is on the disk."""
    opened = cast("sqlite3.Connection", connection)
    opened.isolation_level = None  # transactions begin where we say so: see below
    for pragma in (
        f"busy_timeout = {_BUSY_SECONDS * 1000}",
        "journal_mode = WAL",
        "synchronous = FULL",
    ):
        opened.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: sa.Connection) -> None:
    """Get the right to write at once: one that is asked for later can be refused."""
    begin: Callable[[str], object] = connection.exec_driver_sql
    begin("BEGIN IMMEDIATE")
