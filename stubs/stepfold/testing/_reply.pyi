from collections.abc import Mapping
from stepfold.loop import Named
from stepfold.values import ModelReply, ReplyPart, ToolCall, UnifiedFinishReason, Usage

def reply(
    *content: str | ReplyPart,
    finish: UnifiedFinishReason | None = None,
    usage: Usage | tuple[int, int] = (10, 5),
) -> ModelReply: ...
def call(
    tool: str | Named, input: str | Mapping[str, object] = "{}", *, id: str = ""
) -> ToolCall: ...
