"""Notes: past-tense facts that the loop decided, for streams and observers.

What a note tells is in the state too; notes spare everybody the comparison of two states.
"""

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
    """The history that the run was given had errors, and these were mended."""

    findings: tuple[Finding, ...]


@final
@frozen(order=False)
class StepStarted:
    """The first call of a step goes to this model."""

    step: int
    model: str


@final
@frozen(order=False)
class ModelRetried:
    """An attempt failed; the next one, to `model`, is made at `until`.

    The model answers from the start again, so whatever was shown of its reply since `StepStarted`,
    or since the last such note, does not count: a reader takes it back. What is left then is what
    the history holds.
    """

    step: int
    total: int
    model: str
    reason: ModelErrorReason
    until: Instant


@final
@frozen(order=False)
class CallRequested:
    """A client call of a whole reply, under the id that it has in the history."""

    key: CallKey
    call: ToolCall


@final
@frozen(order=False)
class CallRejected:
    """The arguments of a call, or its name, cannot be accepted; the model will be told."""

    key: CallKey
    call: ToolCall
    error: str


@final
@frozen(order=False)
class ApprovalRequested:
    """A call waits for a person."""

    key: CallKey
    request: OpenApproval


@final
@frozen(order=False)
class CallOpened:
    """A call waits for a client."""

    key: CallKey
    request: OpenCall


@final
@frozen(order=False)
class ToolFinished:
    """A call is settled: this is its part in the content of the step."""

    key: CallKey
    part: ToolResult | ToolError


@final
@frozen(order=False)
class SteeringDelivered:
    """A steered message went into the history, before this step."""

    id: str
    step: int


@final
@frozen(order=False)
class SteeringDropped:
    """A steered message will never be delivered.

    `reason` is how the run ended; after a final answer, the name of the stop or limit that left no
    room to hear it.
    """

    id: str
    reason: str


@final
@frozen(order=False)
class OutputRejected:
    """The answer of a step is not the output that was promised; the model is asked again."""

    step: int
    error: NoOutput


@final
@frozen(order=False)
class StepFinished:
    """A step came to rest."""

    result: StepResult


@final
@frozen(order=False)
class RunBlocked:
    """The run rests: people or clients owe it answers."""

    open: tuple[OpenRequest, ...]


@final
@frozen(order=False)
class RunEnded:
    """The run has ended."""

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
"""Anything that the loop decided."""

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
