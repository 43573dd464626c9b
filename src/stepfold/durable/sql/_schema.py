"""The tables, and how a database comes to have them.

`MIGRATIONS` are applied in order, each in one transaction with the number of the version that it
leads to, by one process at a time. Those that are there are never changed: a change of the tables
is one more. SQLite 3.40 and PostgreSQL 12 understand all that is used.
"""

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa

METADATA: Final = sa.MetaData()

VERSIONS: Final = sa.Table(
    "stepfold_schema",
    METADATA,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
)
RUNS: Final = sa.Table(
    "stepfold_runs",
    METADATA,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("created", sa.BigInteger, nullable=False),
    sa.Column("updated", sa.BigInteger, nullable=False),
    sa.Column("parent", sa.Text),
    sa.Column("forked_at", sa.Integer, nullable=False),
)
RECORDS: Final = sa.Table(
    "stepfold_records",
    METADATA,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
PAYLOADS: Final = sa.Table(
    "stepfold_payloads",
    METADATA,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
LEASES: Final = sa.Table(
    "stepfold_leases",
    METADATA,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("token", sa.Integer, nullable=False),
    sa.Column("until", sa.BigInteger, nullable=False),
)

_NAME: Final = {"sqlite": "TEXT", "postgresql": 'TEXT COLLATE "C"'}
_BYTES: Final = {"sqlite": "BLOB", "postgresql": "BYTEA"}

_FIRST: Final = (
    """CREATE TABLE stepfold_runs (
        run {name} PRIMARY KEY, version INTEGER NOT NULL, status TEXT NOT NULL,
        created BIGINT NOT NULL, updated BIGINT NOT NULL, parent TEXT, forked_at INTEGER NOT NULL
    )""",
    """CREATE TABLE stepfold_records (
        run {name} NOT NULL, number INTEGER NOT NULL, at BIGINT NOT NULL, status TEXT NOT NULL,
        data {bytes} NOT NULL, PRIMARY KEY (run, number)
    )""",
    """CREATE TABLE stepfold_payloads (
        run {name} NOT NULL, digest TEXT NOT NULL, data {bytes} NOT NULL, PRIMARY KEY (run, digest)
    )""",
)
_SECOND: Final = (
    """CREATE TABLE stepfold_leases (
        run {name} PRIMARY KEY, owner TEXT NOT NULL, token INTEGER NOT NULL, until BIGINT NOT NULL
    )""",
    "CREATE INDEX stepfold_runs_by_status ON stepfold_runs (status, run)",
)
MIGRATIONS: Final[Sequence[Sequence[str]]] = (_FIRST, _SECOND)
"""What leads from each version to the next; a new database is at version 0."""

_LOCK: Final = 0x73746570666F6C64  # "stepfold", of the advisory locks of PostgreSQL


def migrate(connection: sa.Connection, most: int = len(MIGRATIONS)) -> int:
    """Bring a database to the version of this package, inside of a transaction; gives what it was.

    A database that a newer stepfold has migrated is left as it is.
    """
    dialect = connection.dialect.name
    if dialect == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    connection.execute(sa.text("CREATE TABLE IF NOT EXISTS stepfold_schema (version INTEGER)"))
    found = connection.execute(sa.select(sa.func.max(VERSIONS.c.version))).scalar()
    version = 0 if found is None else int(found)
    for number in range(version, most):
        for statement in MIGRATIONS[number]:
            made = statement.format(name=_NAME[dialect], bytes=_BYTES[dialect])
            connection.execute(sa.text(made))
        connection.execute(sa.insert(VERSIONS).values(version=number + 1))
    return version
