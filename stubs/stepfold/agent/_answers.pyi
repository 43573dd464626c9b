from typing import TypeAlias, final
from attrs import field, frozen
from stepfold.loop.events import ToolOutcome
from stepfold.values import OpenApproval, OpenCall, ToolOutput

@final
@frozen(order=False)
class Answer:
    request: OpenApproval
    approved: bool
    reason: str | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class CallAnswer:
    request: OpenCall
    outcome: ToolOutcome

AnyAnswer: TypeAlias = Answer | CallAnswer

def approve(request: OpenApproval, *, reason: str | None = None) -> Answer: ...
def deny(request: OpenApproval, *, reason: str | None = None) -> Answer: ...
def tool_output(
    request: OpenCall, value: object, *, output: ToolOutput | None = None
) -> CallAnswer: ...
def tool_error(request: OpenCall, message: str) -> CallAnswer: ...
