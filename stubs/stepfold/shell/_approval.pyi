from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeAlias, TypeVar, final
from attrs import field, frozen
from stepfold.loop import NO_CONTEXT
from stepfold.loop.events import ApprovalDecision
from stepfold.values import JsonObject, JsonValue, Message, ToolCall

D = TypeVar("D")
D_co = TypeVar("D_co", covariant=True)

@final
@frozen(order=False)
class ApprovalContext(Generic[D_co]):
    deps: D_co
    call: ToolCall
    step: int
    messages: tuple[Message, ...]
    runtime_context: JsonObject = NO_CONTEXT

    @property
    def input(self) -> JsonValue: ...

@final
@frozen(order=False)
class Verdict:
    decision: ApprovalDecision
    reason: str | None = field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None: ...

ApprovalPolicy: TypeAlias = Callable[
    [ApprovalContext[D]], ApprovalDecision | Verdict | Awaitable[ApprovalDecision | Verdict]
]
ApprovalRule: TypeAlias = ApprovalDecision | Verdict | ApprovalPolicy[D]
ToolApproval: TypeAlias = ApprovalPolicy[D] | Mapping[str, ApprovalRule[D]]
NeedsApproval: TypeAlias = Callable[[ApprovalContext[object]], bool | Awaitable[bool]]
