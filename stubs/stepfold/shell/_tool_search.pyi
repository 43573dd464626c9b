from typing import final
from attrs import frozen
from stepfold.loop import ToolSpec

_DESCRIPTION = (
    "Find more tools by what they do. Those that are found can be called from the next step on."
)

@final
@frozen(order=False)
class ToolSearch:
    name: str
    description: str
    max_results: int

    @property
    def spec(self) -> ToolSpec: ...

def tool_search(
    *, name: str = "tool_search", description: str = _DESCRIPTION, max_results: int = 5
) -> ToolSearch: ...
