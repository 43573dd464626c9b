from typing import Literal, TypeAlias, final
from attrs import field, frozen
from stepfold.loop._granted import Granted
from stepfold.loop._plan import StepPlan
from stepfold.loop.commands import CallKey, ModelCallKey
from stepfold.values import (
    NO_USAGE,
    ChunkGaps,
    HookFailed,
    Instant,
    JsonText,
    ModelErrorReason,
    ModelReply,
    Stop,
    ToolErrorKind,
    ToolOutput,
    Usage,
    UserMessage,
)

@final
@frozen(order=False)
class ModelReplied:
    key: ModelCallKey
    reply: ModelReply
    at: Instant
    started: Instant = field(kw_only=True)
    first_output: Instant | None = field(default=None, kw_only=True)
    gaps: ChunkGaps | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ModelFailed:
    key: ModelCallKey
    reason: ModelErrorReason
    at: Instant
    partial: ModelReply | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class Waited:
    key: ModelCallKey
    at: Instant

@final
@frozen(order=False)
class StepPrepared:
    step: int
    plan: StepPlan | HookFailed
    at: Instant

@final
@frozen(order=False)
class CallRepaired:
    key: CallKey
    input: str | None
    at: Instant

@final
@frozen(order=False)
class CallBound:
    key: CallKey
    error: str | None
    at: Instant
    input: str | None = field(default=None, kw_only=True)

ApprovalDecision: TypeAlias = Literal["not-applicable", "approved", "denied", "user-approval"]

@final
@frozen(order=False)
class ApprovalDecided:
    key: CallKey
    decision: ApprovalDecision
    at: Instant
    reason: str | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ApprovalAnswered:
    approval_id: str
    digest: str
    approved: bool
    at: Instant
    reason: str | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class ToolSucceeded:
    output: ToolOutput
    value: JsonText | None = None

@final
@frozen(order=False)
class ToolFailed:
    message: str
    kind: ToolErrorKind = "failed"
    value: JsonText | None = None

ToolOutcome: TypeAlias = ToolSucceeded | ToolFailed

@final
@frozen(order=False)
class ToolStarted:
    key: CallKey
    at: Instant

@final
@frozen(order=False)
class Spending:
    usage: Usage = NO_USAGE
    tokens: int = 0
    cost: int | None = 0
    spent_cost: int = 0
    tool_calls: int = 0

    def __add__(self, other: "Spending") -> "Spending": ...

@final
@frozen(order=False)
class ToolReturned:
    key: CallKey
    outcome: ToolOutcome
    at: Instant
    started: Instant = field(kw_only=True)
    spending: Spending | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class StopChecked:
    step: int
    stop: Stop | HookFailed | None
    at: Instant

@final
@frozen(order=False)
class OutputBound:
    step: int
    error: str | None
    at: Instant

@final
@frozen(order=False)
class MessageSteered:
    id: str
    message: UserMessage
    mode: Literal["steer", "queue"]
    at: Instant

@final
@frozen(order=False)
class TimedOut:
    limit: Literal["total", "step"]
    step: int
    at: Instant
    partial: ModelReply | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class Cancelled:
    reason: str
    at: Instant
    partial: ModelReply | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class CancelRequested:
    reason: str
    at: Instant

@final
@frozen(order=False)
class Resumed:
    number: int
    at: Instant
    granted: Granted | None = None

Event: TypeAlias = (
    ModelReplied
    | ToolReturned
    | ToolStarted
    | ModelFailed
    | Waited
    | StepPrepared
    | CallRepaired
    | CallBound
    | ApprovalDecided
    | ApprovalAnswered
    | StopChecked
    | OutputBound
    | MessageSteered
    | TimedOut
    | Cancelled
    | CancelRequested
    | Resumed
)
__all__ = (
    "ApprovalAnswered",
    "ApprovalDecided",
    "ApprovalDecision",
    "CallBound",
    "CallRepaired",
    "CancelRequested",
    "Cancelled",
    "Event",
    "MessageSteered",
    "ModelFailed",
    "ModelReplied",
    "OutputBound",
    "Resumed",
    "Spending",
    "StepPlan",
    "StepPrepared",
    "StopChecked",
    "TimedOut",
    "ToolFailed",
    "ToolOutcome",
    "ToolReturned",
    "ToolStarted",
    "ToolSucceeded",
    "Waited",
)
