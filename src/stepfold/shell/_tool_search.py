"""`tool_search`: the tool by which a model finds those that are hidden until they are found."""

from typing import final

from attrs import frozen

from stepfold.loop import ToolSpec, search_spec
from stepfold.values import UsageError

_DESCRIPTION = (
    "Find more tools by what they do. Those that are found can be called from the next step on."
)


@final
@frozen(order=False)
class ToolSearch:
    """A search among the tools with `defer_loading`; made by `tool_search`."""

    name: str
    description: str
    max_results: int

    @property
    def spec(self) -> ToolSpec:
        """The tool as the loop sees it."""
        return search_spec(self.name, self.description, self.max_results)


def tool_search(
    *, name: str = "tool_search", description: str = _DESCRIPTION, max_results: int = 5
) -> ToolSearch:
    """Let the model find tools that are hidden from it, so that it need not read all of them.

    Hidden are tools with `defer_loading`. The loop answers the search itself: it ranks them by the
    words that the search shares with their names and descriptions, and tells the names and
    descriptions of the best. Those may be called from the next step on.

    Args:
        name: What the model calls it.
        description: What the model is told.
        max_results: How many tools one search finds at most.

    Raises:
        UsageError: `max_results` is less than one.
    """
    if type(max_results) is not int or max_results < 1:
        raise UsageError(f"tool_search: expected max_results of at least 1, got {max_results!r}")
    return ToolSearch(name, description, max_results)
