"""What clients do with runs: begin them, speak to them, and get what came of them."""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Final, Generic, Literal, Protocol, TypeVar, cast, final

from temporalio.client import (
    Client,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowUpdateFailedError,
)
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode
from typing_extensions import TypedDict, Unpack, override

from stepfold.agent import Agent, AnyAnswer, Run, RunFailed
from stepfold.codec import JsonTree
from stepfold.durable._channel import StreamChannel, StreamedPart
from stepfold.durable.temporal._wire import received, sent
from stepfold.durable.temporal._workflow import RUN_FAILED, RunWorkflow
from stepfold.loop import JournalHeader, LoopState, begin, standardise_prompt
from stepfold.loop.events import Cancelled, CancelRequested, MessageSteered
from stepfold.values import EMPTY_OBJECT, Failed, JsonText, Message, UsageError, UserMessage

D = TypeVar("D")
Out = TypeVar("Out")

_NOW: Final = 0  # the workflow says when it was
_POLL_SECONDS: Final = 0.05


class StartOptions(TypedDict, total=False):
    """What the engine is told of a workflow when it begins; times are in seconds.

    `execution_timeout` is after how long the engine ends the workflow, without the run's doing:
    a run has time limits of its own, which keep what was finished. `task_timeout` is after how
    long a worker that decides something counts as lost, 10 by default. `start_delay` is how long
    the run waits before it begins. `memo` is kept with the workflow, for people and lists.
    """

    execution_timeout: float
    task_timeout: float
    start_delay: float
    memo: Mapping[str, object]


async def start(
    client: Client,
    workflow: type[RunWorkflow[D, Out]],
    prompt: str | Sequence[Message],
    /,
    *,
    id: str,
    task_queue: str,
    seed: int | None = None,
    runtime_context: Mapping[str, object] | None = None,
    **options: Unpack[StartOptions],
) -> "RunHandle[Out]":
    """Begin a run as a workflow, and give what speaks to it.

    Args:
        client: A client that was connected with a `plugin`.
        workflow: A subclass of `RunWorkflow`, which some worker of the task queue serves.
        prompt: Text, or the messages of a conversation.
        id: The id of the workflow, and the name of the run. The keys by which tools know calls
            again are made of it, so one that was used is refused.
        task_queue: Where workers look for runs.
        seed: What decides the jitter of retries; drawn by default.
        runtime_context: A JSON object for tools, policies and the prepare function.
        options: See `StartOptions`.

    Raises:
        UsageError: the prompt or the context is wrong.
        WorkflowAlreadyStartedError: there is or was a workflow of this id.
    """
    program = workflow.agent_of().program
    messages = standardise_prompt(prompt)
    context = EMPTY_OBJECT if runtime_context is None else _context(runtime_context)
    drawn = secrets.randbits(63) if seed is None else seed
    begin(program, messages, run=id, seed=drawn, at=_NOW, runtime_context=context)  # or it raises
    header = JournalHeader(id, drawn, _NOW, messages, program.fingerprint, runtime_context=context)
    handle = await client.start_workflow(
        workflow.workflow_name,
        sent(header),
        id=id,
        task_queue=task_queue,
        id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        execution_timeout=_time(options.get("execution_timeout")),
        task_timeout=_time(options.get("task_timeout")),
        start_delay=_time(options.get("start_delay")),
        memo=options.get("memo"),
    )
    return RunHandle(workflow.agent_of(), handle)


def _context(given: Mapping[str, object]) -> JsonText:
    try:
        return JsonText.of(dict(given))
    except (TypeError, ValueError) as error:
        msg = f"runtime_context: expected a JSON object, got {given!r:.200} ({error})"
        raise UsageError(msg) from None


