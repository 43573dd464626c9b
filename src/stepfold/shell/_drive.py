"""`drive` and `drive_sync`: carry a run on until it rests or has ended."""

from collections.abc import Sequence
from typing import TypeVar

import anyio
from typing_extensions import override

from stepfold.loop import LoopState, Program, Transition
from stepfold.loop.commands import CallModel, Command, RunTool
from stepfold.loop.events import Event
from stepfold.ports import BLOCKING
from stepfold.shell._cancel import CancelHandle
from stepfold.shell._driver import Driver
from stepfold.shell._runtime import Runtime
from stepfold.shell._waiting import LoopWaiting, ThreadWaiting, run_now
from stepfold.values import UsageError

D = TypeVar("D")

OUTER = "cancelled by the caller"


async def drive(
    program: Program,
    first: Transition,
    runtime: Runtime[D],
    *,
    cancel: CancelHandle | None = None,
) -> LoopState:
    """Carry out the commands of a run until it rests or has ended, on asyncio or trio.

    Raises:
        UsageError: the runtime lacks a model or a tool that the program names.
        BaseException: cancellation by an outer scope, after `Cancelled` was journaled.
    """
    return (await driven(program, first, runtime, cancel)).state


async def driven(
    program: Program,
    first: Transition,
    runtime: Runtime[D],
    cancel: CancelHandle | None,
    events: Sequence[Event] = (),
) -> Driver[D]:
    """As `drive`, but lets events happen first, and gives the driver.

    The driver knows the exception behind a failure.
    """
    driver = Driver(program, first, runtime, LoopWaiting(), cancel)
    driver.check()
    try:
        for event in events:
            await driver.feed(event)
        if cancel is None:
            await driver.run()
        else:
            await _run_cancellable(driver, cancel)
    except anyio.get_cancelled_exc_class():
        await driver.cancel(OUTER)
        raise
    finally:
        await driver.keeper.aclose()
    return driver


async def _run_cancellable(driver: Driver[D], cancel: CancelHandle) -> None:
    if cancel.reason is None:
        with anyio.CancelScope() as scope:
            cancel.attach(scope)
            try:
                await driver.run()
            finally:
                cancel.detach(scope)
    if cancel.reason is not None:
        await driver.cancel(cancel.reason)


def drive_sync(program: Program, first: Transition, runtime: Runtime[D]) -> LoopState:
    """Carry out the commands of a run in this thread, without any event loop.

    Tools run one after another, in call order. Coroutines are run as long as they never suspend;
    behind the ports, waiting blocks. A running tool cannot be interrupted: that it took too long
    shows when it returns.

    Raises:
        UsageError: a tool or a model is marked `async_only`, or a coroutine needs an event loop;
            the text names which.
    """
    return driven_sync(program, first, runtime).state


def driven_sync(program: Program, first: Transition, runtime: Runtime[D]) -> Driver[D]:
    """As `drive_sync`, but gives the driver, which knows the exception behind a failure."""
    for tool in runtime.tools.values():
        if tool.options.async_only:
            raise UsageError(
                f"drive_sync: the tool {tool.name} is marked async_only=True; use drive, "
                "generate or stream"
            )
    for name, model in runtime.models.items():
        if getattr(model, "async_only", False):
            raise UsageError(
                f"drive_sync: the model {name} is marked async_only=True; use drive, generate or "
                "stream"
            )
    driver = SequentialDriver(program, first, runtime, ThreadWaiting())
    driver.check()
    token = BLOCKING.set(True)
    try:
        run_now(driver.run(), lambda: driver.doing)
    finally:
        run_now(driver.keeper.aclose(), lambda: "closing what the model kept")
        BLOCKING.reset(token)
    return driver


class SequentialDriver(Driver[D]):
    """A driver without tasks: commands are carried out one after another."""

    doing: str = "a coroutine"

    @override
    async def together(self) -> None:
        """Carry out the next command."""
        await self.carry_out(self._commands.popleft())

    @override
    async def carry_out(self, command: Command) -> None:
        """Carry out a command, and keep what it is."""
        match command:
            case RunTool(_, name):
                self.doing = f"the tool {name}"
            case CallModel(_, name):
                self.doing = f"the model {name}"
            case _:
                self.doing = type(command).__name__
        await super().carry_out(command)

    @override
    async def feed(self, event: Event) -> None:
        """Let one event happen: nothing else can come in between, and nothing is cancelled."""
        await self.journaled(event)
