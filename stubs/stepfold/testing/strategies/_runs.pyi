from collections.abc import Sequence
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from stepfold.loop import LoopState, Program, Progress
from stepfold.testing._simulation import Schedule, Trace
from stepfold.testing.strategies._programs import TOOL_NAMES

@st.composite
def traces(
    draw: DrawFn,
    *,
    program: Program | None = None,
    schedule: SearchStrategy[Schedule] | None = None,
    histories_percent: int = 20,
) -> Trace: ...
@st.composite
def progresses(
    draw: DrawFn, *, min_steps: int = 1, max_steps: int = 8, tools: Sequence[str] = TOOL_NAMES
) -> Progress: ...
def reached_states(*, program: Program | None = None) -> SearchStrategy[LoopState]: ...
