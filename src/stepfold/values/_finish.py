"""Why a reply ended."""

from typing import Literal, TypeAlias, final

from attrs import frozen

UnifiedFinishReason: TypeAlias = Literal[
    "stop", "length", "content-filter", "tool-calls", "error", "interrupted", "other"
]
"""Why a reply ended, in words that all providers share."""


@final
@frozen(order=False)
class FinishReason:
    """Why a reply ended: the common word, and the provider's own."""

    unified: UnifiedFinishReason
    raw: str | None = None
