"""`RunWorkflow`: a workflow that is the loop."""

from collections.abc import Sequence
from typing import ClassVar, Generic

from temporalio import workflow
from temporalio.exceptions import ApplicationError
from typing_extensions import TypeVar, override

from stepfold.agent import Agent, RunFailed
from stepfold.codec import JsonTree
from stepfold.durable._journal import status_of
from stepfold.durable.temporal._execution import Execution
from stepfold.durable.temporal._options import DEFAULT_OPTIONS, EngineOptions
from stepfold.durable.temporal._wire import received, sent
from stepfold.loop import Done, pending
from stepfold.loop.commands import RunTool
from stepfold.loop.events import (
    ApprovalAnswered,
    Cancelled,
    CancelRequested,
    Event,
    MessageSteered,
    ToolReturned,
)
from stepfold.values import Failed, StepfoldError, UsageError

D = TypeVar("D", default=object)
Out = TypeVar("Out", default=str)

RUN_FAILED = "RunFailed"


class RunWorkflow(Generic[D, Out]):
    """A workflow whose executions are runs of an agent.

    A program module defines a subclass:

        class Support(temporal.RunWorkflow[Deps, Report]):
            agent = support_agent

    The parameters are those of the agent: `object` and `str` where they are left out. The class is
    the workflow's definition, under its own name or `name="…"`, and has to be on the top of its
    module, which workers import in the engine's sandbox. `engine` says how commands are carried
    out.

    Updates: `answer`, `steer`, `cancel`, `at_rest`; query: `state`. `RunHandle` speaks them.

    Raises:
        UsageError: a subclass has no `agent`, or is not on the top of a module.
    """

    workflow_name: ClassVar[str]
    agent: Agent[D, Out]
    engine: EngineOptions = DEFAULT_OPTIONS

    @override
    def __init_subclass__(cls, *, name: str | None = None) -> None:
        super().__init_subclass__()
        if not isinstance(getattr(cls, "agent", None), Agent):
            raise UsageError(f"{cls.__name__}: expected agent = Agent(…) in the class, got none")
        if cls.__qualname__ != cls.__name__:
            raise UsageError(
                f"{cls.__name__}: expected a class on the top of its module, since workers import "
                f"it by its name, got {cls.__qualname__}"
            )

        async def run(self: RunWorkflow[D, Out], *given: object) -> JsonTree:
            return await self._carried_on()

        # The engine wants this method in each definition, with the parameters of `__init__`.
        del run.__annotations__["self"]
        run.__module__, run.__qualname__ = cls.__module__, f"{cls.__qualname__}.run"
        type.__setattr__(cls, "run", workflow.run(run))
        cls.workflow_name = cls.__name__ if name is None else name
        workflow.defn(name=cls.workflow_name, failure_exception_types=[StepfoldError])(cls)

    @classmethod
    def agent_of(cls) -> Agent[D, Out]:
        """The agent whose runs these are."""
        return cls.agent

    @workflow.init
    def __init__(self, *given: object) -> None:
        agent = self.agent
        self._execution = Execution(agent.program, self.engine, agent.concurrency, given)

    async def _carried_on(self) -> JsonTree:
        state = await self._execution.carried_on()
        if isinstance(state.phase, Done) and isinstance(state.phase.end, Failed):
            try:
                self.agent.run_of(state).unwrap()
            except RunFailed as failed:
                raise ApplicationError(
                    str(failed), sent(state), type=RUN_FAILED, non_retryable=True
                ) from None
        return sent(state)

    # --- what may be asked from outside -------------------------------------------------------

    @workflow.query(name="state")
    def _state(self) -> JsonTree:
        """The state of the run."""
        return sent(self._execution.state)

    @workflow.update(name="at_rest")
    async def _at_rest(self) -> str:
        """Wait until the run rests or has ended, and tell its status; or ask again: `running`."""
        execution = self._execution
        await workflow.wait_condition(lambda: execution.at_rest or execution.is_leaving)
        return status_of(execution.state)

    @workflow.update(name="answer")
    async def _answer(self, *given: object) -> None:
        """Take events that answer what the run asks."""
        for event in _events(given):
            self._execution.feed(event)

    @_answer.validator
    def _refuse_answer(self, *given: object) -> None:
        events = _events(given)
        running = {
            command.key
            for command in pending(self._execution.state)
            if isinstance(command, RunTool)
        }
        for event in events:
            match event:
                case ApprovalAnswered():
                    pass
                case ToolReturned(key) if key not in running:
                    pass
                case _:
                    raise UsageError(f"expected the answer to an open request, got {event!r:.200}")
        self._execution.tried(events)

    @workflow.update(name="steer")
    async def _steer(self, *given: object) -> bool:
        """Say something to the run; tells whether anybody listens."""
        is_heard = not isinstance(self._execution.state.phase, Done)
        for said in given:
            self._execution.feed(received(said, MessageSteered))
        return is_heard

    @_steer.validator
    def _refuse_steer(self, *given: object) -> None:
        self._execution.tried([received(said, MessageSteered) for said in given])

    @workflow.update(name="cancel")
    async def _cancel(self, *given: object) -> None:
        """End the run, now or after its step."""
        for asked in given:
            self._execution.feed(received(asked, Cancelled | CancelRequested))

    @_cancel.validator
    def _refuse_cancel(self, *given: object) -> None:
        self._execution.tried([received(asked, Cancelled | CancelRequested) for asked in given])


def _events(given: Sequence[object]) -> list[Event]:
    return [received(one, Event) for one in given]
