from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, Never, TypeAlias, TypeVar, final
from attrs import field, frozen
from stepfold.loop import Progress
from stepfold.loop.events import StepPlan
from stepfold.shell._approval import ApprovalPolicy, ApprovalRule
from stepfold.shell._step_context import StepContext
from stepfold.shell._tool import AnyTool
from stepfold.values import JsonObject, Message, Stop, ToolCall, ToolDefinition

D = TypeVar("D")
D_co = TypeVar("D_co", covariant=True)
D_contra = TypeVar("D_contra", contravariant=True)

@final
@frozen(order=False)
class RepairContext(Generic[D_co]):
    deps: D_co
    call: ToolCall
    error: str
    tools: tuple[ToolDefinition, ...]
    messages: tuple[Message, ...]

@final
@frozen(order=False)
class StopContext(Generic[D_co]):
    deps: D_co
    progress: Progress

PrepareStep: TypeAlias = Callable[[StepContext[D]], Awaitable[StepPlan | None] | StepPlan | None]
RepairToolCall: TypeAlias = Callable[[RepairContext[D]], Awaitable[str | None] | str | None]
RefineToolInput: TypeAlias = Callable[
    [JsonObject], Mapping[str, object] | Awaitable[Mapping[str, object]]
]
StopCheck: TypeAlias = Callable[[StopContext[D]], Awaitable[Stop | None] | Stop | None]

@final
@frozen(eq=False)
class Hooks(Generic[D_contra]):
    prepare_step: PrepareStep[D_contra] | None = None
    repair_tool_call: RepairToolCall[D_contra] | None = None
    policy: ApprovalPolicy[D_contra] | None = None
    rules: Mapping[str, ApprovalRule[D_contra]] = field(factory=dict[str, ApprovalRule[D_contra]])
    stop_check: StopCheck[D_contra] | None = None
    refine_tool_input: Mapping[str, RefineToolInput] = field(factory=dict[str, RefineToolInput])

    def rule_of(self, tool: str) -> ApprovalRule[D_contra] | None: ...

def is_described(tool: AnyTool[Never, object]) -> bool: ...
