"""What a pipeline decided: past-tense facts for those who watch."""

from typing import Literal, TypeAlias, final

from attrs import frozen

from stepfold.pipeline._ends import PipelineEnd
from stepfold.pipeline.events import StageKey
from stepfold.values import Instant

__all__ = (
    "FanFinished",
    "FanStarted",
    "InputAsked",
    "Note",
    "PipelineEnded",
    "Result",
    "StageFinished",
    "StageStarted",
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
class PipelineEnded:
    """The pipeline has ended, or waits for nothing but inputs."""

    end: PipelineEnd[object, object]
    at: Instant


Note: TypeAlias = (
    StageStarted | StageFinished | FanStarted | FanFinished | InputAsked | PipelineEnded
)
"""What a pipeline may decide."""
