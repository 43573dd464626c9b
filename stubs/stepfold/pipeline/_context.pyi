from typing import final
from attrs import frozen
from stepfold.pipeline.events import StageKey
from stepfold.pipeline.notes import Tell
from stepfold.ports import Clock
from stepfold.shell import ChildRuns

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

    @property
    def run_id(self) -> str: ...
