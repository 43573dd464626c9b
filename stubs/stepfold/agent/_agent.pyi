from collections.abc import Sequence
from typing import final, overload
from typing_extensions import TypeForm, TypeVar, Unpack
from stepfold.agent._answers import AnyAnswer
from stepfold.agent._options import AgentOptions, RunOptions, StreamOptions
from stepfold.agent._output import Output
from stepfold.agent._run import Run, RunFailed
from stepfold.agent._run_stream import RunStream
from stepfold.agent._stages import AsStage
from stepfold.loop import LoopState, Program
from stepfold.loop.events import Event
from stepfold.ports import Clock, Journal, LanguageModel
from stepfold.shell import (
    Observer,
    OfferedTool,
    PrepareStep,
    RepairToolCall,
    Runtime,
    StopCheck,
    ToolApproval,
)
from stepfold.values import Instant, Message, Outcome

Deps_contra = TypeVar("Deps_contra", contravariant=True, default=object)
Out_co = TypeVar("Out_co", covariant=True, default=str)
Out = TypeVar("Out")

@final
class Agent(AsStage[Deps_contra, Out_co]):
    def __init__(
        self,
        *,
        model: str | LanguageModel,
        deps_type: TypeForm[Deps_contra] = object,
        tools: Sequence[OfferedTool[Deps_contra]] = (),
        output: Output[Out_co] | None = None,
        prepare_step: PrepareStep[Deps_contra] | None = None,
        repair_tool_call: RepairToolCall[Deps_contra] | None = None,
        tool_approval: ToolApproval[Deps_contra] | None = None,
        stop_check: StopCheck[Deps_contra] | None = None,
        **options: Unpack[AgentOptions],
    ) -> None: ...
    output: Output[Out_co]
    program: Program
    concurrency: int | None

    @overload
    async def generate(
        self: "Agent[object, Out]",
        prompt: str | Sequence[Message],
        /,
        **options: Unpack[RunOptions],
    ) -> Run[Out]: ...
    @overload
    async def generate(
        self,
        prompt: str | Sequence[Message],
        /,
        *,
        deps: Deps_contra,
        **options: Unpack[RunOptions],
    ) -> Run[Out_co]: ...
    @overload
    async def try_generate(
        self: "Agent[object, Out]",
        prompt: str | Sequence[Message],
        /,
        **options: Unpack[RunOptions],
    ) -> Outcome[Run[Out], RunFailed]: ...
    @overload
    async def try_generate(
        self,
        prompt: str | Sequence[Message],
        /,
        *,
        deps: Deps_contra,
        **options: Unpack[RunOptions],
    ) -> Outcome[Run[Out_co], RunFailed]: ...
    @overload
    def generate_sync(
        self: "Agent[object, Out]",
        prompt: str | Sequence[Message],
        /,
        **options: Unpack[RunOptions],
    ) -> Run[Out]: ...
    @overload
    def generate_sync(
        self,
        prompt: str | Sequence[Message],
        /,
        *,
        deps: Deps_contra,
        **options: Unpack[RunOptions],
    ) -> Run[Out_co]: ...
    @overload
    def stream(
        self: "Agent[object, Out]",
        prompt: str | Sequence[Message],
        /,
        **options: Unpack[StreamOptions],
    ) -> RunStream[Out]: ...
    @overload
    def stream(
        self,
        prompt: str | Sequence[Message],
        /,
        *,
        deps: Deps_contra,
        **options: Unpack[StreamOptions],
    ) -> RunStream[Out_co]: ...
    @overload
    async def answer(
        self: "Agent[object, Out]",
        run: Run[object],
        answers: Sequence[AnyAnswer],
        /,
        **options: Unpack[RunOptions],
    ) -> Run[Out]: ...
    @overload
    async def answer(
        self,
        run: Run[object],
        answers: Sequence[AnyAnswer],
        /,
        *,
        deps: Deps_contra,
        **options: Unpack[RunOptions],
    ) -> Run[Out_co]: ...
    @overload
    def runtime(
        self: "Agent[object, Out]",
        *,
        clock: Clock | None = None,
        journal: Journal | None = None,
        observers: Sequence[Observer] = (),
    ) -> Runtime[object]: ...
    @overload
    def runtime(
        self,
        *,
        deps: Deps_contra,
        clock: Clock | None = None,
        journal: Journal | None = None,
        observers: Sequence[Observer] = (),
    ) -> Runtime[Deps_contra]: ...
    def events_of(
        self, state: LoopState, answers: Sequence[AnyAnswer], *, at: Instant
    ) -> tuple[Event, ...]: ...
    def run_of(self, state: LoopState) -> Run[Out_co]: ...
