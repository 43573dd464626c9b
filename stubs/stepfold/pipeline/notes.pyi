from collections.abc import Callable
from typing import Literal, TypeAlias, final
from attrs import frozen
from stepfold.pipeline._ends import PipelineEnd
from stepfold.pipeline.events import StageKey
from stepfold.shell import Observation, RunPart
from stepfold.values import Instant, OpenRequest

__all__ = (
    "AgentRested",
    "AgentSaid",
    "AgentTold",
    "BranchFinished",
    "FanFinished",
    "FanStarted",
    "InputAsked",
    "Note",
    "PipelineEnded",
    "Result",
    "StageFinished",
    "StageStarted",
    "Tell",
)
Result: TypeAlias = Literal["succeeded", "failed", "raised", "stopped", "timed-out"]

@final
@frozen(order=False)
class StageStarted:
    key: StageKey
    stage: str
    at: Instant

@final
@frozen(order=False)
class StageFinished:
    key: StageKey
    stage: str
    result: Result
    at: Instant

@final
@frozen(order=False)
class FanStarted:
    key: StageKey
    stage: str
    size: int
    at: Instant

@final
@frozen(order=False)
class BranchFinished:
    key: StageKey
    index: int
    is_success: bool
    at: Instant

@final
@frozen(order=False)
class FanFinished:
    key: StageKey
    stage: str
    at: Instant

@final
@frozen(order=False)
class InputAsked:
    key: StageKey
    name: str
    question: str
    at: Instant

@final
@frozen(order=False)
class AgentRested:
    key: StageKey
    stage: str
    asked: tuple[OpenRequest, ...]
    at: Instant

@final
@frozen(order=False)
class PipelineEnded:
    end: PipelineEnd[object, object]
    at: Instant

@final
@frozen(order=False)
class AgentTold:
    key: StageKey
    stage: str
    seen: Observation

@final
@frozen(order=False)
class AgentSaid:
    key: StageKey
    stage: str
    part: RunPart

Note: TypeAlias = (
    StageStarted
    | StageFinished
    | FanStarted
    | BranchFinished
    | FanFinished
    | InputAsked
    | AgentRested
    | PipelineEnded
    | AgentTold
    | AgentSaid
)
Tell: TypeAlias = Callable[[Note], object]
