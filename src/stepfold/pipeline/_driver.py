"""`Driver`: carries out what a pipeline asks for.

Rules. For each event there is one transition, and nothing comes between. What is sync runs where
it is issued, one after the other. What waits is awaited in place as long as it is alone; several
get a task each, in one group that is left when none of them runs any more, so nothing outlives a
run. Each task carries on with the first thing that its own answer led to. A command to cancel goes
before all others: what was issued and is not begun is dropped, what runs answers itself, when it
has ended. What a stage raises is an event as well; an exit, and a cancellation that came from
outside, are raised on as they are. Where a run may be asked to end, all that waits gets a task,
and one beside them waits for whoever asks.
"""

from collections import deque
from collections.abc import Awaitable
from types import CoroutineType
from typing import Final, cast, final

import anyio
import anyio.abc
import anyio.lowlevel
from attrs import frozen

from stepfold.pipeline._context import StageContext
from stepfold.pipeline._ending import Ending
from stepfold.pipeline._reading import answer_of
from stepfold.pipeline._setting import Setting
from stepfold.pipeline._state import PipelineState, Transition
from stepfold.pipeline._step import step
from stepfold.pipeline._wiring import Wiring
from stepfold.pipeline._works import Work
from stepfold.pipeline.commands import CancelStage, Command, Pause, RunStage
from stepfold.pipeline.events import (
    CancelAsked,
    Event,
    StageBegun,
    StageEvent,
    StageKey,
    StageRaised,
    StageStopped,
    StageTimedOut,
    Waited,
)
from stepfold.pipeline.notes import Tell
from stepfold.shell import LoopWaiting, SpuriousCancellationError

OUTER: Final = "cancelled by the caller"


@final
@frozen(order=False, eq=False)
class _Job:
    """What has to be awaited, and the command that it answers."""

    command: RunStage | Pause
    awaitable: Awaitable[object] | None


