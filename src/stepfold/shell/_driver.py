"""`Driver`: owns the state of one run, and carries out its commands.

Rules. One owner: for each event, compute the transition, append the event to the journal,
commit, tell who watches, start the commands; nothing else steps. No cancellation comes between
the journal and the state. Commands that come alone are awaited where they are; several at once
go to workers: before a worker begins a command it makes sure that one more worker stands by, so
that there are as many tasks as suspended tools, plus one, whatever the number of commands. A
transition into an end orphans what is still running, and only that: it is cancelled then. What
a port of ours raises (a journal) stops the workers and is raised as it is, in no group; so is an
exit, since asyncio would end its loop on the spot where a task lets one through.
"""

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Generic, TypeVar

import anyio
import anyio.abc
import anyio.lowlevel

from stepfold.loop import (
    Done,
    JournalEntry,
    LoopState,
    Program,
    Resting,
    Transition,
    command_ids,
    request_of,
    step,
)
from stepfold.loop.commands import (
    CallKey,
    CallModel,
    CheckStop,
    Command,
    ModelCallKey,
    PrepareStep,
    RunTool,
    Wait,
)
from stepfold.loop.events import (
    Cancelled,
    CancelRequested,
    Event,
    ModelFailed,
    ModelReplied,
    TimedOut,
    ToolReturned,
    ToolStarted,
    Waited,
)
from stepfold.loop.notes import Note
from stepfold.ports import BLOCKING, KEEPER, Clock, LanguageModel, write_down
from stepfold.shell._cancel import CancelHandle
from stepfold.shell._children import children_of
from stepfold.shell._execute import call_of, execute
from stepfold.shell._files import RunFiles
from stepfold.shell._fitting import require_fitting
from stepfold.shell._hook_commands import HookCommand, HookCommands
from stepfold.shell._inner_calls import inner_calls_of
from stepfold.shell._keeping import RunKeeper
from stepfold.shell._model_failures import reason_of
from stepfold.shell._observing import ModelCallStarted, ToolExecutionStarted, Watch
from stepfold.shell._outputs import OutputBinding
from stepfold.shell._runtime import Runtime
from stepfold.shell._steering import Steering
from stepfold.shell._time_limits import TimeLimits, limits_of
from stepfold.shell._tool import ToolContext
from stepfold.shell._waiting import Waiting, missed_loop, needs_loop
from stepfold.values import (
    Failed,
    Instant,
    JsonText,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    ToolCall,
)

D = TypeVar("D")

OUTER = "cancelled by the caller"

_SHIELD_SECONDS = 5.0

_BEGINNING = (CallModel, PrepareStep, CheckStop, Wait)
"""What is not begun for a run that shall end after its step."""


