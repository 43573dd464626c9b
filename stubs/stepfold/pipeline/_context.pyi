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
    def run_id(self) -> str: ...
    def child(self, program: Program, taken_up: LoopState | None) -> ChildRun | None: ...