@final
class Driver:
    """Carries one run of a pipeline on until it ends, or rests."""

    def __init__(self, wiring: Wiring, first: Transition, setting: Setting) -> None:
        self.state: PipelineState = first.state
        self._setting: Final = setting
        self._writes: Final = setting.writes
        self._ending: Final = setting.ending
        self._is_ending = False
        self._lock: Final = anyio.Lock()
        self._wiring = wiring
        self._clock = setting.clock
        self._tell = setting.tell
        self._waiting: Final = LoopWaiting()
        self._commands: Final[deque[Command]] = deque(first.commands)
        self._dropped: Final[set[StageKey]] = set()
        self._jobs: list[_Job] = []
        self._scopes: Final[dict[StageKey, anyio.CancelScope]] = {}
        self._raised: Final[dict[tuple[str, str], Exception]] = {}
        self._fault: BaseException | None = None
        self._working = 0
        self._watching: anyio.CancelScope | None = None
        if self._tell is not None:
            self._told(self._tell, first)

    def cause_of(self, exception: str, message: str) -> Exception | None:
        """The exception behind a crash."""
        return self._raised.get((exception, message))

    async def run(self) -> None:
        """Carry out commands until none is left.

        Raises:
            BaseException: cancellation by an outer scope; a run that is written down has ended
                then, unless the store fails.
        """
        try:
            await anyio.lowlevel.checkpoint()
            while jobs := await self._run_here():
                event = None
                if len(jobs) == 1 and self._ending is None:
                    event = await self._awaited(jobs[0])
                if event is None:
                    await self._together(jobs)
                else:
                    await self.feed(event)
        except anyio.get_cancelled_exc_class():
            if self._writes is not None and self._writes.fault is None:
                self._scopes.clear()  # all tasks have ended
                with anyio.CancelScope(shield=True):
                    await self._end(OUTER)
                    await self._run_here()
            raise

    async def feed(self, event: Event) -> None:
        """Let one event happen, and take its commands; with a journal, once it is written."""
        if self._writes is None:
            self._commit(step(self._wiring, self.state, event, tells=self._tell is not None))
            return
        with anyio.CancelScope(shield=True):
            async with self._lock:
                transition = step(self._wiring, self.state, event)
                if transition.state is not self.state:
                    await self._writes.append(self.state, event, transition.state)
                self._commit(transition)
        await anyio.lowlevel.checkpoint_if_cancelled()

    def _commit(self, transition: Transition) -> None:
        self.state = transition.state
        for command in transition.commands:
            if isinstance(command, CancelStage):
                self._commands.appendleft(command)
            else:
                self._commands.append(command)
        if self._tell is not None:
            self._told(self._tell, transition)

    async def _end(self, reason: str) -> None:
        """Ask the run to end, once."""
        if not self._is_ending:
            self._is_ending = True
            await self.feed(CancelAsked(reason, self._clock.now()))

    def _told(self, tell: Tell, transition: Transition) -> None:
        for note in transition.notes:
            tell(note)

    # --- here and now -------------------------------------------------------------------------

    async def _run_here(self) -> list[_Job]:
        """Carry out what does not wait, and what that leads to; give what does."""
        commands, code, ending = self._commands, self._wiring.code, self._ending
        while ending is None or not await self._is_held(ending):
            if not commands:
                break
            command = commands.popleft()
            if isinstance(command, CancelStage):
                await self._cancel(command)
            elif self._dropped and command.key in self._dropped:
                continue
            elif isinstance(command, RunStage):
                work = code[command.instruction].work
                if work is None:
                    continue
                if self._writes is not None and not await self._is_noted(command, work):
                    continue
                event = self._called(command, work)
                if event is None:
                    continue
                if self._writes is None:
                    told = self._tell is not None
                    self._commit(step(self._wiring, self.state, event, tells=told))
                else:
                    await self.feed(event)
            else:
                self._jobs.append(_Job(command, None))
        jobs, self._jobs = self._jobs, []
        return jobs

    async def _is_held(self, ending: Ending) -> bool:
        """Whether nothing more may begin, since others have to come to their end before."""
        if self._is_ending:
            return False
        reason = ending.reason
        if reason is None and ending.reason_at_rest is not None:
            if self._scopes or self._jobs:
                return True
            reason = ending.reason_at_rest
        if reason is not None:
            await self._end(reason)
        return False

    async def _is_noted(self, command: RunStage, work: Work) -> bool:
        """Write down that a stage begins which must not run twice; tells whether it still may."""
        if not (self._wiring.code[command.instruction].repeats or work.wants_context):
            await self.feed(StageBegun(command.key, self._clock.now()))
        return command.key not in self._dropped

    def _called(self, command: RunStage, work: Work) -> StageEvent | None:
        """Call a function; what it gives to be awaited is left for later, without an event."""
        try:
            given = self._in_context(command) if work.wants_context else command.given
            result = work.function(given)
        except Exception as error:  # noqa: BLE001 - a defect of the stage, not of ours
            return self._event_of_error(command.key, error)
        if work.may_wait and isinstance(result, Awaitable):
            self._jobs.append(_Job(command, cast("Awaitable[object]", result)))
            return None
        try:
            return answer_of(work, command, result, self._clock.now())
        except TypeError as error:
            return self._event_of_error(command.key, error)

    def _in_context(self, command: RunStage) -> StageContext:
        title, setting = self._wiring.code[command.instruction].title, self._setting
        run, key, writes = self.state.run, command.key, self._writes
        kept = None if writes is None else writes.agent_of(key)
        return StageContext(
            command.given,
            run,
            key,
            title,
            setting.clock,
            setting.children,
            setting.tell,
            kept=kept,
            parts=setting.parts and setting.tell is not None,
        )

    def _event_of_error(self, key: StageKey, error: Exception) -> StageRaised:
        name, message = type(error).__name__, str(error)
        self._raised.setdefault((name, message), error)
        return StageRaised(key, name, message, self._clock.now())

    async def _cancel(self, command: CancelStage) -> None:
        """Cancel a task, or drop what has not been begun as one."""
        key = command.key
        if key in self._scopes:
            self._scopes[key].cancel()
            return
        self._dropped.add(key)
        for job in self._jobs:
            if job.command.key == key:
                self._jobs.remove(job)
                _close(job.awaitable)
                break
        await self.feed(StageStopped(key, self._clock.now()))

    # --- waiting ------------------------------------------------------------------------------

    async def _awaited(self, job: _Job) -> StageEvent | None:
        """Await one job, until its deadline at most; `None` for a pause that was cut short."""
        command, clock = job.command, self._clock
        key = command.key
        try:
            if isinstance(command, Pause):
                return await self._paused(command)
            boxed = await self._waiting.until(command.deadline, clock, lambda: self._for(job))
            if not isinstance(boxed, tuple):
                return StageTimedOut(key, clock.now())
        except Exception as error:  # a defect of the stage, unless it is the journal's
            if self._writes is not None and error is self._writes.fault:
                raise
            return self._event_of_error(key, error)
        work = self._wiring.code[command.instruction].work
        if work is None:
            raise AssertionError(command)
        try:
            return answer_of(work, command, boxed[0], clock.now())
        except TypeError as error:
            return self._event_of_error(key, error)

    async def _for(self, job: _Job) -> tuple[object]:
        if job.awaitable is None:
            raise AssertionError(job)
        try:
            return (await self._waiting.for_code(job.awaitable),)
        except SpuriousCancellationError as error:
            told = "a cancellation was raised that nobody had asked for"
            raise RuntimeError(told) from error

    async def _paused(self, command: Pause) -> StageEvent | None:
        if self._ending is None:
            return await self._slept(command)
        slept: list[StageEvent] = []
        with self._ending.idle():
            slept.append(await self._slept(command))
        return slept[0] if slept else None

    async def _slept(self, command: Pause) -> StageEvent:
        clock, deadline = self._clock, command.deadline
        if deadline is not None and deadline < command.until:
            await clock.sleep_until(deadline)
            return StageTimedOut(command.key, clock.now())
        await clock.sleep_until(command.until)
        return Waited(command.key, clock.now())

    # --- side by side -------------------------------------------------------------------------

    async def _together(self, jobs: list[_Job]) -> None:
        async with anyio.create_task_group() as group:
            for job in jobs:
                self._start(group, job)
            if self._ending is not None:
                group.start_soon(self._watch, group, self._ending)
        if self._fault is not None:
            raise self._fault

    def _start(self, group: anyio.abc.TaskGroup, job: _Job) -> None:
        self._scopes[job.command.key] = anyio.CancelScope()
        self._working += 1
        group.start_soon(self._work, group, job)

    async def _work(self, group: anyio.abc.TaskGroup, job: _Job) -> None:
        """Await a job in a task, and carry on with what it leads to."""
        todo: list[_Job] = [job]
        try:
            while todo:
                key = todo[0].command.key
                event: StageEvent | None = None
                with self._scopes.setdefault(key, anyio.CancelScope()) as scope:
                    if scope.cancel_called:
                        _close(todo[0].awaitable)
                    else:
                        event = await self._awaited(todo[0])
                del self._scopes[key]
                if event is not None or scope.cancel_called:
                    await self.feed(event or StageStopped(key, self._clock.now()))
                todo = await self._run_here()
                for other in todo[1:]:
                    self._start(group, other)
            self._working -= 1
            if self._watching is not None and not self._working:
                self._watching.cancel()
        except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001
            self._fault = self._fault or error  # raised again by `_together`
            group.cancel_scope.cancel()

    async def _watch(self, group: anyio.abc.TaskGroup, ending: Ending) -> None:
        """Wait for whoever asks the run to end, as long as something is in flight."""
        with anyio.CancelScope() as self._watching:
            if self._working:
                await ending.asked()
        if not self._working:
            return
        try:
            for job in await self._run_here():
                self._start(group, job)
        except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001
            self._fault = self._fault or error  # raised again by `_together`
            group.cancel_scope.cancel()


def _close(awaitable: Awaitable[object] | None) -> None:
    """Forget a coroutine that was never begun."""
    if isinstance(awaitable, CoroutineType):
        awaitable.close()
