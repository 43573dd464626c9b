from typing import Literal, TypeAlias, final
from attrs import frozen

UnifiedFinishReason: TypeAlias = Literal[
    "stop", "length", "content-filter", "tool-calls", "error", "interrupted", "other"
]

@final
@frozen(order=False)
class FinishReason:
    unified: UnifiedFinishReason
    raw: str | None = None