def _time(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


def handle_of(
    client: Client,
    workflow: type[RunWorkflow[D, Out]],
    id: str,
    /,
) -> "RunHandle[Out]":
    """Give what speaks to a run that was begun, here or elsewhere; nobody is asked yet."""
    return RunHandle(workflow.agent_of(), client.get_workflow_handle(id))


class _Updates(Protocol):
    """A handle of the engine, as it is used here; its own overloads are not all typed."""

    def execute_update(self, update: str, *, args: Sequence[object]) -> Awaitable[object]: ...


@final
class RunHandle(Generic[Out]):
    """Speaks to one run; made by `start` and `handle_of`. `workflow` is the engine's own handle.

    What is not answered by the history alone needs a worker of the run's task queue. Whatever the
    engine refuses or does not know raises its own errors.
    """

    def __init__(self, agent: Agent[D, Out], workflow: WorkflowHandle[object, JsonTree]) -> None:
        self._agent: Agent[object, Out] = cast("Agent[object, Out]", agent)
        self.workflow: WorkflowHandle[object, JsonTree] = workflow

    @property
    def id(self) -> str:
        """The id of the workflow, which is the name of the run."""
        return self.workflow.id

    async def result(self) -> Run[Out]:
        """Wait for the end of the run, and give it; it may be stopped or cancelled.

        Raises:
            RunFailed: the run ended in `Failed`.
            WorkflowFailureError: the workflow was terminated, or has failed without a run.
        """
        try:
            ended = await self.workflow.result()
        except WorkflowFailureError as failure:
            cause = failure.cause
            if isinstance(cause, ApplicationError) and cause.type == RUN_FAILED:
                return self._run_of(received(cause.details[0], LoopState))
            raise
        return self._run_of(received(ended, LoopState))

    async def at_rest(self) -> Run[Out]:
        """Wait until the run is blocked or has ended, and give it as it is then.

        Raises:
            RunFailed: the run ended in `Failed`.
        """
        while True:
            try:
                status = await self._update("at_rest")
            except (RPCError, WorkflowUpdateFailedError) as error:
                if _has_ended(error):
                    return await self.result()
                raise
            if status == "blocked":
                return self._run_of(await self.state())
            if status != "running":
                return await self.result()

    async def state(self) -> LoopState:
        """The state of the run, at work or not."""
        tree: object = await self.workflow.query("state")
        return received(tree, LoopState)

    async def answer(self, answers: Sequence[AnyAnswer]) -> None:
        """Answer what the run asks: see `at_rest` and `open_requests`.

        Raises:
            UsageError: an answer is to a call that the run never made, or does not fit its tool.
            WorkflowUpdateFailedError: the run refuses an answer; nothing has happened then.
        """
        events = self._agent.events_of(await self.state(), answers, at=_NOW)
        await self._update("answer", *map(sent, events))

    async def steer(self, message: str | UserMessage, /, *, key: str | None = None) -> bool:
        """Say something that the model hears in its next step; as `Steering.steer`.

        Gives whether anybody listens. What was said with one `key` counts once, however often it
        is sent; without one, each call is another message.
        """
        return await self._say(message, "steer", key)

    async def queue(self, message: str | UserMessage, /, *, key: str | None = None) -> bool:
        """Say something that the model hears only after a final answer; otherwise as `steer`."""
        return await self._say(message, "queue", key)

    async def _say(
        self, message: str | UserMessage, mode: Literal["steer", "queue"], key: str | None
    ) -> bool:
        given = UserMessage(message) if isinstance(message, str) and message else message
        if not isinstance(given, UserMessage):
            raise UsageError(f"{mode}: expected text or a UserMessage, got {given!r:.200}")
        name = secrets.token_hex(8) if key is None else key
        said = MessageSteered(f"{self.id}/said/{name}", given, mode, _NOW)
        try:
            return await self._update("steer", sent(said)) is True
        except (RPCError, WorkflowUpdateFailedError) as error:
            if _has_ended(error):
                return False
            raise

    async def cancel(self, reason: str = "cancelled", *, after_step: bool = False) -> None:
        """Ask the run to end: now, or after the step in flight. One that has ended is left.

        The run then ends in `Cancelled(reason)`. Cancelling the workflow by the engine's own means
        does the same, with a reason that says so.
        """
        event = CancelRequested(reason, _NOW) if after_step else Cancelled(reason, _NOW)
        try:
            await self._update("cancel", sent(event))
        except (RPCError, WorkflowUpdateFailedError) as error:
            if not _has_ended(error):
                raise

    @asynccontextmanager
    async def stream(self, channel: StreamChannel) -> AsyncGenerator[AsyncIterator[StreamedPart]]:
        """Give what the run shows, from its beginning, until it is blocked or has ended.

        The channel is that of the workers: see `serve`.
        """
        parts = _Parts(channel, self.id, asyncio.create_task(self._rest()))
        try:
            yield parts
        finally:
            parts.resting.cancel()

    async def _rest(self) -> None:
        with suppress(RunFailed):  # `result` says so
            await self.at_rest()

    async def _update(self, name: str, *given: object) -> object:
        return await cast("_Updates", self.workflow).execute_update(name, args=given)

    def _run_of(self, state: LoopState) -> Run[Out]:
        run = self._agent.run_of(state)
        if isinstance(run.end, Failed):
            run.unwrap()  # raises what `generate` would
        return run


def _has_ended(error: RPCError | WorkflowUpdateFailedError) -> bool:
    """Whether the engine says that a workflow is over and takes no updates any more."""
    if isinstance(error, RPCError):
        return error.status == RPCStatusCode.NOT_FOUND
    cause = error.cause
    return isinstance(cause, ApplicationError) and cause.type == "AcceptedUpdateCompletedWorkflow"


@final
class _Parts(AsyncIterator[StreamedPart]):
    """What a run shows until `resting` is done; all of it is in the channel by then."""

    def __init__(self, channel: StreamChannel, run: str, resting: asyncio.Task[None]) -> None:
        self.resting: Final = resting
        self._channel: Final = channel
        self._run: Final = run
        self._place = 0
        self._found: deque[StreamedPart] = deque()

    @override
    async def __anext__(self) -> StreamedPart:
        while not self._found:
            is_last = self.resting.done()
            found, self._place = await self._channel.read(self._run, self._place)
            self._found.extend(found)
            if not found:
                if is_last:
                    self.resting.result()  # or raises what kept it from being known
                    raise StopAsyncIteration
                await asyncio.wait([self.resting], timeout=_POLL_SECONDS)
        return self._found.popleft()
