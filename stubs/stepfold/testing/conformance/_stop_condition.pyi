from collections.abc import Sequence
from typing import Final
from stepfold.loop import StopCondition
from stepfold.testing.conformance._findings import StatedLaw

_TOOLS: Final = ("look", "send")
_RAISES: Final = StatedLaw(
    "a stop condition raises nothing",
    "`progress.last.tool_calls[0]`; arithmetic with usage that is unknown",
)
_ANSWERS: Final = StatedLaw(
    "a stop condition answers with a Stop that has a name, or with None", "`return True`"
)
_PURE: Final = StatedLaw(
    "one question has one answer, whenever it is asked",
    "a counter, a clock, dice; knowing objects by `is`",
)
_MONOTONE: Final = StatedLaw("what stops a run stops every longer one", "`==` where `>=` is meant")
CONDITION_LAWS: Final = (_RAISES, _ANSWERS, _PURE, _MONOTONE)

def check_stop_condition(
    condition: StopCondition,
    *,
    tools: Sequence[str] = _TOOLS,
    is_monotone: bool = True,
    max_steps: int = 8,
    examples: int = 100,
) -> None: ...
