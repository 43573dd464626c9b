from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, final
from attrs import field, frozen
from stepfold.loop._stop import Named
from stepfold.values import Message

def _tool_names(tools: Iterable[str | Named] | None) -> tuple[str, ...] | None: ...

@final
@frozen(order=False)
class ToolCallPruning:
    keep_last: int = 0
    tools: tuple[str, ...] | None = field(default=None, converter=_tool_names)

    def __attrs_post_init__(self) -> None: ...

Pruning: TypeAlias = Literal["none", "all", "before-last-message"]

def prune_messages(
    messages: Sequence[Message],
    *,
    reasoning: Pruning = "none",
    tool_calls: Pruning | Sequence[ToolCallPruning] = "none",
    empty_messages: Literal["remove", "keep"] = "remove",
) -> tuple[Message, ...]: ...
