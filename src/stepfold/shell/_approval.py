"""Who decides on a call: what policies are given, and what they may say."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeAlias, TypeVar, final, get_args

from attrs import field, frozen

from stepfold.loop import NO_CONTEXT, LoopState
from stepfold.loop.events import ApprovalDecision
from stepfold.values import JsonObject, JsonText, JsonValue, Message, ToolCall, UsageError

D = TypeVar("D")
D_co = TypeVar("D_co", covariant=True)

DECISIONS: tuple[ApprovalDecision, ...] = get_args(ApprovalDecision)


@final
@frozen(order=False)
class ApprovalContext(Generic[D_co]):
    """What a policy may know of a call that is about to run; its arguments fit the tool.

    `step` is -1 for a call that is approved, or waits for it, in the history that the run began
    with. `messages` is the history: without the reply that holds the call, but for such a one.
    `runtime_context` is what the run was given, or what its prepare function made of it.
    """

    deps: D_co
    call: ToolCall
    step: int
    messages: tuple[Message, ...]
    runtime_context: JsonObject = NO_CONTEXT

    @property
    def input(self) -> JsonValue:
        """The arguments, read."""
        return JsonText(self.call.input if self.call.input.strip() else "{}").value


def approval_context(state: LoopState, deps: D, call: ToolCall, step: int) -> ApprovalContext[D]:
    """Tell of a call whose approval is to be decided on."""
    return ApprovalContext(deps, call, step, state.messages, state.runtime_context)


@final
@frozen(order=False)
class Verdict:
    """A policy's decision with its reason, which the model or the person is told.

    Raises:
        UsageError: the decision is none, or the reason no text.
    """

    decision: ApprovalDecision
    reason: str | None = field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        _require_verdict(self.decision, self.reason)


def _require_verdict(decision: object, reason: object) -> None:
    """A verdict goes into the journal as it is."""
    if decision not in DECISIONS:
        known = ", ".join(map(repr, DECISIONS))
        raise UsageError(f"Verdict: expected one of {known}, got {decision!r:.200}")
    if reason is not None and not isinstance(reason, str):
        raise UsageError(f"Verdict: expected a text as the reason, got {reason!r:.200}")


ApprovalPolicy: TypeAlias = Callable[
    [ApprovalContext[D]], ApprovalDecision | Verdict | Awaitable[ApprovalDecision | Verdict]
]
"""Says whether a call may run; `user-approval` asks a person."""

ApprovalRule: TypeAlias = ApprovalDecision | Verdict | ApprovalPolicy[D]
"""What holds for the calls of one tool: always the same, or what a policy says."""

ToolApproval: TypeAlias = ApprovalPolicy[D] | Mapping[str, ApprovalRule[D]]
"""One policy for every tool, or a rule for some of them, by name."""

NeedsApproval: TypeAlias = Callable[[ApprovalContext[object]], bool | Awaitable[bool]]
"""Says whether a person must approve a call: a tool's own rule, whatever agent has the tool."""
