"""Noticing that tools have become others than those that somebody looked at.

What a server offers today may not be what it offered when its tools were approved. A fingerprint
is text, so it can be kept; comparing two says which tools came, went, or say something else.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Never, final

from attrs import frozen

from stepfold.shell._tool import AnyTool
from stepfold.values import JsonText


@final
@frozen(order=False)
class ToolDrift:
    """How tools differ from those of before: names, sorted."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is different."""
        return bool(self.added or self.removed or self.changed)


def fingerprint_tools(tools: Iterable[AnyTool[Never, object]], /) -> Mapping[str, str]:
    """Give the digest of what models and people are told of each tool, by its name.

    That is its description, the JSON Schema of its arguments, and its title. The digest is SHA-256
    in hex; the order of keys in a schema makes no difference. What a tool does is not in it.
    """
    return MappingProxyType({tool.name: _fingerprint(tool) for tool in tools})


def _fingerprint(tool: AnyTool[Never, object]) -> str:
    told = {
        "description": tool.description,
        "input_schema": tool.input_schema.value,
        "title": tool.spec.title,
    }
    return JsonText.of(told).digest()


def detect_tool_drift(current: Mapping[str, str], baseline: Mapping[str, str], /) -> ToolDrift:
    """Compare the fingerprints of tools with those of before: both by `fingerprint_tools`."""
    both = current.keys() & baseline.keys()
    return ToolDrift(
        added=tuple(sorted(current.keys() - baseline.keys())),
        removed=tuple(sorted(baseline.keys() - current.keys())),
        changed=tuple(sorted(name for name in both if current[name] != baseline[name])),
    )
