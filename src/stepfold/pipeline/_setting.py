"""What a run of a pipeline is driven with."""

from collections.abc import Awaitable
from typing import Protocol, final

from attrs import frozen

from stepfold.pipeline._ending import Ending
from stepfold.pipeline._kept import KeptAgent
from stepfold.pipeline._state import PipelineState
from stepfold.pipeline.events import Event, StageKey
from stepfold.pipeline.notes import Tell
from stepfold.ports import Clock, JournalError
from stepfold.shell import ChildRuns


class Writes(Protocol):
    """Where the events of a run are written down, and those of the agents within it."""

    @property
    def fault(self) -> JournalError | None:
        """Why nothing can be written any more."""
        ...

    def append(
        self, before: PipelineState, event: Event, after: PipelineState, /
    ) -> Awaitable[None]:
        """Write an event down, between the state before it and the one after it."""
        ...

    def agent_of(self, key: StageKey, /) -> KeptAgent:
        """The journal of the agent of a stage."""
        ...


@final
@frozen(order=False, eq=False)
class Setting:
    """What a run is driven with; but for the clock, all of it may be missing."""

    clock: Clock
    tell: Tell | None = None
    children: ChildRuns | None = None
    ending: Ending | None = None
    writes: Writes | None = None
    parts: bool = False
