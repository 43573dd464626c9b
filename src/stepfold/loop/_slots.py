"""One slot for each client call of a step: how far it is, who must agree to it, what came of it.

A call that the provider executes has one if the provider asked for its approval. It is `asked`,
then `done` without a `part`: its result is the provider's.
"""

from typing import Literal, TypeAlias, final

from attrs import frozen

from stepfold.loop.commands import Grant
from stepfold.loop.events import ToolOutcome
from stepfold.values import Instant, OpenApproval, ToolCall, ToolError, ToolResult

SlotStatus: TypeAlias = Literal[
    "repairing",  # owed by the repair hook
    "binding",  # owed by the user's validators
    "deciding",  # owed by the policy
    "asked",  # waits for a person
    "awaited",  # waits for a client
    "ready",  # may run
    "running",
    "done",  # `part` says how it was answered
]
"""How far a client call is."""


@final
@frozen(order=False)
class Approval:
    """The decision that lets a call run or not; `digest` is that of the arguments it is for.

    `reason` is that of the decision, `asked_because` that of the question. `recorded` tells that
    the decision stands in the history already, with which the run began.
    """

    id: str
    digest: str
    approved: bool | None = None
    automatic: bool = False
    reason: str | None = None
    asked_because: str | None = None
    signature: str | None = None
    recorded: bool = False

    def open_for(self, call: ToolCall) -> OpenApproval:
        """What a person is asked."""
        return OpenApproval(self.id, call, self.digest, self.asked_because, self.signature)


@final
@frozen(order=False)
class Slot:
    """One call of a step that somebody here has to answer, from its arrival to its answer.

    `attempt` rises with every repair and every new start, so that a late answer cannot be taken
    for a new one. `held` is a client's result that came before its step was at rest. `repaired`
    tells that the arguments may be others than the model's: repaired, or refined. `grant` is what
    is reserved for it while it runs.
    """

    index: int
    call: ToolCall
    status: SlotStatus
    attempt: int = 0
    part: ToolResult | ToolError | None = None
    approval: Approval | None = None
    deadline: Instant | None = None
    started: bool = False
    elapsed: int | None = None
    held: ToolOutcome | None = None
    repaired: bool = False
    grant: Grant | None = None

    def done(self, part: ToolResult | ToolError, elapsed: int | None = None) -> "Slot":
        """This slot, answered."""
        return Slot(
            self.index,
            self.call,
            "done",
            self.attempt,
            part,
            self.approval,
            None,
            self.started,
            elapsed,
            None,
            self.repaired,
        )

    def running(self, deadline: Instant | None) -> "Slot":
        """This slot, with its tool issued."""
        return Slot(
            self.index,
            self.call,
            "running",
            self.attempt,
            None,
            self.approval,
            deadline,
            repaired=self.repaired,
            grant=self.grant,
        )

    @property
    def is_unresolved(self) -> bool:
        """Whether something has to be asked before any tool of the step may run."""
        return self.status in {"repairing", "binding", "deciding"}

    @property
    def is_open(self) -> bool:
        """Whether somebody outside owes an answer."""
        return self.status in {"asked", "awaited"}

    @property
    def is_held(self) -> bool:
        """Whether the answer from outside is here, and waits for the step to come to rest."""
        if self.status == "asked":
            return self.approval is not None and self.approval.approved is not None
        return self.status == "awaited" and self.held is not None


def slot_of(index: int, call: ToolCall) -> Slot:
    """The slot of a call that has just come: it may run, unless somebody objects."""
    return Slot(index, call, "ready")
