from collections.abc import Sequence
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from stepfold.loop import (
    Condition,
    Limits,
    OutputSpec,
    Program,
    RetryPolicy,
    StopCondition,
    ToolSpec,
)
from stepfold.values import Price, ToolChoice

TOOL_NAMES = ("look", "wipe", "ask", "send")

def tool_specs(*, name: str = "look", asking: int = 50) -> SearchStrategy[ToolSpec]: ...
@st.composite
def limits(
    draw: DrawFn,
    *,
    tools: Sequence[str] = (),
    percent: int = 25,
    most: int = 8,
    most_tokens: int = 400,
    priced: bool = False,
) -> Limits: ...
def prices() -> SearchStrategy[Price]: ...
def retry_policies(*, max_retries: int = 2) -> SearchStrategy[RetryPolicy]: ...
def outputs() -> SearchStrategy[OutputSpec]: ...
def counting_conditions(
    *, tools: Sequence[str] = TOOL_NAMES, most: int = 6
) -> SearchStrategy[Condition]: ...
def stop_conditions(
    *, tools: Sequence[str] = TOOL_NAMES, most: int = 6, max_leaves: int = 4
) -> SearchStrategy[Condition]: ...
def broken_conditions() -> SearchStrategy[StopCondition]: ...
def tool_choices(*, tools: Sequence[str] = TOOL_NAMES) -> SearchStrategy[ToolChoice]: ...
@st.composite
def programs(
    draw: DrawFn,
    *,
    min_tools: int = 0,
    max_tools: int = 4,
    limited: int = 25,
    breaks: int = 2,
    hooks: int = 25,
    asking: int = 50,
    priced: int = 25,
    granting: int = 10,
) -> Program: ...
