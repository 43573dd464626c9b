from collections.abc import Sequence
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from stepfold.testing.strategies._programs import TOOL_NAMES
from stepfold.values import Message

@st.composite
def histories(
    draw: DrawFn,
    *,
    tools: Sequence[str] = TOOL_NAMES,
    min_turns: int = 0,
    max_turns: int = 3,
    broken: int = 20,
) -> tuple[Message, ...]: ...
@st.composite
def messy_histories(
    draw: DrawFn, *, tools: Sequence[str] = TOOL_NAMES, max_turns: int = 4
) -> tuple[Message, ...]: ...
def prompts(
    *, tools: Sequence[str] = TOOL_NAMES, histories_percent: int = 40
) -> SearchStrategy[str | tuple[Message, ...]]: ...
