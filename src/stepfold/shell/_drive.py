"""`drive` and `drive_sync`: carry a run on until it rests or has ended."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TypeVar

import anyio
from typing_extensions import override

from stepfold.loop import LoopState, Program, Transition
from stepfold.loop.commands import CallModel, Command, RunTool
from stepfold.loop.events import Event
from stepfold.ports import BLOCKING
from stepfold.shell._cancel import CancelHandle
from stepfold.shell._children import ChildRun
from stepfold.shell._driver import OUTER, Driver
from stepfold.shell._runtime import Runtime
from stepfold.shell._steering import Steering
from stepfold.shell._stream import StreamDriver
from stepfold.shell._waiting import LoopWaiting, ThreadWaiting, run_now
from stepfold.values import UsageError

D = TypeVar("D")


async def drive(
    program: Program,
    first: Transition,
    runtime: Runtime[D],
    *,
    cancel: CancelHandle | None = None,
    steering: Steering | None = None,
) -> LoopState:
    """Carry out the commands of a run until it rests or has ended, on asyncio or trio.

    Raises:
        UsageError: the runtime lacks a model or a tool that the program names.
        BaseException: cancellation by an outer scope, after `Cancelled` was journaled.
    """
    return (await driven(program, first, runtime, cancel, steering)).state


async def driven(
    program: Program,
    first: Transition,
    runtime: Runtime[D],
    cancel: CancelHandle | None,
    steering: Steering | None = None,
    events: Sequence[Event] = (),
    child: ChildRun | None = None,
) -> Driver[D]:
    """As `drive`, but lets events happen first, and gives the driver.

    The driver knows the exception behind a failure. A run that belongs to another gives back what
    it has not spent, also where it is cancelled.
    """
    if program.timeouts.of_chunks:
        reader = StreamDriver(program, first, runtime, cancel, steering)
        try:
            return await _read(reader, events)
        finally:
            if child is not None:
                child.end(reader.state)
    driver = Driver(program, first, runtime, LoopWaiting(), cancel, steering)
    driver.check()
    try:
        for event in events:
            await driver.feed(event)
        await driver.run_until_asked()
    except anyio.get_cancelled_exc_class():
        await driver.cancel(OUTER)
        raise
    finally:
        if child is not None:
            child.end(driver.state)
        await driver.keeper.aclose()
    return driver


async def _read(driver: StreamDriver[D], events: Sequence[Event]) -> Driver[D]:
    """Carry a run on as a stream: only there can be seen how long a model says nothing."""
    async with driver:
        for event in events:
            await driver.feed(event)
        with suppress(StopAsyncIteration):
            while True:
                await driver.pull()
    return driver


def drive_sync(
    program: Program,
    first: Transition,
    runtime: Runtime[D],
    *,
    cancel: CancelHandle | None = None,
    steering: Steering | None = None,
) -> LoopState:
    """Carry out the commands of a run in this thread, without any event loop.

    Tools run one after another, in call order. Coroutines are run as long as they never suspend;
    behind the ports, waiting blocks. Nothing that runs can be interrupted: that a tool took too
    long shows when it returns, and a time limit of the run or of a step holds before the next
    command, as `cancel` does; what was carried out until then is kept. Models are asked for whole
    replies, so `first_chunk` and `chunk` of `Timeouts` do not hold here.

    Raises:
        UsageError: a tool or a model is marked `async_only`, or a coroutine needs an event loop;
            the text names which.
    """
    return driven_sync(program, first, runtime, cancel, steering).state


def driven_sync(
    program: Program,
    first: Transition,
    runtime: Runtime[D],
    cancel: CancelHandle | None = None,
    steering: Steering | None = None,
) -> Driver[D]:
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
    driver = SequentialDriver(program, first, runtime, ThreadWaiting(), cancel, steering)
    driver.check()
    token = BLOCKING.set(True)
    try:
        run_now(driver.run_until_asked(), lambda: driver.doing)
    finally:
        run_now(driver.keeper.aclose(), lambda: "closing what the model kept")
        BLOCKING.reset(token)
    return driver


class SequentialDriver(Driver[D]):
    """A driver without tasks: commands are carried out one after another."""

    doing: str = "a coroutine"

    @override
    def idle(self) -> AbstractContextManager[object]:
        """Do something: without an event loop nothing interrupts it."""
        return nullcontext()

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
    async def run_until_asked(self) -> None:
        """Carry out commands until the run rests or has ended, or its time is up."""
        if self.limits is not None:
            self.limits.begin(self.state.phase)
        await self.run()
        await self.end_as_asked()

    @override
    async def feed_last(self, event: Event) -> None:
        """Let the end of the run happen."""
        await self.feed(event)

    @override
    async def feed(self, event: Event) -> None:
        """Let one event happen: nothing else can come in between, and nothing is cancelled."""
        await self.journaled(event)
        await self.inform()
