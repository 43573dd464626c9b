from collections.abc import Iterable, Mapping
from typing import TypeAlias, TypeVar
from stepfold.shell._tool import AnyTool
from stepfold.shell._tool_search import ToolSearch
from stepfold.values import ProviderTool

D = TypeVar("D")
OfferedTool: TypeAlias = AnyTool[D, object] | ProviderTool | ToolSearch

def provider_tool(
    id: str,
    name: str | None = None,
    args: Mapping[str, object] | None = None,
    *,
    supports_deferred_results: bool = False,
) -> ProviderTool: ...
def provider_tools_by_name(tools: Iterable[ProviderTool]) -> Mapping[str, ProviderTool]: ...
