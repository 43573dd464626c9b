"""`Driver`: owns the state of one run, and carries out its commands.

Rules. One owner: for each event, compute the transition, append the event to the journal,
commit, tell who watches, start the commands; nothing else steps. Commands that come alone are
awaited where they are; several at once go to workers: before a worker begins a command it makes
sure that one more worker stands by, so that there are as many tasks as suspended tools, plus
one, whatever the number of commands. A transition into an end orphans what is still running,
and only that: it is cancelled then.
"""

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

import anyio
import anyio.abc

from stepfold.loop import (
    Done,
    JournalEntry,
    LoopState,
    Program,
    Resting,
    Transition,
    Working,
    command_ids,
    normal_reply,
    pending,
    request_of,
    step,
)
from stepfold.loop.commands import BindCall, CallKey, CallModel, Command, RunTool, Wait
from stepfold.loop.events import (
    CallBound,
    Cancelled,
    Event,
    ModelFailed,
    ModelReplied,
    ToolReturned,
    ToolStarted,
    Waited,
)
from stepfold.loop.notes import Note
from stepfold.shell._execute import binding_error, execute
from stepfold.shell._runtime import Runtime
from stepfold.shell._tool import ToolContext
from stepfold.shell._waiting import Waiting
from stepfold.values import (
    JsonText,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ToolCall,
    UsageError,
)

D = TypeVar("D")


