"""A run as a stream: the model's parts, interleaved with what the loop decides.

The consumer's own task pulls the model's next part, which is the back-pressure; only tools get
tasks, in the group that `async with` opened, under a scope of their own: ending the run stops
them and not the consumer. No cancel scope is opened by one part and closed by another, so a
consumer may put its own around any of them. One task at a time uses a stream.

A run that may be cut while a part is on its way (it has time limits, or a `CancelHandle`) is
*watched*: everything is then carried out under the scope of the tools, the model's stream too, and
each part is handed over when the consumer comes for it. A scope around each part would be cheaper
by little, and would not nest with a scope that the model itself holds from one part to the next;
so the model's stream is opened, read and closed by one task, under one scope.
"""

import math
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from types import TracebackType
from typing import Self, TypeAlias, TypeVar, final

import anyio
import anyio.abc
from attrs import frozen
from typing_extensions import override

from stepfold.loop import Done, Program, ReplyFold, Transition, pending, request_of
from stepfold.loop.commands import CallKey, CallModel, Command, RunTool
from stepfold.loop.events import Event, ModelReplied
from stepfold.loop.notes import Note
from stepfold.ports import KEEPER, LanguageModel, ModelStream
from stepfold.shell._cancel import CancelHandle
from stepfold.shell._driver import OUTER, Driver
from stepfold.shell._gaps import gaps_of
from stepfold.shell._model_failures import silence
from stepfold.shell._open_reply import OUTPUT, OpenReply
from stepfold.shell._runtime import Runtime
from stepfold.shell._steering import Steering
from stepfold.shell._waiting import LoopWaiting, is_cancellation
from stepfold.values import (
    JsonText,
    ModelError,
    ModelReply,
    ModelRequest,
    StreamPart,
    ToolCall,
    UsageError,
)

D = TypeVar("D")

LEFT = "the stream was left"


@final
@frozen(order=False)
class ToolProgressed:
    """A tool that is still running shows a preliminary result of this call."""

    key: CallKey
    value: JsonText
    call: ToolCall


RunPart: TypeAlias = StreamPart | Note | ToolProgressed
"""One item of a streamed run.

Client calls are shown by the note `CallRequested` once the reply has ended, with the ids and
arguments that the history holds, not by the model's own `ToolCall` part.
"""


