"""One execution of a workflow: the reducer, and the engine that keeps its events.

Everything here runs inside the engine's own loop, and again when a worker takes the workflow up,
so nothing may depend on anything but what the engine tells: its time, its inputs, what activities
gave. The events are those of any other run; that a worker was lost is one of them.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Sequence
from datetime import timedelta
from typing import Final, Never, Protocol, cast, final

from attrs import evolve
from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from typing_extensions import TypeIs

from stepfold.codec import JsonTree
from stepfold.durable._journal import status_of
from stepfold.durable.temporal._options import EngineOptions
from stepfold.durable.temporal._wire import Pieces, received, restored_state, sent
from stepfold.loop import (
    RULES,
    Done,
    JournalHeader,
    LoopState,
    Program,
    Resting,
    Transition,
    begin,
    pending,
    step,
    unlike,
)
from stepfold.loop.commands import CallModel, Command, RunTool, Wait, command_id
from stepfold.loop.events import (
    Cancelled,
    Event,
    ModelFailed,
    ModelReplied,
    ToolReturned,
    Waited,
)
from stepfold.shell import TimeLimits, limits_of, lost_call
from stepfold.values import Instant, ModelErrorReason, UsageError

CALL_MODEL: Final = "call_model"
RUN_TOOL: Final = "run_tool"
ASK: Final = "ask"

CANCELLED: Final = "cancelled by the engine"

_GRACE: Final = timedelta(seconds=30)
_HEADER, _CONTINUED = "journal-header", "continued"


@final
class OtherProgramError(Exception):
    """A worker has another program than the run was begun with: it decides nothing, and waits."""


@final
class WorkflowClock:
    """The time of a workflow, which is the same whenever it is told again."""

    def now(self) -> Instant:
        """Nanoseconds since 1970-01-01 UTC."""
        return workflow.time_ns()

    async def sleep_until(self, instant: Instant, /) -> None:
        """Let a timer of the engine run until then."""
        while (left := instant - self.now()) > 0:
            await workflow.sleep(timedelta(microseconds=-(-left // 1000)))


@final
class Execution:
    """Owns the state of a run from its beginning, or from where the last history was left."""

    def __init__(
        self,
        program: Program,
        options: EngineOptions,
        concurrency: int | None,
        given: Sequence[object],
    ) -> None:
        self._program: Final = program
        self._options: Final = options
        self._clock: Final = WorkflowClock()
        self._limits: Final[TimeLimits | None] = limits_of(program.timeouts, self._clock)
        self._places: Final = None if concurrency is None else asyncio.Semaphore(concurrency)
        self._owed: Final[deque[Command]] = deque()
        self._tasks: Final[dict[asyncio.Task[None], None]] = {}  # in their order on each replay
        self._alarm: asyncio.Task[None] | None = None
        self._alarm_at: Instant | None = None
        self._fault: BaseException | None = None
        self._is_leaving = False
        kind = _kind_of(given)
        if kind == _HEADER:
            self._pieces = Pieces(options.piece_bytes)
            header = received(given[0], JournalHeader)
            begun_with = header.fingerprint, header.rules
            first = self._begun(header)
        else:
            self._pieces = Pieces(options.piece_bytes, given[1:-1])
            state = restored_state(given[1:])
            begun_with = state.identity.fingerprint, state.identity.rules
            first = Transition(state, pending(state))
        is_allowed = options.allow_other_program and begun_with[1] == RULES
        self._other: Final = None if is_allowed else unlike(program, *begun_with)
        self.state: LoopState = first.state
        self._first: Final = first.state
        self._owed.extend(first.commands)
        if self._limits is not None:
            if kind == _HEADER:
                self._limits.begin(self.state.phase)
            else:
                self._limits.go_on(_left_off_in(given[0]))

    def _begun(self, header: JournalHeader) -> Transition:
        return begin(
            self._program,
            header.messages,
            run=header.run,
            seed=header.seed,
            at=self._clock.now(),
            runtime_context=header.runtime_context,
        )

    def _require_same_program(self) -> None:
        """Leave a run alone that another program has begun: a worker that has that may come."""
        other = self._other
        if other is None:
            return
        raise OtherProgramError(
            f"{workflow.info().workflow_type}: the run was not begun with the program of this "
            f"worker: expected {other.expected}, got {other.got}; let workers that have it serve "
            "the run, or say EngineOptions(allow_other_program=True)"
        )

    # --- the state ----------------------------------------------------------------------------

    @property
    def at_rest(self) -> bool:
        """Whether the run has ended, or waits for somebody."""
        return isinstance(self.state.phase, Done | Resting)

    @property
    def is_leaving(self) -> bool:
        """Whether the run goes on in another history as soon as nobody asks this one any more."""
        return self._is_leaving

    def tried(self, events: Sequence[Event]) -> LoopState:
        """The state that events would lead to; nothing has happened.

        Raises:
            IllegalEvent: one of them answers what was never asked.
        """
        state = self.state
        for event in events:
            state = step(self._program, state, on_clock(event, self._clock.now())).state
        return state

    def feed(self, event: Event) -> None:
        """Let an event happen now."""
        before = self.state
        transition = step(self._program, before, on_clock(event, self._clock.now()))
        self.state = after = transition.state
        if after is before:
            return
        self._owed.extend(transition.commands)
        workflow.set_current_details(_told(after))
        if self._limits is not None:
            if isinstance(before.phase, Resting) and not isinstance(after.phase, Resting):
                self._limits.begin(after.phase)
            else:
                self._limits.follow(after.phase)
        if isinstance(after.phase, Done):
            self._owed.clear()
            for task in self._tasks:
                task.cancel()

    # --- the engine's loop --------------------------------------------------------------------

    async def carried_on(self) -> LoopState:
        """Carry the run on to its end, or leave this history for another one.

        Raises:
            ContinueAsNewError: the history is long; the engine begins another one.
                ApplicationError: a worker cannot carry out the program.
            OtherProgramError: this worker has another program than the run was begun with.
        """
        self._require_same_program()
        while not isinstance(self.state.phase, Done):
            try:
                await self._turn()
            except asyncio.CancelledError:
                self.feed(Cancelled(CANCELLED, self._clock.now()))
        self._set_alarm(None)
        await workflow.wait_condition(workflow.all_handlers_finished)
        return self.state

    async def _turn(self) -> None:
        if self._is_long() and not self._tasks:
            await self._leave()
        while self._owed:
            self._start(self._owed.popleft())
        limits = self._limits
        self._set_alarm(None if limits is None or self.at_rest else limits.ends)
        state = self.state
        await workflow.wait_condition(lambda: self.state is not state or self._fault is not None)
        if self._fault is not None:
            raise self._fault

    def _is_long(self) -> bool:
        info = workflow.info()
        if self.state is self._first:
            return False  # each history gets the run on, however short it has to be
        if info.is_continue_as_new_suggested():
            return True
        return info.get_current_history_length() >= self._options.history_events

    async def _leave(self) -> Never:
        """Go on in a new history: what is owed and was not begun is begun there."""
        self._is_leaving = True
        self._set_alarm(None)
        await workflow.wait_condition(workflow.all_handlers_finished)
        ends = None if self._limits is None else self._limits.left_off()
        given = {"v": 1, "type": _CONTINUED, "limits": ends}
        workflow.continue_as_new(args=[given, *self._pieces.of(self.state)])

    def _start(self, command: Command) -> None:
        task = asyncio.create_task(self._carry_out(command))
        self._tasks[task] = None
        task.add_done_callback(self._tasks.pop)

    async def _carry_out(self, command: Command) -> None:
        try:
            if isinstance(command, Wait):
                await self._clock.sleep_until(command.until)
                event: Event = Waited(command.key, self._clock.now())
            elif isinstance(command, RunTool) and self._places is not None:
                async with self._places:
                    event = await self._by_worker(command)
            else:
                event = await self._by_worker(command)
            if not isinstance(self.state.phase, Done):
                self.feed(event)
        except asyncio.CancelledError:
            if not isinstance(self.state.phase, Done):
                raise
        except Exception as error:  # noqa: BLE001 - raised again by `_turn`
            if not isinstance(self.state.phase, Done):
                self._fault = error

    # --- time limits --------------------------------------------------------------------------

    def _set_alarm(self, at: Instant | None) -> None:
        if at == self._alarm_at:
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_at = at
        self._alarm = None if at is None else asyncio.create_task(self._ring(at))

    async def _ring(self, at: Instant) -> None:
        await self._clock.sleep_until(at)
        limits, phase = self._limits, self.state.phase
        if limits is not None and limits.is_reached and not isinstance(phase, Done | Resting):
            self.feed(limits.event(phase.step, None))

    # --- what workers do ----------------------------------------------------------------------

    async def _by_worker(self, command: Command) -> Event:
        options = self._options
        heartbeat = timedelta(seconds=options.heartbeat_seconds)
        try:
            given: object = await cast("_ExecuteActivity", workflow.execute_activity)(
                f"{workflow.info().workflow_type}.{_activity_of(command)}",
                args=[sent(command), *self._pieces.of(self.state)],
                start_to_close_timeout=self._time_for(command),
                heartbeat_timeout=heartbeat,
                retry_policy=self._retries_of(command),
                summary=_summary(command),
            )
        except ActivityError as error:
            return self._lost(command, error)
        return received(given, Event)

    def _time_for(self, command: Command) -> timedelta:
        longest = timedelta(seconds=self._options.longest_seconds)
        if not isinstance(command, RunTool) or command.deadline is None:
            return longest
        left = max(0, command.deadline - self._clock.now())
        return min(longest, timedelta(microseconds=left // 1000) + _GRACE)

    def _retries_of(self, command: Command) -> RetryPolicy:
        return RetryPolicy(
            initial_interval=timedelta(milliseconds=100),
            maximum_interval=timedelta(seconds=30),
            maximum_attempts=self._options.attempts if self._may_run_again(command) else 1,
        )

    def _may_run_again(self, command: Command) -> bool:
        match command:
            case CallModel():
                return False  # the reducer retries
            case RunTool(_, name):
                spec = self._program.tools.get(name)
                return spec is not None and spec.idempotent
            case _:
                return True

    def _lost(self, command: Command, error: ActivityError) -> Event:
        """What it means that no worker has given an answer."""
        cause, now = error.cause, self._clock.now()
        if isinstance(cause, ApplicationError) and cause.non_retryable:
            raise cause
        workflow.logger.warning("%s was lost: %s", command_id(command), cause)
        match command:
            case CallModel(key, model):
                reason = f"the worker that called {model} was lost"
                return ModelFailed(key, ModelErrorReason("connection", reason), now)
            case RunTool(key):
                return lost_call(key, now)
            case _:
                raise error


class _ExecuteActivity(Protocol):
    """`workflow.execute_activity`, as it is used here; its own overloads are not all typed."""

    def __call__(
        self,
        activity: str,
        *,
        args: Sequence[object],
        start_to_close_timeout: timedelta,
        heartbeat_timeout: timedelta,
        retry_policy: RetryPolicy,
        summary: str,
    ) -> Awaitable[object]: ...


def _activity_of(command: Command) -> str:
    match command:
        case CallModel():
            return CALL_MODEL
        case RunTool():
            return RUN_TOOL
        case _:
            return ASK


def _summary(command: Command) -> str:
    match command:
        case CallModel(_, name) | RunTool(_, name):
            return name
        case _:
            return type(command).__name__


def _told(state: LoopState) -> str:
    return f"{status_of(state)}, {len(state.steps)} steps"


def on_clock(event: Event, now: Instant) -> Event:
    """An event as it happened by the clock of the workflow; what it lasted stays."""
    shift = now - event.at
    match event:
        case ModelReplied(first_output=first):
            shifted = None if first is None else first + shift
            return evolve(event, at=now, started=event.started + shift, first_output=shifted)
        case ToolReturned():
            return evolve(event, at=now, started=event.started + shift)
        case _:
            return evolve(event, at=now)


def _is_tree(given: object) -> TypeIs[JsonTree]:
    return isinstance(given, dict)


def _kind_of(given: Sequence[object]) -> str:
    first = given[0] if given else None
    kind = first.get("type") if _is_tree(first) else None
    if kind not in {_HEADER, _CONTINUED}:
        raise UsageError(
            f"expected the input of a run, got {first!r:.100}: begin it by stepfold.durable."
            "temporal.start"
        )
    return str(kind)


def _left_off_in(given: object) -> tuple[Instant | None, int | None, Instant | None]:
    found = given.get("limits") if _is_tree(given) else None
    total, at_step, step_ends = cast("list[int | None]", found or [None, None, None])
    return total, at_step, step_ends
