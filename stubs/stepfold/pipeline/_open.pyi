from stepfold.pipeline._ends import Open
from stepfold.pipeline._state import PipelineState
from stepfold.pipeline._wiring import Wiring
from stepfold.pipeline.commands import Command

def open_inputs(wiring: Wiring, state: PipelineState) -> tuple[Open, ...]: ...
def pending(wiring: Wiring, state: PipelineState) -> tuple[Command, ...]: ...
