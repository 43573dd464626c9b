"""What workers do for runs: each command that needs the world is one activity."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from typing import Final, Generic, Protocol, TypeVar, final

from attrs import evolve
from temporalio import activity
from temporalio.exceptions import ApplicationError

from stepfold.codec import JsonTree
from stepfold.durable._channel import Publisher, StreamChannel
from stepfold.durable.temporal._execution import ASK, CALL_MODEL, RUN_TOOL
from stepfold.durable.temporal._wire import received, restored_state, sent
from stepfold.loop import LoopState, Program, Transition, step
from stepfold.loop.commands import Command, RunTool, command_id
from stepfold.loop.events import Event
from stepfold.shell import Carrier, Runtime
from stepfold.values import StepfoldError, UsageError, dump_tree

D = TypeVar("D")


class Activity(Protocol):
    """A function that a worker of the engine registers."""

    def __call__(self, *given: object) -> Awaitable[JsonTree]:
        """Carry out a command, given with the state that owes it; gives what happened."""
        ...


MOST_BYTES: Final = 2 * 1024 * 1024
"""How big a payload may be that the engine keeps itself."""

_BEATS: Final = 4  # in the time after which a worker counts as lost


@final
class Hands(Generic[D]):
    """Carries out commands for the runs of one workflow, in the process of a worker."""

    def __init__(
        self, program: Program, runtime: Runtime[D], channel: StreamChannel | None
    ) -> None:
        self._program = program
        self._runtime = runtime
        self._channel = channel

    def activities(self, workflow: str) -> tuple[Activity, ...]:
        """The activities of a workflow, by the names that it asks for."""
        return tuple(self._activity(f"{workflow}.{what}") for what in (CALL_MODEL, RUN_TOOL, ASK))

    def _activity(self, name: str) -> Activity:
        @activity.defn(name=name)
        async def carry_out(*given: object) -> JsonTree:
            async with _heartbeats():
                try:
                    command = received(given[0], Command)
                    event = sent(await self._answer(restored_state(given[1:]), command))
                    _require_room(event, command)
                except StepfoldError as error:  # no other worker of this kind would know better
                    raise ApplicationError(
                        str(error), type=type(error).__name__, non_retryable=True
                    ) from error
                return event

        return carry_out

    async def _answer(self, state: LoopState, command: Command) -> Event:
        attempt = activity.info().attempt
        if attempt > 1 and isinstance(command, RunTool):
            command = self._begun_again(command)
        carrier = Carrier(self._program, self._runtime, Transition(state))
        try:
            event = await self._carried_out(carrier, state, command, attempt)
            if event is None:
                raise UsageError(f"{command_id(command)}: expected a state that owes it")
            await carrier.happened(state, event, step(self._program, state, event))
        finally:
            await carrier.aclose()
        return event

    async def _carried_out(
        self, carrier: Carrier[D], state: LoopState, command: Command, attempt: int
    ) -> Event | None:
        if self._channel is None:
            return await carrier.carry_out(state, command)
        run = state.identity.run
        async with Publisher(self._channel, run, command_id(command), attempt) as publisher:
            return await carrier.carry_out(state, command, show=publisher.show)

    def _begun_again(self, command: RunTool) -> RunTool:
        """The command with the time that its tool has from now on, as after any crash."""
        timeout = self._program.timeout_of(self._program.tools[command.tool_name])
        if timeout is None:
            return command
        return evolve(command, deadline=self._runtime.clock.now() + timeout)


@asynccontextmanager
async def _heartbeats() -> AsyncGenerator[None]:
    """Tell the engine that this worker lives, for as long as it is at work on an activity."""
    timeout = activity.info().heartbeat_timeout
    seconds = 1.0 if timeout is None else timeout.total_seconds() / _BEATS

    async def beat() -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(seconds)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()


def _require_room(event: JsonTree, command: Command) -> None:
    """Say what is missing where the engine would refuse an answer.

    Raises:
        UsageError: it is too big, and there is no storage for it.
    """
    if activity.client().data_converter.external_storage is not None:
        return
    size = len(dump_tree(event).encode())
    if size > MOST_BYTES:
        raise UsageError(
            f"{command_id(command)}: expected an answer of {MOST_BYTES:,} bytes at most, since "
            f"that is what the engine takes, got {size:,}: give plugin(…, storage=…), such as "
            "FileStorage, to all workers and clients"
        )