class Driver(Generic[D]):
    """Carries one run on until it rests or ends."""

    def __init__(
        self,
        program: Program,
        first: Transition,
        runtime: Runtime[D],
        waiting: Waiting,
        cancel: CancelHandle | None = None,
        steering: Steering | None = None,
    ) -> None:
        self.program = program
        self.state: LoopState = first.state
        self.runtime = runtime
        self.waiting = waiting
        self.clock: Clock = runtime.clock
        self.keeper: RunKeeper = RunKeeper()
        self.limits: TimeLimits | None = limits_of(program.timeouts, runtime.clock)
        observers = runtime.observers
        self.watch: Watch | None = Watch(program, first, observers, waiting) if observers else None
        self._binding = OutputBinding(program.output, runtime.bind_output)
        self._hooks = HookCommands(program, runtime, waiting, self._binding)
        self.files: RunFiles = RunFiles(runtime.download)
        self._handle = cancel
        self._steering: Steering | None = steering
        if steering is not None:
            steering.join()
        self._raised: tuple[ModelErrorReason, Exception] | None = None
        self._fault: BaseException | None = None
        self._commands: deque[Command] = deque(first.commands)
        self._queue: deque[Command] = deque()
        self._active = 0
        self._standby = False
        self._lock: anyio.Lock | None = None

    # --- the state ----------------------------------------------------------------------------

    @property
    def at_rest(self) -> bool:
        """Whether nothing is left to do here: the run has ended, or waits for somebody."""
        return isinstance(self.state.phase, Done | Resting)

    @property
    def is_over(self) -> bool:
        """Whether nothing may begin any more: the run has ended, or shall end now."""
        return isinstance(self.state.phase, Done) or self.is_to_end

    @property
    def is_left(self) -> bool:
        """Whether the run is given up as it is, for somebody else to take it up."""
        return self._handle is not None and self._handle.is_leaving

    @property
    def _may_begin(self) -> bool:
        return not self.is_left and not self.is_over

    @property
    def is_to_end(self) -> bool:
        """Whether somebody asked the run to end, or its time is up."""
        if self._handle is not None and self._handle.reason is not None:
            return True
        return self.limits is not None and self.limits.is_reached and not self.at_rest

    @property
    def _request(self) -> str | None:
        """Why the run shall end after its step, if that was asked for and is not known yet."""
        handle, state = self._handle, self.state
        if handle is None or state.cancel_requested is not None or self.at_rest:
            return None
        return handle.reason_after_step

    @property
    def cause(self) -> Exception | None:
        """The exception behind the end, if it was a model's."""
        phase = self.state.phase
        if self._raised is None or not isinstance(phase, Done):
            return None
        reason, error = self._raised
        return error if isinstance(phase.end, Failed) and phase.end.error is reason else None

    @property
    def outputs(self) -> Mapping[JsonText, object]:
        """What validators made of the outputs that they accepted."""
        return self._binding.made

    async def feed(self, event: Event) -> None:
        """Let one event happen: journal it, commit, tell, and take its commands."""
        if self.runtime.journal is None and self._steering is None and self._request is None:
            self._commit(step(self.program, self.state, event), event)
        else:
            with anyio.CancelScope(shield=True):
                await self._feed_in_turn(event)
            await anyio.lowlevel.checkpoint_if_cancelled()
        if self.watch is not None:
            await self.watch.tell()

    async def _feed_in_turn(self, event: Event) -> None:
        if self._lock is None:
            self._lock = anyio.Lock()
        async with self._lock:
            await self.journaled(event)

    async def journaled(self, event: Event) -> None:
        """Let what was said and asked happen, then an event."""
        if self._steering is not None:
            while (said := self._steering.heard(self.state, self.clock.now())) is not None:
                await self._append(said)
        reason = self._request
        if reason is not None:
            await self._append(CancelRequested(reason, self.clock.now()))
        await self._append(event)

    async def _append(self, event: Event) -> None:
        """Append an event before it counts; if that fails, it has not happened."""
        transition = step(self.program, self.state, event)
        if transition.state is not self.state:
            journal = self.runtime.journal
            if journal is not None:
                await write_down(journal, JournalEntry(event, command_ids(transition)), transition)
            self._commit(transition, event)

    def _commit(self, transition: Transition, event: Event) -> None:
        if self.watch is not None and transition.state is not self.state:
            self.watch.happened(self.state, event, transition)
        self.state = transition.state
        if self.limits is not None:
            self.limits.follow(transition.state.phase)
        if self._steering is not None:
            self._steering.follow(transition)
        self._commands.extend(transition.commands)
        if transition.notes:
            self.tell(transition.notes)

    async def inform(self) -> None:
        """Let observers know of all that has happened."""
        if self.watch is not None:
            await self.watch.tell()

    def tell(self, notes: tuple[Note, ...]) -> None:
        """Show what was decided; a stream overrides this."""

    def show_progress(self, key: CallKey, call: ToolCall, value: JsonText) -> None:
        """Show a preliminary result; a stream overrides this."""

    # --- the commands -------------------------------------------------------------------------

    async def run(self) -> None:
        """Carry out commands until the run rests or has ended."""
        commands = self._commands
        while commands and self._may_begin:
            if len(commands) == 1:
                await self.carry_out(commands.popleft())
            else:
                await self.together()
        await self.inform()

    async def run_until_asked(self) -> None:
        """Carry out commands until the run rests, ends, is asked to end, or its time is up."""
        if self.limits is not None:
            self.limits.begin(self.state.phase)
        if self._handle is None and self.limits is None:
            await self.run()
            return
        with anyio.CancelScope() as scope:
            self.attach(scope)
            try:
                await self.run()
            finally:
                self.detach(scope)
        await self.end_as_asked()

    async def together(self) -> None:
        """Carry out all commands at hand, and those that they lead to, side by side."""
        async with anyio.create_task_group() as group:
            self._queue.extend(self._commands)
            self._commands.clear()
            self._stand_by(group)
        if self._fault is not None:
            raise self._fault

    def _stand_by(self, group: anyio.abc.TaskGroup) -> None:
        limit = self.runtime.concurrency
        if self._queue and not self._standby and (limit is None or self._active < limit):
            self._standby = True
            group.start_soon(self._work, group)

    async def _work(self, group: anyio.abc.TaskGroup) -> None:
        self._standby = False
        queue = self._queue
        while queue and self._may_begin:
            command = queue.popleft()
            self._active += 1
            self._stand_by(group)
            try:
                await self.carry_out(command)
            except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001
                self._fault = self._fault or error  # raised again by `together`
            finally:
                self._active -= 1
            if self._fault is not None or isinstance(self.state.phase, Done):
                self.forget_commands()
                if self._active:
                    group.cancel_scope.cancel()
            elif self._active or queue:
                queue.extend(self._commands)
                self._commands.clear()

    def forget_commands(self) -> None:
        """Begin nothing more."""
        self._queue.clear()
        self._commands.clear()

    async def carry_out(self, command: Command) -> None:
        """Carry out one command and let its answer happen."""
        if self.watch is not None:
            await self.watch.tell()
        if isinstance(command, _BEGINNING) and await self._leaves(command):
            return
        match command:
            case RunTool():
                await self._run_tool(command)
            case CallModel():
                await self.call_model(command)
            case Wait(key, until):
                await self._wait_until(key, until)
            case _:
                await self._ask(command)

    async def _leaves(self, command: Command) -> bool:
        """Whether the run ends before this command is begun, since it shall end after its step."""
        reason = self._request
        if reason is None:
            return False
        if isinstance(command, CallModel):  # that step is not in flight yet
            await self.cancel(reason)
        else:
            await self._hear()
        return isinstance(self.state.phase, Done)

    async def _hear(self) -> None:
        """Let be known that the run shall end after its step, if that is news."""
        reason = self._request
        if reason is not None:
            await self.feed(CancelRequested(reason, self.clock.now()))

    def idle(self) -> AbstractContextManager[object]:
        """Do what need not be done for a run that shall end after its step."""
        return nullcontext() if self._handle is None else self._handle.idle()

    async def _ask(self, command: HookCommand) -> None:
        event: Event | None = None
        if isinstance(command, PrepareStep):
            with self.idle():
                event = await self._hooks.answer(self.state, command)
            await self._hear()
        else:
            event = await self._hooks.answer(self.state, command)
        if event is not None:
            await self.feed(event)

    async def _wait_until(self, key: ModelCallKey, until: Instant) -> None:
        ends = None if self.limits is None else self.limits.ends
        if ends is not None and ends <= until:
            with self.idle():
                await self.clock.sleep_until(ends)
            await self._hear()
            return
        with self.idle():
            await self.clock.sleep_until(until)
        if not self.is_left:
            await self.feed(Waited(key, self.clock.now()))

    async def call_model(self, command: CallModel) -> None:
        """Ask the model for a whole reply; a stream overrides this."""
        model = self.runtime.models[command.model]
        request = request_of(self.program, self.state)
        await self.announce(command, request)
        started = self.clock.now()
        try:
            reply = await self._generated(model, request)
        except Exception as error:
            if BLOCKING.get() and missed_loop(error):
                raise needs_loop(f"the model {command.model}") from error
            await self.feed(self.failed(command, error, None))
            return
        await self.feed(ModelReplied(command.key, reply, self.clock.now(), started=started))

    async def announce(self, command: CallModel, request: ModelRequest) -> None:
        """Let observers know of a model call that is about to be made."""
        if self.watch is not None:
            run, at = self.state.identity.run, self.clock.now()
            started = ModelCallStarted(run, command.key, command.model, request, at)
            await self.watch.begins(started)

    async def _generated(self, model: LanguageModel, request: ModelRequest) -> ModelReply:
        if self.files.may_be_in(request.messages, self.state.transcript.base):
            request = await self.files.filled(model, request)
        before = self.keeper.offer()
        try:
            return await model.generate(request)
        finally:
            KEEPER.set(before)

    def failed(
        self, command: CallModel, error: Exception, partial: ModelReply | None
    ) -> ModelFailed:
        """What a model raised, as an event; the exception is kept for the traceback."""
        reason = reason_of(error)
        self._raised = (reason, error)
        return ModelFailed(command.key, reason, self.clock.now(), partial=partial)

    async def _run_tool(self, command: RunTool) -> None:
        key = command.key
        call = call_of(self.state.phase, key)
        if call is None:  # overtaken by an end
            return
        tool = self.runtime.tools[command.tool_name]
        if self.runtime.journal is not None and not tool.options.idempotent:
            await self.feed(ToolStarted(key, self.clock.now()))
            if self.is_over:  # somebody asked the run to end while that was written
                return
        context: object = None
        children = children_of(self.program, command, self.state, self._handle)
        if tool.takes_context or self.watch is not None:
            context = seen = ToolContext(
                self.runtime.deps,
                call.tool_call_id,
                key.step,
                self.state.messages,
                f"{self.state.identity.run}/{key.step}/{key.index}",
                command.deadline,
                self.state.runtime_context,
                children=children,
                within=inner_calls_of(tool, children, self.clock, self.waiting),
            )
            if self.watch is not None:
                run, at = self.state.identity.run, self.clock.now()
                await self.watch.begins(ToolExecutionStarted(run, key, call, seen, at))
        show: Callable[[JsonText], None] = lambda value: self.show_progress(key, call, value)  # noqa: E731
        timeout = None if command.deadline is None else self.program.timeout_of(tool.spec)
        started = self.clock.now()
        outcome = await execute(
            tool, call, context, command.deadline, timeout, self.clock, self.waiting, show
        )
        spending = None if children is None else children.close()
        if children is not None and children.is_left:  # whoever takes the run up calls again
            return
        at = self.clock.now()
        await self.feed(ToolReturned(key, outcome, at, started=started, spending=spending))

    # --- an end from outside ------------------------------------------------------------------

    def attach(self, scope: anyio.CancelScope) -> None:
        """Let a scope be cancelled when the run shall end."""
        if self.limits is not None:
            self.limits.attach(scope)
        if self._handle is not None:
            self._handle.attach(scope)

    def detach(self, scope: anyio.CancelScope) -> None:
        """Forget a scope that is left."""
        if self.limits is not None:
            self.limits.detach(scope)
        if self._handle is not None:
            self._handle.detach(scope)

    async def cancel(self, reason: str, partial: ModelReply | None = None) -> None:
        """End the run now; what is in flight must not be running any more.

        Takes a short while at most, whatever the journal does and whoever cancels this.
        """
        await self._end(Cancelled(reason, self.clock.now(), partial=partial))

    async def end_as_asked(self, partial: ModelReply | None = None) -> None:
        """End the run now if somebody asked for that, or if its time is up; as `cancel`."""
        handle, phase = self._handle, self.state.phase
        if handle is not None and handle.reason is not None:
            await self.cancel(handle.reason, partial)
        elif self.limits is not None and not isinstance(phase, Done | Resting):
            await self._end(self.limits.event(phase.step, partial))

    async def _end(self, event: Cancelled | TimedOut) -> None:
        self.forget_commands()
        if isinstance(self.state.phase, Done):
            await self.inform_shortly()
            return
        await self.feed_last(event)
        self.forget_commands()

    async def feed_last(self, event: Event) -> None:
        """Let the end of the run happen, whoever cancels this; gives up after a short while."""
        with anyio.move_on_after(_SHIELD_SECONDS, shield=True):
            await self._feed_in_turn(event)
        await self.inform_shortly()

    async def inform_shortly(self) -> None:
        """Let observers know of what is left, in a short while, whoever cancels this."""
        if self.watch is not None:
            with anyio.move_on_after(_SHIELD_SECONDS, shield=True):
                await self.watch.tell()

    def check(self) -> None:
        """Refuse a program that this runtime cannot carry out.

        Raises:
            UsageError: a model, a tool or a hook that the program asks for is not here.
        """
        require_fitting(self.program, self.state, self.runtime)
