from typing import Literal, TypeAlias, final
from attrs import frozen
from stepfold.loop.commands import Grant
from stepfold.loop.events import ToolOutcome
from stepfold.values import Instant, OpenApproval, ToolCall, ToolError, ToolResult

SlotStatus: TypeAlias = Literal[
    "repairing", "binding", "deciding", "asked", "awaited", "ready", "running", "done"
]

@final
@frozen(order=False)
class Approval:
    id: str
    digest: str
    approved: bool | None = None
    automatic: bool = False
    reason: str | None = None
    asked_because: str | None = None
    signature: str | None = None
    recorded: bool = False

    def open_for(self, call: ToolCall) -> OpenApproval: ...

@final
@frozen(order=False)
class Slot:
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

    def done(self, part: ToolResult | ToolError, elapsed: int | None = None) -> "Slot": ...
    def running(self, deadline: Instant | None) -> "Slot": ...
    @property
    def is_unresolved(self) -> bool: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def is_held(self) -> bool: ...
