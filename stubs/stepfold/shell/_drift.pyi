from collections.abc import Iterable, Mapping
from typing import Never, final
from attrs import frozen
from stepfold.shell._tool import AnyTool

@final
@frozen(order=False)
class ToolDrift:
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool: ...

def fingerprint_tools(tools: Iterable[AnyTool[Never, object]], /) -> Mapping[str, str]: ...
def detect_tool_drift(current: Mapping[str, str], baseline: Mapping[str, str], /) -> ToolDrift: ...
