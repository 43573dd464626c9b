"""Tools that the provider runs: declared beside those that are run here, and only declared."""

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias, TypeVar

from stepfold.shell._tool import AnyTool
from stepfold.shell._tool_search import ToolSearch
from stepfold.values import EMPTY_OBJECT, JsonText, ProviderTool, UsageError

D = TypeVar("D")

OfferedTool: TypeAlias = AnyTool[D, object] | ProviderTool | ToolSearch
"""What may stand in a list of tools: one of `tool` or `client_tool`, one of the provider's, or a
search."""

_VERSION = re.compile(r"_\d{8}$")


def provider_tool(
    id: str,
    name: str | None = None,
    args: Mapping[str, object] | None = None,
    *,
    supports_deferred_results: bool = False,
) -> ProviderTool:
    """Offer a tool that the provider has and runs itself, such as a search of the web.

    A model of another provider is not told of it, and its reply carries a warning.

    Args:
        id: The provider and the wire's own type of the tool: `anthropic.web_search_20250305`.
        name: What the model calls it; by default the type without its date: `web_search`.
        args: The other members of its definition, as the wire names them.
        supports_deferred_results: Whether a call may be answered in a later reply than the one
            that made it. The run then goes on until the answer is there.

    Raises:
        UsageError: the id names no provider and type, or something in `args` has no JSON form.
    """
    provider, dot, kind = id.partition(".")
    if not (provider and dot and kind):
        raise UsageError(
            "provider_tool: expected an id such as 'anthropic.web_search_20250305', "
            f"the provider and its type of the tool, got {id!r}"
        )
    try:
        members = EMPTY_OBJECT if args is None else JsonText.of(args)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"provider_tool {id}, args: expected what has a JSON form, got {error}"
        ) from error
    return ProviderTool(
        id,
        _VERSION.sub("", kind) if name is None else name,
        members,
        supports_deferred_results=supports_deferred_results,
    )


def provider_tools_by_name(tools: Iterable[ProviderTool]) -> Mapping[str, ProviderTool]:
    """Tools of providers under their names, in their order.

    Raises:
        UsageError: two have one name.
    """
    table: dict[str, ProviderTool] = {}
    for tool in tools:
        if table.setdefault(tool.name, tool) is not tool:
            raise UsageError(
                f"tools: expected one tool of each name, got two of {tool.name!r}: give one of "
                "them another as provider_tool(…, name=…)"
            )
    return table
