"""A run as a stream: the model's parts, interleaved with what the loop decides.

The consumer's own task pulls the model's next part, which is the back-pressure; only tools get
tasks, in the group that `async with` opened. No cancel scope is held open between two parts, so
a consumer may put its own around any of them. One task at a time uses a stream.
"""

from collections import deque
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self, TypeAlias, TypeVar, final

import anyio
import anyio.abc
from attrs import frozen
from typing_extensions import override

from stepfold.loop import Done, Program, ReplyFold, Transition, request_of
from stepfold.loop.commands import CallKey, CallModel, Command, RunTool
from stepfold.loop.events import Event, ModelReplied
from stepfold.loop.notes import Note
from stepfold.ports import ModelStream
from stepfold.shell._cancel import CancelHandle
from stepfold.shell._drive import OUTER
from stepfold.shell._driver import Driver
from stepfold.shell._gaps import gaps_of
from stepfold.shell._runtime import Runtime
from stepfold.shell._waiting import LoopWaiting
from stepfold.values import (
    File,
    Instant,
    JsonText,
    ReasoningDelta,
    ReasoningFile,
    StreamPart,
    TextDelta,
    ToolCall,
    ToolInputDelta,
    UsageError,
)

D = TypeVar("D")

LEFT = "the stream was left"
_SHIELD_SECONDS = 5.0


@final
@frozen(order=False)
class ToolProgressed:
    """A tool that is still running shows a preliminary result."""

    key: CallKey
    value: JsonText


RunPart: TypeAlias = StreamPart | Note | ToolProgressed
"""One item of a streamed run.

Client calls are shown by the note `CallRequested` once the reply has ended, with the ids and
arguments that the history holds, not by the model's own `ToolCall` part.
"""

_OUTPUT = (TextDelta, ReasoningDelta, ToolInputDelta, ToolCall, File, ReasoningFile)


@final
class _Open:
    """A model's stream that is open."""

    __slots__ = ("command", "fold", "manager", "parts", "started", "times")

    def __init__(
        self,
        command: CallModel,
        manager: ModelStream,
        parts: AsyncIterator[StreamPart],
        fold: ReplyFold,
        started: Instant,
    ) -> None:
        self.command = command
        self.manager = manager
        self.parts = parts
        self.fold = fold
        self.started = started
        self.times: list[Instant] = []


