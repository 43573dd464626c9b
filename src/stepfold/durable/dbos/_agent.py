"""`DbosAgent`: an agent whose runs are workflows, and `RunHandle`, by which they are spoken to."""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, Generic, Literal, TypeVar, cast, final, overload

from dbos import DBOS, SetWorkflowID, WorkflowHandleAsync, error
from typing_extensions import override

from stepfold.agent import Agent, AnyAnswer, Run, RunFailed
from stepfold.codec import StoredDataError, decode, encode
from stepfold.durable._channel import StreamedPart
from stepfold.durable._recording import Recording, decoded, recovered
from stepfold.durable.dbos._execution import MAIL, Execution
from stepfold.durable.dbos._journal import read_journal
from stepfold.durable.dbos._parts import StreamOfParts
from stepfold.loop import (
    Done,
    JournalHeader,
    LoopState,
    Resting,
    begin,
    command_ids,
    standardise_prompt,
)
from stepfold.loop.events import Cancelled, CancelRequested, Event, MessageSteered
from stepfold.ports import JournalError, JournalMissing, StoredJournal
from stepfold.shell import Runtime
from stepfold.values import (
    EMPTY_OBJECT,
    Failed,
    Failure,
    JsonText,
    Message,
    UsageError,
    UserMessage,
)

D = TypeVar("D")
Out = TypeVar("Out")

_NO_DEPS: Final = object()


@final
class DbosAgent(Generic[Out]):
    """An agent whose runs are workflows of DBOS: `start` begins one, any worker carries it on.

    Made before `DBOS.launch()`, in every process that starts runs or carries them on, under the
    same `name`. The engine's own configuration says where things are kept.

    Args:
        agent: What the runs do; its journal is the engine.
        name: The name of the workflow is `stepfold.` and this.
        deps: What the tools' contexts hold, in this process.
        stream: Whether what runs show is kept too, for `RunHandle.stream`; models are then asked
            for streams.
        polling_seconds: How often a wait looks again, where the engine does not tell.
        allow_other_program: Lets a run go on although the program is not the one that it was begun
            with.

    Raises:
        UsageError: an argument is wrong.
    """

    @overload
    def __init__(
        self,
        agent: Agent[object, Out],
        *,
        name: str,
        stream: bool = False,
        polling_seconds: float = 1.0,
        allow_other_program: bool = False,
    ) -> None: ...
    @overload
    def __init__(
        self,
        agent: Agent[D, Out],
        *,
        name: str,
        deps: D,
        stream: bool = False,
        polling_seconds: float = 1.0,
        allow_other_program: bool = False,
    ) -> None: ...
    def __init__(
        self,
        agent: Agent[D, Out],
        *,
        name: str,
        deps: object = _NO_DEPS,
        stream: bool = False,
        polling_seconds: float = 1.0,
        allow_other_program: bool = False,
    ) -> None:
        if not name:
            raise UsageError("name: expected a name for the workflow, got an empty text")
        if not polling_seconds > 0:
            raise UsageError(f"polling_seconds: expected seconds, got {polling_seconds!r}")
        self._agent: Final = cast("Agent[object, Out]", agent)
        self._polling: Final = polling_seconds
        runtime_of: Callable[[], Runtime[object]] = (
            self._agent.runtime
            if deps is _NO_DEPS
            else lambda: cast("Runtime[object]", agent.runtime(deps=cast("D", deps)))
        )

        async def carry_on(header: str) -> str:
            execution = Execution(
                agent.program,
                runtime_of(),
                _header_in(header),
                shows=stream,
                allows_other=allow_other_program,
            )
            return encode(await execution.carried_on()).decode()

        self.name: Final[str] = f"stepfold.{name}"
        self._workflow: Final[Callable[[str], Coroutine[object, object, str]]] = DBOS.workflow(
            name=self.name
        )(carry_on)

    async def start(
        self,
        prompt: str | Sequence[Message],
        /,
        *,
        run_id: str | None = None,
        queue: str | None = None,
        seed: int | None = None,
        runtime_context: Mapping[str, object] | None = None,
    ) -> "RunHandle[Out]":
        """Begin a run, and give what speaks to it; one that was begun is left as it is.

        Args:
            prompt: Text, or the messages of a conversation.
            run_id: The id of the workflow, and the name of the run; a new one by default.
            queue: A queue that was registered with the engine, whose workers carry the run on;
                without one, this process does.
            seed: What decides the jitter of retries; drawn by default.
            runtime_context: A JSON object for tools, policies and the prepare function.

        Raises:
            UsageError: the prompt or the context is wrong.
        """
        run = f"run-{secrets.token_hex(8)}" if run_id is None else run_id
        if not run:
            raise UsageError("run_id: expected a name, got an empty text")
        program, at = self._agent.program, time.time_ns()
        drawn = secrets.randbits(63) if seed is None else seed
        messages = standardise_prompt(prompt)
        context = _context_of(runtime_context)
        first = begin(program, messages, run=run, seed=drawn, at=at, runtime_context=context)
        header = JournalHeader(
            run,
            drawn,
            at,
            messages,
            program.fingerprint,
            commands=command_ids(first),
            runtime_context=context,
        )
        with SetWorkflowID(run):
            given = encode(header).decode()
            if queue is None:
                await DBOS.start_workflow_async(self._workflow, given)
            else:
                await DBOS.enqueue_workflow_async(queue, self._workflow, given)
        return self.handle_of(run)

    def handle_of(self, run_id: str, /) -> "RunHandle[Out]":
        """Give what speaks to a run that was begun, here or elsewhere; nobody is asked yet."""
        return RunHandle(self._agent, run_id, self._polling)

    async def take_over(self, executor_id: str, /) -> tuple[str, ...]:
        """Put the runs of a worker that is gone back into their queue, and give their names.

        A worker that comes back under its own `executor_id` takes its runs up by itself, and so
        does the engine's own supervision where there is one.
        """
        left = await DBOS.list_workflows_async(
            status="PENDING", name=self.name, executor_id=executor_id, load_input=False
        )
        for workflow in left:
            await DBOS.resume_workflow_async(workflow.workflow_id, queue_name=workflow.queue_name)
        return tuple(workflow.workflow_id for workflow in left)


