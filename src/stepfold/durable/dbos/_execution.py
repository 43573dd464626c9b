"""One execution of a workflow: the reducer, and an engine that keeps the events.

This code runs again from the beginning when a worker takes the workflow up, and then the engine
gives the answers that it has kept. So nothing here may depend on anything but these answers: which
steps are begun, in which order, and which of them is over next is decided by the state and by
`asyncio_wait`, which keeps its answer too. The clock is asked in steps only.

A step carries out one command, and its answer is the event. A call that must not run twice has a
step before it, which is kept when the call is about to start: where that one is found and the
answer is not, the call was lost with its worker, and is closed as interrupted.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import Final, Generic, TypeAlias, TypeVar, final

from attrs import evolve
from dbos import DBOS, StepOptions, StepReservation

from stepfold.codec import StoredDataError, decode, encode
from stepfold.durable._channel import Publisher
from stepfold.durable._journal import RunJournal
from stepfold.durable.dbos._journal import JOURNAL, RecordBuffer
from stepfold.durable.dbos._parts import StreamOfParts
from stepfold.loop import (
    Done,
    JournalEntry,
    JournalHeader,
    LoopState,
    Program,
    Resting,
    Transition,
    begin,
    command_ids,
    step,
    unlike,
)
from stepfold.loop.commands import Command, RunTool, Wait, command_id
from stepfold.loop.events import Cancelled, Event, TimedOut, Waited
from stepfold.shell import Carrier, Runtime, TimeLimits, limits_of, lost_call
from stepfold.values import Failure, IllegalEvent, Instant, UsageError

D = TypeVar("D")

MAIL: Final = "stepfold"
"""The topic of what is said to a run: answers, words, requests to end, each an event."""

_PATIENCE: Final = 24 * 3600.0
_NANOSECONDS: Final = 1_000_000_000
_LEAST_SLEEP: Final = 0.001  # for none at all the engine keeps no answer

_Task: TypeAlias = "asyncio.Task[object]"
_Meaning: TypeAlias = Callable[[object], Awaitable[None]]

_LOG: Final = logging.getLogger("stepfold")


@final
class StateClock:
    """The time that the run has come to, which is the same whenever it is told again."""

    def __init__(self) -> None:
        self.at: Instant = 0

    def now(self) -> Instant:
        """Nanoseconds since 1970-01-01 UTC."""
        return self.at

    async def sleep_until(self, instant: Instant, /) -> None:
        """Let a timer of the engine run until then."""
        await DBOS.sleep_async(max(_LEAST_SLEEP, (instant - self.at) / _NANOSECONDS))


@final
class Execution(Generic[D]):
    """Owns the state of a run, from its beginning to its end."""

    def __init__(
        self,
        program: Program,
        runtime: Runtime[D],
        header: JournalHeader,
        *,
        shows: bool,
        allows_other: bool,
    ) -> None:
        self._program: Final = program
        self._runtime: Final = runtime
        self._header: Final = header
        self._shows: Final = shows
        self._allows_other: Final = allows_other
        self._clock: Final = StateClock()
        self._limits: Final[TimeLimits | None] = limits_of(program.timeouts, self._clock)
        self._places: Final = (
            None if runtime.concurrency is None else asyncio.Semaphore(runtime.concurrency)
        )
        self._buffer: Final = RecordBuffer()
        self._has_news = True
        self._journal: Final = RunJournal(self._buffer)
        self._carrier: Carrier[D] | None = None
        self._at_work: Final[dict[_Task, _Meaning]] = {}
        self._alarm: _Task | None = None
        self._alarm_at: Instant | None = None
        first = begin(
            program,
            header.messages,
            run=header.run,
            seed=header.seed,
            at=header.at,
            runtime_context=header.runtime_context,
        )
        self.state: LoopState = first.state
        self._first: Final = first

    async def carried_on(self) -> LoopState:
        """Carry the run on to its end.

        Raises:
            UsageError: the run was begun with another program, or this process lacks what the
                program names.
        """
        self._require_same_program()
        self._clock.at = self.state.now
        await self._journal.begin(self._header)
        if self._limits is not None:
            self._limits.begin(self.state.phase)
        await self._begin_all(self._first.commands)
        await self._listen()
        try:
            while not isinstance(self.state.phase, Done):
                await self._write_down()
                await self._set_alarm()
                for task in await self._next_over():
                    meaning = self._at_work.pop(task, None)
                    if meaning is not None:  # nobody has given it up meanwhile
                        await meaning(task.result())
            await self._write_down()
            return self.state
        finally:
            await self._give_up(tuple(self._at_work))
            if self._carrier is not None:
                await self._carrier.aclose()

    async def _next_over(self) -> list[_Task]:
        """Wait until something is over, and give all that is, in the order of its beginning."""
        at_work = list(self._at_work)
        waited: list[Awaitable[object]] = [*at_work]
        done, _ = await DBOS.asyncio_wait(waited, return_when=asyncio.FIRST_COMPLETED)
        return [task for task in at_work if task in done]

    # --- the state ----------------------------------------------------------------------------

    async def _feed(self, event: Event) -> None:
        """Let an event happen; one that never could is somebody's mistake, and is not taken."""
        before = self.state
        try:
            transition = step(self._program, before, event)
        except IllegalEvent as error:
            _LOG.warning("%s: %s is not taken: %s", self._header.run, type(event).__name__, error)
            return
        self.state = after = transition.state
        if after is before:
            return
        self._clock.at = after.now
        await self._journal.advance(JournalEntry(event, command_ids(transition)), transition)
        if transition.commands or isinstance(after.phase, Done | Resting):
            self._has_news = True
        if self._limits is not None:
            if isinstance(before.phase, Resting) and not isinstance(after.phase, Resting):
                self._limits.begin(after.phase)
            else:
                self._limits.follow(after.phase)
        if self._carrier is not None:  # what was told by a worker that is gone is not told again
            await self._carrier.happened(before, event, transition)
        if isinstance(after.phase, Done):
            await self._give_up(tuple(self._at_work))
        await self._begin_all(transition.commands)

    async def _write_down(self) -> None:
        """Keep what has happened where others can read it, if it has led to anything."""
        if not self._has_news:
            return
        self._has_news = False
        await DBOS.write_stream_async(JOURNAL, self._buffer.take())

    def _require_same_program(self) -> None:
        other = unlike(self._program, self._header.fingerprint, self._header.rules)
        if other is not None and not self._allows_other:
            raise UsageError(
                f"the run {self._header.run!r} was not begun with this program: its header says "
                f"{other.expected}, and the program {other.got}; give the program that it was "
                "begun with, or allow_other_program=True if another one may go on with it"
            )

    # --- what is at work ----------------------------------------------------------------------

    def _begin(self, work: Coroutine[object, object, object], meaning: _Meaning) -> _Task:
        task: _Task = asyncio.create_task(work)
        self._at_work[task] = meaning
        return task

    async def _begin_at_once(
        self, work: Coroutine[object, object, object], meaning: _Meaning
    ) -> _Task:
        """Begin what takes its place among the steps only when its task runs: so it runs now."""
        task = self._begin(work, meaning)
        await asyncio.sleep(0)
        return task

    async def _give_up(self, tasks: tuple[_Task, ...]) -> None:
        for task in tasks:
            self._at_work.pop(task, None)
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Exception):
                _LOG.debug("%s: given up, and then: %r", self._header.run, outcome)

    async def _listen(self) -> None:
        _ = await self._begin_at_once(DBOS.recv_async(MAIL, _PATIENCE), self._hear)

    async def _hear(self, said: object) -> None:
        if said is not None:
            await self._told(said)
            self._has_news = True  # who has said it may look whether it was heard
        if not isinstance(self.state.phase, Done):
            await self._listen()

    async def _told(self, said: object) -> None:
        decoded = decode(said, Event) if isinstance(said, str) else None
        if decoded is None or isinstance(decoded, Failure):
            _LOG.warning("%s: expected an event in the mail, got %.200r", self._header.run, said)
            return
        event = decoded.unwrap()
        if isinstance(event, Cancelled):
            await self._end(event)
        else:
            await self._feed(event)

    async def _end(self, event: Cancelled | TimedOut) -> None:
        """End the run now, with what had come of the reply that was on its way."""
        await self._give_up(tuple(self._at_work))
        carrier = self._carrier
        came = evolve(event, partial=None if carrier is None else carrier.partial())
        name: StepOptions = {"name": type(event).__name__}
        kept = await DBOS.run_step_async(name, _given, encode(came).decode())
        await self._answered(kept)

    async def _set_alarm(self) -> None:
        limits = self._limits
        at_rest = limits is None or isinstance(self.state.phase, Done | Resting)
        at = None if limits is None or at_rest else limits.ends
        if at == self._alarm_at:
            return
        if self._alarm is not None and self._at_work.pop(self._alarm, None) is not None:
            self._alarm.cancel()
        self._alarm_at, self._alarm = at, None
        if at is not None:
            self._alarm = await self._begin_at_once(self._clock.sleep_until(at), self._ring)

    async def _ring(self, _: object) -> None:
        limits, at, phase = self._limits, self._alarm_at, self.state.phase
        self._alarm_at = self._alarm = None
        if limits is not None and at is not None and not isinstance(phase, Done | Resting):
            self._clock.at = max(self._clock.at, at)
            await self._end(limits.event(phase.step, None))

    # --- commands -----------------------------------------------------------------------------

    async def _begin_all(self, commands: tuple[Command, ...]) -> None:
        """Begin what is to be carried out; each has its place among the steps from now on."""
        for command in commands:
            match command:
                case Wait(key, until):
                    pause = self._clock.sleep_until(until)
                    _ = await self._begin_at_once(pause, partial(self._waited, Waited(key, until)))
                case RunTool(_, name) if not self._may_run_again(name):
                    mark, place = DBOS.reserve_step(), DBOS.reserve_step()
                    _ = self._begin(self._once(command, mark, place), self._answered)
                case _:
                    place = DBOS.reserve_step()
                    _ = self._begin(self._asked(command, place), self._answered)

    async def _waited(self, event: Waited, _: object) -> None:
        await self._feed(event)

    def _may_run_again(self, tool: str) -> bool:
        spec = self._program.tools.get(tool)
        return spec is not None and spec.idempotent

    async def _answered(self, answer: object) -> None:
        if answer is None:
            return  # an end has overtaken it
        match decode(str(answer), Event):
            case Failure(fault):
                raise StoredDataError(fault)
            case event:
                await self._feed(event.unwrap())

    async def _asked(self, command: Command, place: StepReservation) -> str | None:
        async with self._turn_of(command):
            return await place.run_async(_named(command), self._carry_out, command)

    async def _once(
        self, command: RunTool, mark: StepReservation, place: StepReservation
    ) -> str | None:
        """Run a tool that must not run twice: that it is about to start is kept before it does."""
        is_mine = False

        async def about_to_start() -> None:
            nonlocal is_mine
            is_mine = True

        async def run() -> str | None:
            if is_mine:
                return await self._carry_out(command)
            return encode(lost_call(command.key, time.time_ns())).decode()

        async with self._turn_of(command):
            await mark.run_async({"name": f"ToolStarted/{command_id(command)}"}, about_to_start)
            return await place.run_async(_named(command), run)

    def _turn_of(self, command: Command) -> AbstractAsyncContextManager[object]:
        places = self._places
        return nullcontext() if places is None or not isinstance(command, RunTool) else places

    async def _carry_out(self, command: Command) -> str | None:
        """Carry a command out in this process, and give the event that is kept of it."""
        if self._carrier is None:
            self._carrier = Carrier(self._program, self._runtime, Transition(self.state))
        carrier, state = self._carrier, self.state
        if self._shows:
            run, name, attempt = self._header.run, command_id(command), time.time_ns()
            async with Publisher(StreamOfParts(), run, name, attempt) as publisher:
                event = await carrier.carry_out(state, command, show=publisher.show)
        else:
            event = await carrier.carry_out(state, command)
        return None if event is None else encode(event).decode()


def _named(command: Command) -> StepOptions:
    """A step bears the name of its command: the engine sees where a program decides otherwise."""
    return {"name": command_id(command)}


async def _given(text: str) -> str:
    """A step that keeps what this process has seen."""
    return text
