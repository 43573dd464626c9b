"""Events: past-tense facts that came in, each with its time.

Every answer carries the key of the command that it answers. An answer to something that was
issued but is no longer open is *stale* and changes nothing; an answer to something never issued
raises `IllegalEvent`. Instants are nanoseconds and are clamped so that time never runs back.

Parts of a stream and preliminary tool output are not events: the shell folds parts into one
reply, and what is preliminary is shown, not decided upon.
"""

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

# --- the model --------------------------------------------------------------------------------


@final
@frozen(order=False)
class ModelReplied:
    """A model answered. `first_output` and `gaps` are known of streamed replies only."""

    key: ModelCallKey
    reply: ModelReply
    at: Instant
    started: Instant = field(kw_only=True)
    first_output: Instant | None = field(default=None, kw_only=True)
    gaps: ChunkGaps | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ModelFailed:
    """An attempt at a model call failed; `partial` is what had come until then."""

    key: ModelCallKey
    reason: ModelErrorReason
    at: Instant
    partial: ModelReply | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class Waited:
    """The pause before the next attempt is over."""

    key: ModelCallKey
    at: Instant


@final
@frozen(order=False)
class StepPrepared:
    """The prepare function answered, or failed."""

    step: int
    plan: StepPlan | HookFailed
    at: Instant


# --- calls ------------------------------------------------------------------------------------


@final
@frozen(order=False)
class CallRepaired:
    """The repair hook gave new arguments, or `None` if it knew no better."""

    key: CallKey
    input: str | None
    at: Instant


@final
@frozen(order=False)
class CallBound:
    """The user's validators accepted the arguments, or said what is wrong with them.

    `input` is the JSON text of the arguments that the refine hook put in the place of the model's,
    if it did.
    """

    key: CallKey
    error: str | None
    at: Instant
    input: str | None = field(default=None, kw_only=True)


ApprovalDecision: TypeAlias = Literal["not-applicable", "approved", "denied", "user-approval"]
"""What a policy says of a call."""


@final
@frozen(order=False)
class ApprovalDecided:
    """The policy's answer to `ResolveApproval`."""

    key: CallKey
    decision: ApprovalDecision
    at: Instant
    reason: str | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ApprovalAnswered:
    """A person's answer to an `OpenApproval`; ignored unless the digest is that of the request."""

    approval_id: str
    digest: str
    approved: bool
    at: Instant
    reason: str | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class ToolSucceeded:
    """A tool gave a result: `output` is what the model sees, `value` what the program keeps.

    `value` is left out where it is the same.
    """

    output: ToolOutput
    value: JsonText | None = None


@final
@frozen(order=False)
class ToolFailed:
    """A tool gave none; `message` is what the model sees, `value` a typed error, encoded."""

    message: str
    kind: ToolErrorKind = "failed"
    value: JsonText | None = None


ToolOutcome: TypeAlias = ToolSucceeded | ToolFailed
"""How a tool call ended."""


@final
@frozen(order=False)
class ToolStarted:
    """A tool that must not run twice is about to start."""

    key: CallKey
    at: Instant


@final
@frozen(order=False)
class Spending:
    """What the runs that a tool call began have spent together.

    `usage` and `cost` (in micro-units; `None` is unknown) are what their replies reported; `tokens`
    and `spent_cost` are what their hard budgets count; `tool_calls` are the tools that they ran.
    """

    usage: Usage = NO_USAGE
    tokens: int = 0
    cost: int | None = 0
    spent_cost: int = 0
    tool_calls: int = 0

    def __add__(self, other: "Spending") -> "Spending":
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Spending(
            self.usage + other.usage,
            self.tokens + other.tokens,
            cost,
            self.spent_cost + other.spent_cost,
            self.tool_calls + other.tool_calls,
        )


@final
@frozen(order=False)
class ToolReturned:
    """A tool call ended; its outcome is what the model will be told.

    `key` is that of a `RunTool`, or of an `OpenCall` that a client answers. `spending` is what runs
    that it began have spent; a grant of which nothing is told counts as spent.
    """

    key: CallKey
    outcome: ToolOutcome
    at: Instant
    started: Instant = field(kw_only=True)
    spending: Spending | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class StopChecked:
    """The conditions that need the outside world answered, or failed."""

    step: int
    stop: Stop | HookFailed | None
    at: Instant


@final
@frozen(order=False)
class OutputBound:
    """The user's validators accepted the output, or said what is wrong with it."""

    step: int
    error: str | None
    at: Instant


# --- from outside, at any time ----------------------------------------------------------------


@final
@frozen(order=False)
class MessageSteered:
    """Somebody speaks to a running model.

    `steer` is heard at the next step; `queue` only after a final answer. An id given twice
    counts once. Where a stop condition or a limit leaves no room for it after a final answer, it
    is dropped, and the run is complete.
    """

    id: str
    message: UserMessage
    mode: Literal["steer", "queue"]
    at: Instant


@final
@frozen(order=False)
class TimedOut:
    """A time limit of the run (`total`) or of one step (`step`) has passed.

    That of a step which is over, or in which the run rests, is stale.
    """

    limit: Literal["total", "step"]
    step: int
    at: Instant
    partial: ModelReply | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class Cancelled:
    """Somebody asked the run to end."""

    reason: str
    at: Instant
    partial: ModelReply | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class CancelRequested:
    """Somebody asked the run to end once the step in flight is over.

    No model is asked any more. What the step still does is done and recorded: then the run ends as
    cancelled, or as it does anyway. Where no step is in flight, it ends at once. The first reason
    counts.
    """

    reason: str
    at: Instant


@final
@frozen(order=False)
class Resumed:
    """The run is taken up, in a new process or by a tool call, for the `number`-th time, from 1.

    `granted` is what it may spend from now on as the run of that call; `None` changes nothing.
    """

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
"""Anything that happened to a run."""

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
