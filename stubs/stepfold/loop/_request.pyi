from stepfold.loop._program import Program
from stepfold.loop._state import LoopState
from stepfold.values import ModelRequest

def request_of(program: Program, state: LoopState) -> ModelRequest: ...
