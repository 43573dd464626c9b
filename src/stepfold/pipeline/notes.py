"""What a pipeline decided: past-tense facts for those who watch."""

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
"""What a stage came to."""


@final
@frozen(order=False)
class StageStarted:
    """A stage is about to run; `stage` is its name, after those of the pipelines it is in."""

    key: StageKey
    stage: str
    at: Instant


@final
@frozen(order=False)
class StageFinished:
    """A stage came to rest, as `result` says."""

    key: StageKey
    stage: str
    result: Result
    at: Instant


@final
@frozen(order=False)
class FanStarted:
    """Stages begin side by side: `size` arms or items; their keys begin with that of the fan."""

    key: StageKey
    stage: str
    size: int
    at: Instant


@final
@frozen(order=False)
class BranchFinished:
    """One branch of a fan came to its end: `index` is which arm or item, from 0."""

    key: StageKey
    index: int
    is_success: bool
    at: Instant


@final
@frozen(order=False)
class FanFinished:
    """All that ran side by side has ended."""

    key: StageKey
    stage: str
    at: Instant


@final
@frozen(order=False)
class InputAsked:
    """The pipeline waits for an input of this name; `question` is what it asks."""

    key: StageKey
    name: str
    question: str
    at: Instant


@final
@frozen(order=False)
class AgentRested:
    """The agent of a stage waits for what people or clients owe it."""

    key: StageKey
    stage: str
    asked: tuple[OpenRequest, ...]
    at: Instant


@final
@frozen(order=False)
class PipelineEnded:
    """The pipeline has ended, or waits for nothing but inputs."""

    end: PipelineEnd[object, object]
    at: Instant


@final
@frozen(order=False)
class AgentTold:
    """An agent within the pipeline did something: `seen` is what its observers are told."""

    key: StageKey
    stage: str
    seen: Observation


@final
@frozen(order=False)
class AgentSaid:
    """A part of what an agent within the pipeline streams; told where `parts` are asked for."""

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
"""What those who watch a pipeline may be told."""

Tell: TypeAlias = Callable[[Note], object]
"""Who is told."""
