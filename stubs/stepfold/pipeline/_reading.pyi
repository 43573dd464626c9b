from stepfold.pipeline._wiring import Wiring
from stepfold.pipeline.commands import RunStage
from stepfold.pipeline.events import StageEvent
from stepfold.values import Instant

def carried_out(wiring: Wiring, command: RunStage, at: Instant) -> StageEvent: ...