def _context_of(given: Mapping[str, object] | None) -> JsonText:
    if given is None:
        return EMPTY_OBJECT
    try:
        return JsonText.of(dict(given))
    except (TypeError, ValueError) as fault:
        raise UsageError(f"runtime_context: expected what has a JSON form, got {fault}") from fault


def _header_in(text: str) -> JournalHeader:
    match decode(text, JournalHeader):
        case Failure(fault):
            raise StoredDataError(fault)
        case header:
            return header.unwrap()


@final
class RunHandle(Generic[Out]):
    """Speaks to one run; made by `DbosAgent.start` and `DbosAgent.handle_of`.

    What is said is kept by the engine at once, and heard when a worker carries the run on. Whatever
    the engine refuses raises its own errors.
    """

    def __init__(self, agent: Agent[object, Out], run: str, polling: float) -> None:
        self._agent: Final = agent
        self._polling: Final = polling
        self.id: Final[str] = run
        """The id of the workflow, which is the name of the run."""

    async def result(self) -> Run[Out]:
        """Wait for the end of the run, and give it; it may be stopped or cancelled.

        Raises:
            RunFailed: the run ended in `Failed`.
            JournalError: there is no such run.
        """
        try:
            handle: WorkflowHandleAsync[str] = await DBOS.retrieve_workflow_async(self.id)
        except error.DBOSNonExistentWorkflowError:
            raise JournalError(JournalMissing(self.id)) from None
        kept = await handle.get_result(polling_interval_sec=self._polling)
        match decode(kept, LoopState):
            case Failure(fault):
                raise StoredDataError(fault)
            case state:
                return self._run_of(state.unwrap())

    async def at_rest(self) -> Run[Out]:
        """Wait until the run is blocked or has ended, and give it as it is then.

        What was said to it and not heard yet is not waited for.

        Raises:
            RunFailed: the run ended in `Failed`.
            JournalError: there is no such run.
        """
        while True:
            state = await self._state_if_begun()
            if state is not None and isinstance(state.phase, Done | Resting):
                return self._run_of(state)
            await asyncio.sleep(self._polling)

    async def state(self) -> LoopState:
        """The state of the run as it was last written down, at work or not.

        Raises:
            JournalError: there is no such run, or no worker has begun it.
        """
        stored = await read_journal(self.id)
        if isinstance(stored, Failure):
            raise JournalError(stored.failure())
        return self._folded(stored.unwrap())

    async def recording(self) -> Recording:
        """What was written down of the run: to be looked at, replayed, forked or exported.

        Raises:
            JournalError: there is no such run, or no worker has begun it.
        """
        stored = await read_journal(self.id)
        if isinstance(stored, Failure):
            raise JournalError(stored.failure())
        recording = decoded(stored.unwrap())
        if isinstance(recording, Failure):
            raise JournalError(recording.failure())
        return recording.unwrap()

    async def answer(self, answers: Sequence[AnyAnswer], /) -> None:
        """Answer what the run asks: see `at_rest` and `open_requests`.

        Raises:
            UsageError: an answer is to a call that the run never made, or does not fit its tool.
            JournalError: there is no such run.
        """
        for event in self._agent.events_of(await self.state(), answers, at=time.time_ns()):
            await self._send(event)

    async def steer(self, message: str | UserMessage, /) -> None:
        """Say something that the model hears in its next step; as `Steering.steer`.

        Raises:
            UsageError: it is neither text nor a message, or empty.
        """
        await self._say(message, "steer")

    async def queue(self, message: str | UserMessage, /) -> None:
        """Say something that the model hears only after a final answer; otherwise as `steer`.

        Raises:
            UsageError: it is neither text nor a message, or empty.
        """
        await self._say(message, "queue")

    async def cancel(self, reason: str = "cancelled", *, after_step: bool = False) -> None:
        """Ask the run to end: now, or after the step in flight. One that has ended is left.

        The run then ends in `Cancelled(reason)`, with a history that can be sent again. Where the
        workflow itself is cancelled by the engine's means, its run stays as it was.
        """
        now = time.time_ns()
        await self._send(CancelRequested(reason, now) if after_step else Cancelled(reason, now))

    @asynccontextmanager
    async def stream(self) -> AsyncGenerator[AsyncIterator[StreamedPart]]:
        """Give what the run shows, from its beginning, until it is blocked or has ended.

        Its agent has to be one with `stream=True`.
        """
        parts = _Parts(self.id, asyncio.create_task(self._rest()), self._polling)
        try:
            yield parts
        finally:
            parts.resting.cancel()

    # --- what they share ----------------------------------------------------------------------

    async def _rest(self) -> None:
        with suppress(RunFailed):  # `result` says so
            await self.at_rest()

    async def _state_if_begun(self) -> LoopState | None:
        """The state of the run; `None` while it waits in a queue."""
        match await read_journal(self.id):
            case Failure(JournalMissing()):
                if await DBOS.get_workflow_status_async(self.id) is None:
                    raise JournalError(JournalMissing(self.id))
                return None
            case Failure(damaged):
                raise JournalError(damaged)
            case stored:
                return self._folded(stored.unwrap())

    def _folded(self, stored: StoredJournal) -> LoopState:
        outcome = recovered(self._agent.program, stored, allow_other_program=True)
        if isinstance(outcome, Failure):
            fault = outcome.failure()
            problem = getattr(fault, "problem", None) or f"expected {fault}"
            raise UsageError(f"the run {self.id!r} cannot be read with this program: {problem}")
        return outcome.unwrap().state

    async def _say(self, message: str | UserMessage, mode: Literal["steer", "queue"]) -> None:
        given = UserMessage(message) if isinstance(message, str) and message else message
        if not isinstance(given, UserMessage):
            raise UsageError(f"{mode}: expected text or a UserMessage, got {given!r:.200}")
        name = f"{self.id}/said/{secrets.token_hex(8)}"
        await self._send(MessageSteered(name, given, mode, time.time_ns()))

    async def _send(self, event: Event) -> None:
        try:
            await DBOS.send_async(self.id, encode(event).decode(), MAIL)
        except error.DBOSNonExistentWorkflowError:
            raise JournalError(JournalMissing(self.id)) from None

    def _run_of(self, state: LoopState) -> Run[Out]:
        run = self._agent.run_of(state)
        if isinstance(run.end, Failed):
            run.unwrap()  # raises what `generate` would
        return run


@final
class _Parts(AsyncIterator[StreamedPart]):
    """What a run shows until `resting` is done; all of it is in the stream by then."""

    def __init__(self, run: str, resting: asyncio.Task[None], polling: float) -> None:
        self.resting: Final = resting
        self._run: Final = run
        self._polling: Final = min(polling, 0.05)
        self._channel: Final = StreamOfParts()
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
                await asyncio.wait([self.resting], timeout=self._polling)
        return self._found.popleft()
