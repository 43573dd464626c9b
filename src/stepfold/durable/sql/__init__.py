"""Journals in a database, by SQLAlchemy Core: SQLite on one machine, PostgreSQL for many.

Needs the extra `sql`, and for PostgreSQL a driver such as `psycopg[binary]`.
"""

from stepfold.durable.sql._store import SqlStore

__all__ = ("SqlStore",)
