from collections.abc import Mapping
from stepfold.loop._program import Program, ToolSpec
from stepfold.values import ToolCall

def fault_of(program: Program, visible: Mapping[str, ToolSpec], call: ToolCall) -> str | None: ...
