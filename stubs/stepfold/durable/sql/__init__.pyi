from stepfold.durable.sql._store import SqlStore

__all__ = ("SqlStore",)