class StreamDriver(Driver[D]):
    """A driver whose consumer pulls; see the module."""

    def __init__(
        self,
        program: Program,
        first: Transition,
        runtime: Runtime[D],
        cancel: CancelHandle | None = None,
        steering: Steering | None = None,
    ) -> None:
        self.cancel_handle: CancelHandle = CancelHandle() if cancel is None else cancel
        super().__init__(program, first, runtime, LoopWaiting(), self.cancel_handle, steering)
        self._shown: deque[RunPart] = deque(first.notes)
        self._is_watched: bool = (
            cancel is not None or self.limits is not None or program.timeouts.of_chunks
        )
        self._open: OpenReply | None = None  # read by the consumer
        self._blocks: set[str] = set()  # that were shown
        self._coming: OpenReply | None = None  # read by a worker
        self._demand: anyio.Event | None = None
        self._group: anyio.abc.TaskGroup | None = None
        self._workers: anyio.CancelScope | None = None
        self._wake: anyio.Event | None = None
        self._was_entered = False

    @property
    def steering(self) -> Steering:
        """By which this run is spoken to; one that was not given is made."""
        if self._steering is None:
            self._steering = Steering()
            self._steering.join()
            self._steering.follow(Transition(self.state))
        return self._steering

    # --- the context --------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Open the group that tools run in."""
        if self._was_entered:
            raise UsageError("expected a new stream, got one that was used: make another")
        self.check()
        group = anyio.create_task_group()
        await group.__aenter__()
        self._group = group
        self._was_entered = True
        if self.limits is not None:
            self.limits.begin(self.state.phase)
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
        partial = self._partial()
        # Any other error is not the group's: it would come out wrapped, or not at all.
        of_group = is_cancellation(error)
        reason = OUTER if of_group else LEFT
        try:
            try:
                with suppress(Exception):  # the run is given up; how its model takes it is no news
                    await self._close()
            finally:
                self._stop_workers()
                swallowed = (
                    await group.__aexit__(kind, error, traceback)
                    if of_group
                    else await group.__aexit__(None, None, None)
                )
        except BaseException as failure:
            if is_cancellation(failure):
                reason = OUTER
            raise
        finally:
            try:
                if self.at_rest:
                    await self.inform_shortly()
                elif self._fault is None and not self.is_left:
                    await self.cancel(reason, partial or self._partial())
            finally:
                await self.keeper.aclose()
        return swallowed if of_group else None

    # --- pulling ------------------------------------------------------------------------------

    async def pull(self) -> RunPart:
        """Give the next part, carrying the run on as far as that needs.

        Raises:
            StopAsyncIteration: the run rests or has ended.
            UsageError: the stream is not entered, or was left.
        """
        if self._group is None:
            what = "was left" if self._was_entered else "was not entered"
            raise UsageError(f"expected a stream inside its `async with`, got one that {what}")
        if self._shown:
            return self._shown.popleft()
        return await self._pull()

    async def _end_within(self) -> None:
        """End the run as it was asked to, from within: the stream stays open."""
        self._stop_workers()
        while self._workers is not None:
            await self._wait()
        if self._fault is not None:
            raise self._fault
        partial = self._partial()
        with suppress(Exception):  # the call is given up; how its model takes it is no news
            await self._close()
        await self.end_as_asked(partial)
        await self.keeper.aclose()

    def _partial(self) -> ModelReply | None:
        """What has come of the reply that is being read."""
        coming = self._open or self._coming
        return None if coming is None else coming.fold.partial()

    def _stop_workers(self) -> None:
        self.forget_commands()
        if self._workers is not None:
            self._workers.cancel()

    async def _wait(self) -> None:
        """Wait until there is something to show, or the workers have left."""
        self._wake = anyio.Event()
        if self._demand is not None:
            self._demand.set()
        await self._wake.wait()

    async def _pull(self) -> RunPart:
        shown = self._shown
        while True:
            if shown:
                return shown.popleft()
            if self._open is not None:
                if self.cancel_handle.reason is not None:
                    await self._end_within()
                    continue
                part = await self._next_part(self._open)
                if part is not None:
                    return part
            elif self._workers is not None:
                await self._wait()
            elif self._fault is not None:
                raise self._fault
            elif self.is_to_end and not isinstance(self.state.phase, Done):
                await self._end_within()
                if not shown:  # not even the journal could be told
                    raise StopAsyncIteration
            elif self._commands and not self.is_left:
                await self._start(self._commands)
            else:
                await self.inform()
                await self.keeper.aclose()
                raise StopAsyncIteration

    async def _start(self, commands: deque[Command]) -> None:
        """Carry out a command that comes alone here; put tools before workers."""
        if self._is_watched or len(commands) > 1 or isinstance(commands[0], RunTool):
            group = self._group
            if group is not None:
                self._workers = anyio.CancelScope()
                group.start_soon(self._side_by_side, self._workers)
            return
        command = commands.popleft()
        try:
            await self.carry_out(command)
        except Exception as error:
            self._fault = error
            raise
        except BaseException:
            # The consumer gave up waiting, not the run: the next pull begins anew.
            if command in pending(self.state) and self._open is None:
                commands.appendleft(command)
            raise

    async def _side_by_side(self, scope: anyio.CancelScope) -> None:
        """Let workers carry out the commands at hand; they can be stopped without the consumer."""
        try:
            with scope:
                self.attach(scope)
                try:
                    if len(self._commands) == 1:
                        await self.carry_out(self._commands.popleft())
                    elif self._commands:
                        await self.together()
                finally:
                    self.detach(scope)
        except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001
            self._fault = error  # raised by the next pull
        finally:
            self._workers = None
            self._awaken()

    @override
    async def call_model(self, command: CallModel) -> None:
        """Open the model's stream; its parts are pulled one by one."""
        if self._is_watched:
            await self._read_beside(command)
            return
        try:
            self._open = await self._opened(command)
        except Exception as error:  # noqa: BLE001 - a model is somebody else's code
            await self.feed(self.failed(command, error, None))

    async def _opened(self, command: CallModel) -> OpenReply:
        model = self.runtime.models[command.model]
        request = request_of(self.program, self.state)
        run, key = self.state.identity.run, command.key
        await self.announce(command, request)
        fold = ReplyFold(
            self.state.call_ids,
            lambda n: f"{run}/{key.step}/{n}",
            self._blocks,
            f"{key.step}.{key.total}/",
        )
        started = self.clock.now()
        manager, parts = await self._streamed(model, request)
        return OpenReply(command, manager, parts, fold, started)

    async def _streamed(
        self, model: LanguageModel, request: ModelRequest
    ) -> tuple[ModelStream, AsyncIterator[StreamPart]]:
        if self.files.may_be_in(request.messages, self.state.transcript.base):
            request = await self.files.filled(model, request)
        before = self.keeper.offer()
        try:
            manager = model.stream(request)
            return manager, await manager.__aenter__()
        finally:
            KEEPER.set(before)

    async def _early_part(self, opened: OpenReply) -> StreamPart:
        before = self.keeper.offer()
        try:
            return await opened.parts.__anext__()
        finally:
            KEEPER.set(before)

    async def _next_part(self, opened: OpenReply) -> RunPart | None:
        """Pull one part of the reply; at its end, let the reply happen."""
        try:
            # What has begun to answer has its connection, and setting a variable costs a delta.
            part = await (opened.parts.__anext__() if opened.times else self._early_part(opened))
            shown = opened.fold.add(part)
        except StopAsyncIteration:
            await self._reply_ended(opened)
            return None
        except Exception as error:  # noqa: BLE001 - a model is somebody else's code
            event = self.failed(opened.command, error, opened.fold.partial())
            try:
                with suppress(Exception):  # the first fault counts
                    await self._close()
            finally:
                await self._happen(event)
            return None
        if isinstance(shown, OUTPUT):
            opened.times.append(self.clock.now())
            if isinstance(shown, ToolCall) and not shown.provider_executed:
                return None
        return shown

    def _reply_of(self, opened: OpenReply) -> Event:
        """What a stream that has ended amounts to."""
        try:
            reply = opened.fold.reply()
        except Exception as error:  # noqa: BLE001 - it is told as the model's failure
            return self.failed(opened.command, error, opened.fold.partial())
        return ModelReplied(
            opened.command.key,
            reply,
            self.clock.now(),
            started=opened.started,
            first_output=opened.times[0] if opened.times else None,
            gaps=gaps_of(opened.times),
        )

    async def _reply_ended(self, opened: OpenReply) -> None:
        event = self._reply_of(opened)
        try:
            await self._close()
        except Exception as error:  # noqa: BLE001 - as if `generate` had raised at its end
            event = self.failed(opened.command, error, opened.fold.partial())
        finally:
            await self._happen(event)

    async def _happen(self, event: Event) -> None:
        """Let an event happen, and keep what the journal raises."""
        try:
            await self.feed(event)
        except Exception as error:
            self._fault = error
            raise

    async def _close(self) -> None:
        """Close the model's stream, if one is open.

        In no scope of ours, since the model may hold one of its own until now.
        """
        opened = self._open
        if opened is not None:
            self._open = None
            await opened.close()

    # --- watched ------------------------------------------------------------------------------

    async def _read_beside(self, command: CallModel) -> None:
        """Read the model's stream to its end, in this worker; a silence that lasts cuts it."""
        timeouts = self.program.timeouts
        event: Event | None = None
        with anyio.CancelScope() as scope:
            if timeouts.first_chunk is not None:
                scope.deadline = anyio.current_time() + timeouts.first_chunk
            event = await self._read_under(scope, command)
        if event is None:
            spoken = self._coming is not None and bool(self._coming.times)
            error = ModelError(silence(timeouts, has_spoken=spoken))
            event = self.failed(command, error, self._partial())
        self._coming = None
        await self.feed(event)

    async def _read_under(self, scope: anyio.CancelScope, command: CallModel) -> Event:
        try:
            opened = await self._opened(command)
        except Exception as error:  # noqa: BLE001 - a model is somebody else's code
            return self.failed(command, error, None)
        self._coming = opened
        try:
            await self._hand_over(scope, opened)
            event = self._reply_of(opened)
        except Exception as error:  # noqa: BLE001 - as above
            event = self.failed(command, error, opened.fold.partial())
            with suppress(Exception):  # the first fault counts
                await opened.close()
            return event
        except BaseException:
            with suppress(Exception):  # the call is given up; how its model takes it is no news
                await opened.close()
            raise
        try:
            await opened.close()
        except Exception as error:  # noqa: BLE001 - as if `generate` had raised at its end
            event = self.failed(command, error, opened.fold.partial())
        return event

    async def _hand_over(self, scope: anyio.CancelScope, opened: OpenReply) -> None:
        """Show each part and wait until the consumer comes for the next, which takes no time."""
        chunk = self.program.timeouts.chunk
        after_output = math.inf if chunk is None else chunk
        while True:
            try:
                part = await (
                    opened.parts.__anext__() if opened.times else self._early_part(opened)
                )
            except StopAsyncIteration:
                scope.deadline = math.inf
                return
            shown = opened.fold.add(part)
            left = scope.deadline - anyio.current_time()
            if isinstance(shown, OUTPUT):
                opened.times.append(self.clock.now())
                left = after_output
            if not (isinstance(shown, ToolCall) and not shown.provider_executed):
                scope.deadline = math.inf
                self._shown.append(shown)
                self._awaken()
                await self._consumer()
            scope.deadline = anyio.current_time() + left

    async def _consumer(self) -> None:
        """Wait until the consumer has taken all that was shown, and comes for more."""
        self._demand = anyio.Event()
        await self._demand.wait()
        self._demand = None

    # --- what is shown ------------------------------------------------------------------------

    @override
    def tell(self, notes: tuple[Note, ...]) -> None:
        """Queue what was decided, and wake the consumer."""
        self._shown.extend(notes)
        self._awaken()

    @override
    def show_progress(self, key: CallKey, call: ToolCall, value: JsonText) -> None:
        """Queue a preliminary result, and wake the consumer."""
        if not isinstance(self.state.phase, Done):
            self._shown.append(ToolProgressed(key, value, call))
            self._awaken()

    def _awaken(self) -> None:
        if self._wake is not None:
            self._wake.set()
            self._wake = None
