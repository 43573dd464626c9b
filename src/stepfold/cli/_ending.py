"""How the command ends: its exit codes, and what it says when it cannot begin."""

import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio
from anyio.abc import TaskStatus

from stepfold.cli._screen import OutputClosed, Screen
from stepfold.shell import CancelHandle
from stepfold.values import (
    Blocked,
    Cancelled,
    Completed,
    Failed,
    RunEnd,
    Stopped,
    UsageError,
)

COMPLETED: Final = 0
FAILED: Final = 1
MISUSED: Final = 2
STOPPED: Final = 3
BLOCKED: Final = 4
INTERRUPTED: Final = 130


def code_of(end: RunEnd[object]) -> int:
    """The exit code of a run that ended so."""
    match end:
        case Completed():
            return COMPLETED
        case Stopped():
            return STOPPED
        case Blocked():
            return BLOCKED
        case Failed():
            return FAILED
        case Cancelled():
            return INTERRUPTED


def carried_out(task: Callable[[], Awaitable[int]], screen: Screen) -> int:
    """Run a command in an event loop; mistakes in its usage are told, without a traceback."""
    try:
        return anyio.run(task)
    except UsageError as error:
        screen.complain(at_the_command_line(str(error)))
        return MISUSED
    except KeyboardInterrupt:
        screen.complain("interrupted")
        return INTERRUPTED
    except OutputClosed:
        # Nobody reads any more: leave nothing in the buffer that would fail at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED


def at_the_command_line(text: str) -> str:
    """What of an error's text can be followed here: all but a last sentence for Python."""
    return text.partition(" In Python, ")[0]


@asynccontextmanager
async def cancelled_by_interrupt(cancel: CancelHandle) -> AsyncGenerator[None]:
    """Let Ctrl-C cancel a run for as long as a block lasts; a second one ends the process."""
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        await group.start(_listen, cancel)
        try:
            yield
        except Exception as error:  # noqa: BLE001 - raised below, outside of the group
            failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _listen(cancel: CancelHandle, *, task_status: TaskStatus[None]) -> None:
    try:
        receiver = anyio.open_signal_receiver(signal.SIGINT)
        with receiver as signals:
            task_status.started()
            async for _ in signals:
                if cancel.reason is not None:
                    signal.signal(signal.SIGINT, signal.SIG_DFL)
                    signal.raise_signal(signal.SIGINT)
                cancel("interrupted by Ctrl-C")
    except (NotImplementedError, RuntimeError, ValueError):
        # No signals here, or not in this thread: Ctrl-C then ends the process at once.
        task_status.started()
