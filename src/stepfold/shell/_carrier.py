"""`Carrier`: carries out single commands of a run that somebody else drives.

An engine that keeps what happens (a workflow engine, a queue) owns the state and decides when a
command is carried out; how that is done is the drivers' business, here too. A command becomes the
event that answers it, which has not happened yet: the engine keeps it, and then steps.
"""

from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar, final

from attrs import evolve
from typing_extensions import override

from stepfold.loop import CALL_LOST, LoopState, Program, Transition
from stepfold.loop.commands import CallKey, CallModel, Command
from stepfold.loop.events import Event, ToolFailed, ToolReturned
from stepfold.shell._driver import Driver
from stepfold.shell._files import RunFiles
from stepfold.shell._keeping import RunKeeper
from stepfold.shell._observing import Watch
from stepfold.shell._runtime import Runtime
from stepfold.shell._stream import RunPart, StreamDriver, ToolProgressed
from stepfold.shell._waiting import LoopWaiting
from stepfold.values import Instant, JsonText, ModelReply, ToolCall

D = TypeVar("D")

Show: TypeAlias = Callable[[RunPart], None]
"""Takes what can be shown while a command is carried out: parts of a reply, a tool's progress."""


@final
class Carrier(Generic[D]):
    """Carries out the commands of one run for whoever owns its state, in an event loop.

    The time limits of the run and of its steps are the owner's to keep, and so is its journal.
    Observers are told of what begins, and by `happened` of what has happened.

    Raises:
        UsageError: the runtime lacks a model or a tool that the program names.
    """

    def __init__(self, program: Program, runtime: Runtime[D], first: Transition) -> None:
        self._program = _untimed(program)
        self._runtime = _alone(runtime)
        self._keeper = RunKeeper()
        self._files = RunFiles(runtime.download)
        self._reading: _SingleStream[D] | None = None
        self._watch: Watch | None = None
        if runtime.observers:
            self._watch = Watch(program, first, runtime.observers, LoopWaiting())
        Driver(self._program, first, self._runtime, LoopWaiting()).check()

    async def carry_out(
        self, state: LoopState, command: Command, *, show: Show | None = None
    ) -> Event | None:
        """Carry out one command that this state owes, and give the event that answers it.

        `None` if the state does not owe it any more. With `show` the model is asked for a stream.
        """
        if isinstance(command, CallModel) and (
            show is not None or self._program.timeouts.of_chunks
        ):
            return await self._read(state, command, show)
        single = _Single(self._program, Transition(state), self._runtime, LoopWaiting())
        single.keeper, single.files, single.watch = self._keeper, self._files, self._watch
        single.show = show
        await single.carry_out(command)
        return single.event

    async def _read(self, state: LoopState, command: CallModel, show: Show | None) -> Event | None:
        first = Transition(state, (command,))
        self._reading = single = _SingleStream(self._program, first, self._runtime)
        single.keeper, single.files, single.watch = self._keeper, self._files, self._watch
        async with single:
            try:
                while True:
                    part = await single.pull()
                    if show is not None:
                        show(part)
            except _AnsweredError as answered:
                self._reading = None
                return answered.event
            finally:
                single.keeper = RunKeeper()  # what is kept is for the next call too

    def partial(self) -> ModelReply | None:
        """What had come of the reply that was read when `carry_out` was cancelled; told once."""
        reading, self._reading = self._reading, None
        return None if reading is None else reading.partial

    async def happened(self, before: LoopState, event: Event, transition: Transition) -> None:
        """Tell observers of an event; nothing if it changed nothing."""
        if self._watch is not None and transition.state is not before:
            self._watch.happened(before, event, transition)
            await self._watch.tell()

    async def aclose(self) -> None:
        """Close what the run's model calls share."""
        await self._keeper.aclose()


def lost_call(key: CallKey, at: Instant) -> ToolReturned:
    """How a call ends that had started in a process that is gone, and must not run twice."""
    return ToolReturned(key, ToolFailed(CALL_LOST, "interrupted"), at, started=at)


def _alone(runtime: Runtime[D]) -> Runtime[D]:
    """The runtime without what is its owner's: the journal, and the observers."""
    return Runtime(
        models=runtime.models.values(),
        deps=runtime.deps,
        tools=runtime.tools.values(),
        clock=runtime.clock,
        concurrency=runtime.concurrency,
        hooks=runtime.hooks,
        bind_output=runtime.bind_output,
        download=runtime.download,
    )


def _untimed(program: Program) -> Program:
    """The program without the limits that last longer than a command."""
    return evolve(program, timeouts=evolve(program.timeouts, total=None, step=None))


@final
class _Single(Driver[D]):
    """A driver that carries out one command, and keeps the answer instead of stepping."""

    event: Event | None = None
    show: Show | None = None

    @override
    async def feed(self, event: Event) -> None:
        self.event = event

    @override
    def show_progress(self, key: CallKey, call: ToolCall, value: JsonText) -> None:
        if self.show is not None:
            self.show(ToolProgressed(key, value, call))


class _AnsweredError(Exception):
    """A stream has ended, and this is what it amounts to."""

    def __init__(self, event: Event) -> None:
        super().__init__("answered")
        self.event = event


@final
class _SingleStream(StreamDriver[D]):
    """A stream of one reply; what it amounts to is raised instead of being stepped."""

    partial: ModelReply | None = None

    @override
    async def feed(self, event: Event) -> None:
        raise _AnsweredError(event)

    @override
    async def cancel(self, reason: str, partial: ModelReply | None = None) -> None:
        self.partial = partial
