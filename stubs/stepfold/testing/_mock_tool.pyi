from collections.abc import Iterable
from typing import TypeVar, final
from stepfold.shell import AnyTool
from stepfold.testing._divergence import Divergence
from stepfold.testing._exchange import Exchange
from stepfold.values import StepResult, UsageError

D = TypeVar("D")
T = TypeVar("T")

@final
class NeverRecorded(UsageError):
    __module__ = "stepfold.testing"

    def __init__(self, message: str, tool: str, divergence: Divergence | None) -> None: ...
    tool: str
    divergence: Divergence | None

def mock_tool(
    tool: AnyTool[D, T], recorded: Iterable[StepResult | Exchange], /
) -> AnyTool[D, T]: ...
