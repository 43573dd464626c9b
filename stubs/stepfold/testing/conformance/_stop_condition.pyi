from collections.abc import Sequence
from typing import Final
from stepfold.loop import StopCondition

_TOOLS: Final = ("look", "send")

def check_stop_condition(
    condition: StopCondition,
    *,
    tools: Sequence[str] = _TOOLS,
    is_monotone: bool = True,
    max_steps: int = 8,
    examples: int = 100,
) -> None: ...
