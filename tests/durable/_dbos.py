"""How the tests reach the engine: on an SQLite that is new enough for it, and on PostgreSQL."""

from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig

SQLITE = import_module("pysqlite3")
"""An SQLite that is new enough for the engine, whatever this Python came with; it has no types."""


def _hurry(connection: object, _: object) -> None:
    """Do not wait for the disk: a process that is killed loses nothing that it has written."""
    if isinstance(connection, SQLITE.Connection):
        connection.execute("PRAGMA synchronous=OFF")


def config_of(url: str, executor: str = "worker") -> DBOSConfig:
    """The configuration of one worker process."""
    if not sa.event.contains(sa.pool.Pool, "connect", _hurry):
        sa.event.listen(sa.pool.Pool, "connect", _hurry)
    return {
        "name": "stepfold-tests",
        "system_database_url": url,
        "db_engine_kwargs": {"module": SQLITE} if url.startswith("sqlite") else {},
        "executor_id": executor,
        "application_version": "tests",
        "log_level": "ERROR",
        "notification_listener_polling_interval_sec": 0.05,
        "scheduler_polling_interval_sec": 3600.0,
    }


def prepared(url: str) -> None:
    """Make the tables of the engine, so that no worker has to."""
    DBOS(config=config_of(url))
    DBOS.launch()
    DBOS.destroy(destroy_registry=True)


@contextmanager
def client_of(url: str) -> Generator[DBOSClient]:
    """Look at what the engine keeps, from outside."""
    if url.startswith("sqlite"):
        client = DBOSClient(system_database_engine=sa.create_engine(url, module=SQLITE))
    else:
        client = DBOSClient(system_database_url=url)
    try:
        yield client
    finally:
        client.destroy()
