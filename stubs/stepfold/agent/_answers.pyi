from typing import final
from attrs import field, frozen
from stepfold.values import OpenApproval

@final
@frozen(order=False)
class Answer:
    request: OpenApproval
    approved: bool
    reason: str | None = field(default=None, kw_only=True)

def approve(request: OpenApproval, *, reason: str | None = None) -> Answer: ...
def deny(request: OpenApproval, *, reason: str | None = None) -> Answer: ...
