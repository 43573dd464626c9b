from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Required, TypeAlias
from typing_extensions import TypedDict, TypeVar
from stepfold.agent._transforms import StreamTransform
from stepfold.loop import Limits, Named, RetryPolicy, StopCondition, Timeouts
from stepfold.ports import Clock, Download, Journal, LanguageModel
from stepfold.shell import (
    CancelHandle,
    ChildRun,
    Observer,
    PrepareStep,
    RefineToolInput,
    RepairToolCall,
    Steering,
    StopCheck,
    ToolApproval,
    ToolContext,
)
from stepfold.values import CallSettings, Message, Price, SystemMessage, ToolChoice
from stepfold.pipeline import StageContext

D = TypeVar("D", default=object)
Prompt: TypeAlias = str | Sequence[Message]

class ObserverOptions(TypedDict, total=False):
    observers: Sequence[Observer]

class RunOptions(ObserverOptions, total=False):
    cancel: CancelHandle | None
    steering: Steering | None
    journal: Journal | None
    clock: Clock | None
    run_id: str | None
    seed: int | None
    parent: "ToolContext[object] | StageContext | ChildRun | None"
    runtime_context: Mapping[str, object] | None

class StreamOptions(RunOptions, total=False):
    transform: StreamTransform | Sequence[StreamTransform]

class AgentOptions(ObserverOptions, total=False):
    instructions: str | SystemMessage
    stop_when: StopCondition | None
    limits: Limits | None
    prices: Mapping[str, Price] | None
    settings: CallSettings
    tool_choice: ToolChoice
    active_tools: Sequence[str | Named] | None
    tool_order: Sequence[str | Named] | None
    retry: RetryPolicy | None
    fallback_models: Sequence[str | LanguageModel]
    step_models: Sequence[str | LanguageModel]
    provider_options: Mapping[str, object] | None
    refine_tool_input: Mapping[str, RefineToolInput] | None
    concurrency: int | None
    timeout: float | Timeouts | None
    allow_system_messages: bool
    tool_approval_secret: str | bytes | None
    download: Download | None
    resolve_model: Callable[[str], LanguageModel]

class GenerateOptions(RunOptions, AgentOptions, Generic[D], total=False):
    model: Required[str | LanguageModel]
    prepare_step: PrepareStep[D] | None
    repair_tool_call: RepairToolCall[D] | None
    tool_approval: ToolApproval[D] | None
    stop_check: StopCheck[D] | None

class StreamTextOptions(StreamOptions, GenerateOptions[D], Generic[D], total=False): ...