@final
class StreamDriver(Driver[D]):
    """A driver whose consumer pulls; see the module."""

    def __init__(
        self,
        program: Program,
        first: Transition,
        runtime: Runtime[D],
        cancel: CancelHandle | None = None,
    ) -> None:
        super().__init__(program, first, runtime, LoopWaiting())
        self._shown: deque[RunPart] = deque(first.notes)
        self._open: _Open | None = None
        self._group: anyio.abc.TaskGroup | None = None
        self._wake: anyio.Event | None = None
        self._cancel = cancel
        self._left = False

    # --- the context --------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Open the group that tools run in."""
        self.check()
        group = anyio.create_task_group()
        await group.__aenter__()
        self._group = group
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> bool | None:
        """Stop what is running, keep what was finished, leave no task behind."""
        group = self._group
        if group is None:
            return None
        self._group = None
        self._left = True
        partial = None if self._open is None else self._open.fold.partial()
        group.cancel_scope.cancel()
        with anyio.move_on_after(_SHIELD_SECONDS, shield=True):
            await self._close()
        try:
            return (
                await group.__aexit__(None, None, None)
                if error is None
                else await group.__aexit__(kind, error, traceback)
            )
        finally:
            if not self.at_rest:
                outer = error is not None and isinstance(error, anyio.get_cancelled_exc_class())
                with anyio.move_on_after(_SHIELD_SECONDS, shield=True):
                    await self.cancel(OUTER if outer else LEFT, partial)

    # --- pulling ------------------------------------------------------------------------------

    async def pull(self) -> RunPart:
        """Give the next part, carrying the run on as far as that needs.

        Raises:
            StopAsyncIteration: the run rests or has ended.
            UsageError: the stream is not entered, or was left.
        """
        if self._shown:
            return self._shown.popleft()
        if self._cancel is not None:
            return await self._pull_cancellable(self._cancel)
        return await self._pull()

    async def _pull_cancellable(self, cancel: CancelHandle) -> RunPart:
        part: RunPart | None = None
        ended = False
        with anyio.CancelScope() as scope:
            cancel.attach(scope)
            try:
                part = await self._pull()
            except StopAsyncIteration:
                ended = True
            finally:
                cancel.detach(scope)
        if part is None and not ended and cancel.reason is not None:
            await self._end(cancel.reason)
        elif part is not None:
            return part
        if self._shown:
            return self._shown.popleft()
        raise StopAsyncIteration

    async def _end(self, reason: str) -> None:
        """Cancel the run from within: its tools are stopped, the stream stays open."""
        partial = None if self._open is None else self._open.fold.partial()
        await self._close()
        group = self._group
        if group is not None:
            group.cancel_scope.cancel()
        await self.cancel(reason, partial)

    async def _pull(self) -> RunPart:
        shown = self._shown
        while True:
            if shown:
                return shown.popleft()
            if self._open is not None:
                part = await self._next_part(self._open)
                if part is not None:
                    return part
            elif self.busy:
                self._wake = anyio.Event()
                await self._wake.wait()
            elif self._commands:
                await self._start(self._commands)
            elif self.at_rest or self._group is not None:
                raise StopAsyncIteration
            else:
                raise UsageError("expected a stream that is open, got one that was left")

    async def _start(self, commands: deque[Command]) -> None:
        group = self._group
        if group is None:
            raise UsageError("expected a stream inside `async with`, got one outside")
        if len(commands) == 1 and not isinstance(commands[0], RunTool):
            await self.carry_out(commands.popleft())
        else:
            self.start_workers(group)

    @override
    async def call_model(self, command: CallModel) -> None:
        """Open the model's stream; its parts are pulled one by one."""
        model = self.runtime.models[command.model]
        request = request_of(self.program, self.state)
        run, at_step = self.state.identity.run, command.key.step
        fold = ReplyFold(self.state.call_ids, lambda n: f"{run}/{at_step}/{n}")
        started = self.clock.now()
        try:
            manager = model.stream(request)
            parts = await manager.__aenter__()
        except Exception as error:  # noqa: BLE001 - a model is somebody else's code
            await self.feed(self.failed(command, error, None))
            return
        self._open = _Open(command, manager, parts, fold, started)

    async def _next_part(self, opened: _Open) -> RunPart | None:
        """Pull one part of the reply; at its end, let the reply happen."""
        try:
            part = await opened.parts.__anext__()
            shown = opened.fold.add(part)
        except StopAsyncIteration:
            await self._reply_ended(opened)
            return None
        except Exception as error:  # noqa: BLE001 - a model is somebody else's code
            partial = opened.fold.partial()
            await self._close()
            await self.feed(self.failed(opened.command, error, partial))
            return None
        if isinstance(shown, _OUTPUT):
            opened.times.append(self.clock.now())
            if isinstance(shown, ToolCall) and not shown.provider_executed:
                return None
        return shown

    async def _reply_ended(self, opened: _Open) -> None:
        event: Event
        try:
            reply = opened.fold.reply()
        except Exception as error:  # noqa: BLE001 - it is told as the model's failure
            event = self.failed(opened.command, error, opened.fold.partial())
        else:
            event = ModelReplied(
                opened.command.key,
                reply,
                self.clock.now(),
                started=opened.started,
                first_output=opened.times[0] if opened.times else None,
                gaps=gaps_of(opened.times),
            )
        await self._close()
        await self.feed(event)

    async def _close(self) -> None:
        """Close the model's stream, if one is open."""
        opened = self._open
        if opened is not None:
            self._open = None
            await opened.manager.__aexit__(None, None, None)

    # --- what is shown ------------------------------------------------------------------------

    @override
    def tell(self, notes: tuple[Note, ...]) -> None:
        """Queue what was decided, and wake the consumer."""
        self._shown.extend(notes)
        self._awaken()

    @override
    def show_progress(self, key: CallKey, value: JsonText) -> None:
        """Queue a preliminary result, and wake the consumer."""
        if not isinstance(self.state.phase, Done):
            self._shown.append(ToolProgressed(key, value))
            self._awaken()

    @override
    def worker_left(self) -> None:
        """Wake the consumer: there may be a model to call, or nothing more to come."""
        self._awaken()

    def _awaken(self) -> None:
        if self._wake is not None:
            self._wake.set()
            self._wake = None
