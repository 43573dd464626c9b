from typing import TypeAlias, final
from attrs import frozen
from stepfold.loop._findings import Finding
from stepfold.loop.commands import CallKey
from stepfold.values import (
    Instant,
    JsonText,
    ModelErrorReason,
    NoOutput,
    OpenApproval,
    OpenCall,
    OpenRequest,
    RunEnd,
    StepResult,
    ToolCall,
    ToolError,
    ToolResult,
)

@final
@frozen(order=False)
class HistoryRepaired:
    findings: tuple[Finding, ...]

@final
@frozen(order=False)
class StepStarted:
    step: int
    model: str

@final
@frozen(order=False)
class ModelRetried:
    step: int
    total: int
    model: str
    reason: ModelErrorReason
    until: Instant

@final
@frozen(order=False)
class CallRequested:
    key: CallKey
    call: ToolCall

@final
@frozen(order=False)
class CallRejected:
    key: CallKey
    call: ToolCall
    error: str

@final
@frozen(order=False)
class ApprovalRequested:
    key: CallKey
    request: OpenApproval

@final
@frozen(order=False)
class CallOpened:
    key: CallKey
    request: OpenCall

@final
@frozen(order=False)
class ToolFinished:
    key: CallKey
    part: ToolResult | ToolError

@final
@frozen(order=False)
class SteeringDelivered:
    id: str
    step: int

@final
@frozen(order=False)
class SteeringDropped:
    id: str
    reason: str

@final
@frozen(order=False)
class OutputRejected:
    step: int
    error: NoOutput

@final
@frozen(order=False)
class StepFinished:
    result: StepResult

@final
@frozen(order=False)
class RunBlocked:
    open: tuple[OpenRequest, ...]

@final
@frozen(order=False)
class RunEnded:
    end: RunEnd[JsonText]

Note: TypeAlias = (
    HistoryRepaired
    | StepStarted
    | ModelRetried
    | CallRequested
    | CallRejected
    | ApprovalRequested
    | CallOpened
    | ToolFinished
    | SteeringDelivered
    | SteeringDropped
    | StepFinished
    | OutputRejected
    | RunBlocked
    | RunEnded
)
__all__ = (
    "ApprovalRequested",
    "CallOpened",
    "CallRejected",
    "CallRequested",
    "HistoryRepaired",
    "ModelRetried",
    "Note",
    "OutputRejected",
    "RunBlocked",
    "RunEnded",
    "SteeringDelivered",
    "SteeringDropped",
    "StepFinished",
    "StepStarted",
    "ToolFinished",
)
