from collections.abc import Mapping
from stepfold.loop._program import Program, ToolSpec
from stepfold.loop._state import LoopState

def offered_tools(program: Program, state: LoopState) -> Mapping[str, ToolSpec]: ...
