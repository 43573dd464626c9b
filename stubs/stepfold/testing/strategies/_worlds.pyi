from collections.abc import Mapping, Sequence
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from stepfold.loop import Program
from stepfold.loop.events import StepPlan, ToolOutcome
from stepfold.testing._simulation import InterventionKind, Schedule
from stepfold.testing._world import Turn, World
from stepfold.values import HookFailed, ModelErrorReason, ModelReply, ToolCall, Usage

_NO_ARGUMENTS: Mapping[str, Sequence[object]] = ...

def argument_texts(*, hostile: int = 25) -> SearchStrategy[str]: ...
def call_ids() -> SearchStrategy[str]: ...
def tool_calls(
    *, tools: Sequence[str], hostile: int = 25, strangers: int = 5
) -> SearchStrategy[ToolCall]: ...
def usages() -> SearchStrategy[Usage]: ...
def model_replies(
    *,
    tools: Sequence[str],
    min_calls: int = 0,
    max_calls: int = 4,
    hostile: int = 15,
    strangers: int = 5,
    cut: int = 15,
) -> SearchStrategy[ModelReply]: ...
def model_errors() -> SearchStrategy[ModelErrorReason]: ...
def turns(
    *,
    tools: Sequence[str],
    min_calls: int = 0,
    max_calls: int = 4,
    hostile: int = 15,
    strangers: int = 5,
    cut: int = 15,
    failing: int = 15,
) -> SearchStrategy[Turn]: ...
def tool_outcomes() -> SearchStrategy[ToolOutcome]: ...
def step_plans(*, program: Program) -> SearchStrategy[StepPlan | HookFailed]: ...
@st.composite
def worlds(
    draw: DrawFn,
    *,
    program: Program,
    min_turns: int = 1,
    max_turns: int = 4,
    min_calls: int = 0,
    max_calls: int = 4,
    hostile: int = 15,
    cut: int = 15,
    failing: int = 15,
    arguments: Mapping[str, Sequence[object]] = _NO_ARGUMENTS,
) -> World: ...

KINDS: tuple[InterventionKind, ...] = ...

def schedules(
    *, kinds: Sequence[InterventionKind] = KINDS, max_interventions: int = 3, max_tick: int = 30
) -> SearchStrategy[Schedule]: ...