class Driver(Generic[D]):
    """Carries one run on until it rests or ends."""

    def __init__(
        self, program: Program, first: Transition, runtime: Runtime[D], waiting: Waiting
    ) -> None:
        self.program = program
        self.state: LoopState = first.state
        self.runtime = runtime
        self.waiting = waiting
        self.clock = runtime.clock
        self.cause: Exception | None = None
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

    async def feed(self, event: Event) -> None:
        """Let one event happen: journal it, commit, tell, and take its commands."""
        journal = self.runtime.journal
        if journal is None:
            self._commit(step(self.program, self.state, event))
            return
        if self._lock is None:
            self._lock = anyio.Lock()
        async with self._lock:
            transition = step(self.program, self.state, event)
            if transition.state is not self.state:
                await journal.append(JournalEntry(event, command_ids(transition)))
                self._commit(transition)

    def _commit(self, transition: Transition) -> None:
        self.state = transition.state
        self._commands.extend(transition.commands)
        if transition.notes:
            self.tell(transition.notes)

    def tell(self, notes: tuple[Note, ...]) -> None:
        """Show what was decided; a stream overrides this."""

    def show_progress(self, key: CallKey, value: JsonText) -> None:
        """Show a preliminary result; a stream overrides this."""

    # --- the commands -------------------------------------------------------------------------

    async def run(self) -> None:
        """Carry out commands until the run rests or has ended."""
        commands = self._commands
        while commands:
            if len(commands) == 1:
                await self.carry_out(commands.popleft())
            else:
                await self.together()

    async def together(self) -> None:
        """Carry out all commands at hand, and those that they lead to, side by side."""
        async with anyio.create_task_group() as group:
            self.start_workers(group)

    def start_workers(self, group: anyio.abc.TaskGroup) -> None:
        """Put the commands at hand before workers in this group."""
        self._queue.extend(self._commands)
        self._commands.clear()
        self._stand_by(group)

    def _stand_by(self, group: anyio.abc.TaskGroup) -> None:
        limit = self.runtime.concurrency
        if self._queue and not self._standby and (limit is None or self._active < limit):
            self._standby = True
            group.start_soon(self._work, group)

    async def _work(self, group: anyio.abc.TaskGroup) -> None:
        self._standby = False
        queue = self._queue
        while queue:
            command = queue.popleft()
            self._active += 1
            self._stand_by(group)
            try:
                await self.carry_out(command)
            finally:
                self._active -= 1
            if isinstance(self.state.phase, Done):
                queue.clear()
                self._commands.clear()
                group.cancel_scope.cancel()
            elif self._active or queue:
                queue.extend(self._commands)
                self._commands.clear()
                self._stand_by(group)
        self.worker_left()

    def worker_left(self) -> None:
        """Called when a worker has nothing more to do; a stream overrides this."""

    @property
    def busy(self) -> bool:
        """Whether workers have something to do."""
        return self._active > 0 or bool(self._queue)

    async def carry_out(self, command: Command) -> None:
        """Carry out one command and let its answer happen."""
        match command:
            case RunTool():
                await self._run_tool(command)
            case CallModel():
                await self.call_model(command)
            case Wait(key, until):
                await self.clock.sleep_until(until)
                await self.feed(Waited(key, self.clock.now()))
            case BindCall(key):
                await self._bind(key)
            case _:
                raise UsageError(
                    f"drive: expected a program without hooks of its own, got a "
                    f"{type(command).__name__} command: answer it by driving the loop by hand"
                )

    async def call_model(self, command: CallModel) -> None:
        """Ask the model for a whole reply; a stream overrides this."""
        model = self.runtime.models[command.model]
        request = request_of(self.program, self.state)
        started = self.clock.now()
        try:
            reply = await model.generate(request)
        except Exception as error:  # noqa: BLE001 - a model is somebody else's code
            await self.feed(self.failed(command, error, None))
            return
        await self.feed(
            ModelReplied(command.key, normal_reply(reply), self.clock.now(), started=started)
        )

    def failed(
        self, command: CallModel, error: Exception, partial: ModelReply | None
    ) -> ModelFailed:
        """What a model raised, as an event; the exception is kept for the traceback."""
        self.cause = error
        return ModelFailed(command.key, reason_of(error), self.clock.now(), partial=partial)

    def _call_of(self, key: CallKey) -> ToolCall | None:
        phase = self.state.phase
        if not isinstance(phase, Working):
            return None
        return next((slot.call for slot in phase.slots if slot.index == key.index), None)

    async def _bind(self, key: CallKey) -> None:
        call = self._call_of(key)
        if call is not None:
            error = binding_error(self.runtime.tools[call.tool_name], call)
            await self.feed(CallBound(key, error, self.clock.now()))

    async def _run_tool(self, command: RunTool) -> None:
        key = command.key
        call = self._call_of(key)
        if call is None:  # overtaken by an end
            return
        tool = self.runtime.tools[command.tool_name]
        if self.runtime.journal is not None and not tool.options.idempotent:
            await self.feed(ToolStarted(key, self.clock.now()))
        context: object = None
        if tool.takes_context:
            context = ToolContext(
                self.runtime.deps,
                call.tool_call_id,
                key.step,
                self.state.messages,
                f"{self.state.identity.run}/{key.step}/{key.index}",
                command.deadline,
            )
        show: Callable[[JsonText], None] = lambda value: self.show_progress(key, value)  # noqa: E731
        started = self.clock.now()
        outcome = await execute(
            tool, call, context, command.deadline, self.clock, self.waiting, show
        )
        await self.feed(ToolReturned(key, outcome, self.clock.now(), started=started))

    # --- an end from outside ------------------------------------------------------------------

    async def cancel(self, reason: str, partial: ModelReply | None = None) -> None:
        """End the run now; what is in flight must not be running any more."""
        self._commands.clear()
        self._queue.clear()
        if not isinstance(self.state.phase, Done):
            await self.feed(Cancelled(reason, self.clock.now(), partial=partial))
            self._commands.clear()

    def check(self) -> None:
        """Refuse a state that this runtime cannot carry on.

        Raises:
            UsageError: a model or a tool that the state names is not here.
        """
        for command in pending(self.state):
            match command:
                case CallModel(_, name) if name not in self.runtime.models:
                    known = ", ".join(self.runtime.models) or "none"
                    raise UsageError(f"expected a model named {name!r}, got: {known}")
                case RunTool(_, name) if name not in self.runtime.tools:
                    known = ", ".join(self.runtime.tools) or "none"
                    raise UsageError(f"expected a tool named {name!r}, got: {known}")
                case _:
                    pass


def reason_of(error: Exception) -> ModelErrorReason:
    """The reason in a `ModelError`; any other exception is a fault in the model's own code."""
    if isinstance(error, ModelError):
        return error.reason
    return ModelErrorReason("unknown", f"the model raised {type(error).__name__}")
