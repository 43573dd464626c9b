"""What a stage that begins runs of its own is given beside its value."""

from typing import final

from attrs import field, frozen

from stepfold.loop import LoopState, Program
from stepfold.pipeline._kept import KeptAgent
from stepfold.pipeline.events import StageKey
from stepfold.pipeline.notes import Tell
from stepfold.ports import Clock
from stepfold.shell import ChildRun, ChildRuns


@final
@frozen(order=False, eq=False)
class StageContext:
    """What is given, by which execution of which stage, and what runs within it may spend.

    `tell` is `None` where nobody watches, `children` where the pipeline has no limits, and `kept`
    where it is not written down. `parts` is whether whoever watches wants the parts of streams.
    """

    given: object
    run: str
    key: StageKey
    stage: str
    clock: Clock
    children: ChildRuns | None
    tell: Tell | None
    kept: KeptAgent | None = field(default=None, kw_only=True)
    parts: bool = field(default=False, kw_only=True)

    @property
    def run_id(self) -> str:
        """What a run that begins here is called: after the pipeline and the place in it."""
        place = ".".join(map(str, (*self.key.strand, self.key.place)))
        return f"{self.run}/{place}"

    def child(self, program: Program, taken_up: LoopState | None) -> ChildRun | None:
        """The share of the pipeline's limits for a run that begins here, or is taken up."""
        if self.children is None:
            return None
        return self.children.begin(program, taken_up)
