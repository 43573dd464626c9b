"""Floor 2: the loop, a pure function. Nothing here knows a clock, a network or a thread."""

from stepfold.loop._fold import (
    ReplyFold,
    fold_parts,
    normal_reply,
    parts_of,
)
from stepfold.loop._prompt import (
    convert_to_model_prompt,
)

__all__ = (
    "ReplyFold",
    "convert_to_model_prompt",
    "fold_parts",
    "normal_reply",
    "parts_of",
)
