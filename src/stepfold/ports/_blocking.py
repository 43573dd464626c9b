"""The switch by which coroutines are run without an event loop."""

from contextvars import ContextVar

BLOCKING: ContextVar[bool] = ContextVar("stepfold_blocking", default=False)
"""Whether whoever would suspend has to block instead.

`drive_sync` sets it and then runs each coroutine by one `send(None)`: code behind a port that
sees it set does its waiting in blocking calls and never suspends. Code is so written once, with
the same signatures, for asyncio, trio and no event loop at all.
"""
