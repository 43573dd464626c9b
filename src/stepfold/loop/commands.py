"""Commands: what the shell must carry out, as references into the state.

A command names a step, an index and an attempt; it never carries history. The commands of one
transition may run concurrently; what must be ordered is issued by two transitions. Everything
that a command needs to be issued again (names, deadlines) is fixed when it is issued and kept in
the state, so `pending(state)` can list what is in flight.
"""

from typing import TypeAlias, final

from attrs import frozen

from stepfold.values import Instant


@final
@frozen(order=False)
class ModelCallKey:
    """Names one attempt at a model call: the step, and the attempt counted over all models."""

    step: int
    total: int


@final
@frozen(order=False)
class CallKey:
    """Names one attempt at a tool call: the step, its index among the step's client calls.

    The pre-phase, in which approvals from the history are carried out, is step -1.
    """

    step: int
    index: int
    attempt: int


@final
@frozen(order=False)
class PrepareStep:
    """Ask the prepare function for the plan of a step; answered by `StepPrepared`."""

    step: int


@final
@frozen(order=False)
class CallModel:
    """Send `request_of(program, state)` to the model of this name.

    Answered by `ModelReplied` or `ModelFailed`.
    """

    key: ModelCallKey
    model: str


@final
@frozen(order=False)
class Wait:
    """Do nothing until this instant; answered by `Waited`."""

    key: ModelCallKey
    until: Instant


@final
@frozen(order=False)
class RepairCall:
    """Ask the repair hook for better arguments; answered by `CallRepaired`."""

    key: CallKey


@final
@frozen(order=False)
class BindCall:
    """Build the arguments with the user's own validators, and refine them.

    Answered by `CallBound`.
    """

    key: CallKey


@final
@frozen(order=False)
class ResolveApproval:
    """Ask the policy whether the call may run; answered by `ApprovalDecided`."""

    key: CallKey


@final
@frozen(order=False)
class Grant:
    """What a tool call may spend by runs of its own: a part of the limits of the run that calls it.

    `tokens`, `cost` (in micro-units) and `tool_calls` are for all of these runs together, and
    reserved while the tool runs; `None` is no limit.
    """

    tokens: int | None = None
    cost: int | None = None
    tool_calls: int | None = None


@final
@frozen(order=False)
class RunTool:
    """Run a tool; answered by `ToolReturned`, after `ToolStarted` if it is not idempotent.

    A tool that is not done at `deadline` has failed. A tool that begins runs of its own does so
    within its `grant`.
    """

    key: CallKey
    tool_name: str
    deadline: Instant | None = None
    grant: Grant | None = None


@final
@frozen(order=False)
class CheckStop:
    """Ask the stop conditions that need the outside world; answered by `StopChecked`."""

    step: int


@final
@frozen(order=False)
class BindOutput:
    """Build the output with the user's own validators; answered by `OutputBound`."""

    step: int


Command: TypeAlias = (
    CallModel
    | RunTool
    | PrepareStep
    | Wait
    | RepairCall
    | BindCall
    | ResolveApproval
    | CheckStop
    | BindOutput
)
"""Anything that the shell must carry out."""


def command_id(command: Command) -> str:
    """A short name of a command, unique within its run and equal on every replay."""
    match command:
        case CallModel(key) | Wait(key):
            return f"{type(command).__name__}/{key.step}/{key.total}"
        case RunTool(key) | RepairCall(key) | BindCall(key) | ResolveApproval(key):
            return f"{type(command).__name__}/{key.step}/{key.index}/{key.attempt}"
        case PrepareStep(step) | CheckStop(step) | BindOutput(step):
            return f"{type(command).__name__}/{step}"


__all__ = (
    "BindCall",
    "BindOutput",
    "CallKey",
    "CallModel",
    "CheckStop",
    "Command",
    "Grant",
    "ModelCallKey",
    "PrepareStep",
    "RepairCall",
    "ResolveApproval",
    "RunTool",
    "Wait",
    "command_id",
)
