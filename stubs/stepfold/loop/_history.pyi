from collections.abc import Collection, Sequence
from stepfold.loop._findings import Finding, RepairedHistory
from stepfold.values import Message, Outcome

def inspect_history(
    messages: Sequence[Message], *, allow_system_messages: bool = False
) -> tuple[Finding, ...]: ...
def validate_history(
    messages: Sequence[Message], *, allow_system_messages: bool = False
) -> Outcome[tuple[Message, ...], tuple[Finding, ...]]: ...
def repair_history(
    messages: Sequence[Message],
    *,
    allow_system_messages: bool = False,
    client_tools: Collection[str] = (),
) -> RepairedHistory: ...
