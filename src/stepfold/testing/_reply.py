"""Short ways to write down what a model shall say."""

from collections.abc import Mapping

from stepfold.loop import Named
from stepfold.values import (
    FinishReason,
    JsonText,
    ModelReply,
    ReplyPart,
    Text,
    ToolCall,
    UnifiedFinishReason,
    Usage,
)


def reply(
    *content: str | ReplyPart,
    finish: UnifiedFinishReason | None = None,
    usage: Usage | tuple[int, int] = (10, 5),
) -> ModelReply:
    """A reply of a model: text and parts, in order.

    Without `finish` it ends with `tool-calls` if the client has to run a tool, else with `stop`.
    `usage` is given in full, or as input and output tokens.
    """
    parts = tuple(Text(part) if isinstance(part, str) else part for part in content)
    if finish is None:
        asks = any(isinstance(part, ToolCall) and not part.provider_executed for part in parts)
        finish = "tool-calls" if asks else "stop"
    spent = usage if isinstance(usage, Usage) else Usage(*usage)
    return ModelReply(parts, FinishReason(finish), spent)


def call(
    tool: str | Named,
    input: str | Mapping[str, object] = "{}",
    *,
    id: str = "",
) -> ToolCall:
    """A call of a tool; arguments are the model's own text, or a mapping that is encoded.

    A call without an id is named by the loop, after its position in the run.
    """
    name = tool if isinstance(tool, str) else tool.name
    text = input if isinstance(input, str) else JsonText.of(input).text
    return ToolCall(id, name, text)
