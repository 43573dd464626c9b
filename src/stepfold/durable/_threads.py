"""Waiting for the disk and for databases: beside the event loop, or where there is none."""

from collections.abc import Callable
from typing import TypeVar

from anyio import to_thread

from stepfold.ports import BLOCKING

T = TypeVar("T")


async def waited(work: Callable[[], T]) -> T:
    """Do blocking work in a thread, on asyncio and trio; in this one where `BLOCKING` is set.

    What was begun is not abandoned when somebody cancels this: a record is kept or it is not.
    """
    if BLOCKING.get():
        return work()
    return await to_thread.run_sync(work)
