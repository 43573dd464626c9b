"""What a stage that begins runs of its own is given beside its value."""

from typing import final

from attrs import frozen

from stepfold.pipeline.events import StageKey
from stepfold.pipeline.notes import Tell
from stepfold.ports import Clock
from stepfold.shell import ChildRuns


@final
@frozen(order=False, eq=False)
class StageContext:
    """What is given, by which execution of which stage, and what runs within it may spend.

    `tell` is `None` where nobody watches, and `children` where the pipeline has no limits.
    """

    given: object
    run: str
    key: StageKey
    stage: str
    clock: Clock
    children: ChildRuns | None
    tell: Tell | None

    @property
    def run_id(self) -> str:
        """What a run that begins here is called: after the pipeline and the place in it."""
        place = ".".join(map(str, (*self.key.strand, self.key.place)))
        return f"{self.run}/{place}"
