"""Anthropic's own tools, as data: what a dated version is called, and what it needs and takes."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, final

from attrs import frozen

_WEB_SEARCH: Final = ("max_uses", "allowed_domains", "blocked_domains", "user_location")
_WEB_FETCH: Final = (
    *("max_uses", "allowed_domains", "blocked_domains", "citations", "max_content_tokens"),
)
_COMPUTER: Final = ("display_width_px", "display_height_px", "display_number")
_USE_2024: Final = "computer-use-2024-10-22"
_USE_2025: Final = "computer-use-2025-01-24"
_WEB_BY_CODE: Final = "code-execution-web-tools-2026-02-09"


@final
@frozen(order=False, kw_only=True)
class OwnTool:
    """A dated version of a tool: the `name` that it has to have, the members that it takes.

    `beta` has to be asked for in a header, if there is one. A tool that is `deferred` may answer
    a call in a later reply. `samples` are arguments, as JSON, with which models call a tool that
    the client runs.
    """

    name: str
    members: tuple[str, ...] = ()
    beta: str | None = None
    deferred: bool = False
    samples: tuple[str, ...] = ()


_COMPUTER_SAMPLES: Final = (
    '{"action":"screenshot"}',
    '{"action":"left_click","coordinate":[1,2]}',
    '{"action":"type","text":"a"}',
)
_COMPUTER_SAMPLES_2025: Final = (
    *_COMPUTER_SAMPLES,
    '{"action":"left_click_drag","coordinate":[1,2],"start_coordinate":[1,2]}',
    '{"action":"scroll","coordinate":[1,2],"scroll_amount":3,"scroll_direction":"down"}',
    '{"action":"hold_key","duration":1,"text":"a"}',
)
_BASH_SAMPLES: Final = ('{"command":"ls"}', '{"restart":true}')
_EDITOR_SAMPLES: Final = (
    '{"command":"view","path":"/a"}',
    '{"command":"view","path":"/a","view_range":[1,2]}',
    '{"command":"create","file_text":"a","path":"/a"}',
    '{"command":"str_replace","new_str":"b","old_str":"a","path":"/a"}',
)
_MEMORY_SAMPLES: Final = (
    *_EDITOR_SAMPLES,
    '{"command":"insert","insert_line":1,"insert_text":"a","path":"/a"}',
    '{"command":"delete","path":"/a"}',
    '{"command":"rename","new_path":"/b","old_path":"/a"}',
)

OWN_TOOLS: Final[Mapping[str, OwnTool]] = MappingProxyType(
    {
        "advisor_20260301": OwnTool(
            name="advisor",
            members=("model", "max_uses", "max_tokens", "caching"),
            beta="advisor-tool-2026-03-01",
            deferred=True,
        ),
        "bash_20241022": OwnTool(name="bash", beta=_USE_2024, samples=_BASH_SAMPLES),
        "bash_20250124": OwnTool(name="bash", beta=_USE_2025, samples=_BASH_SAMPLES),
        "code_execution_20250522": OwnTool(name="code_execution", beta="code-execution-2025-05-22"),
        "code_execution_20250825": OwnTool(
            name="code_execution", beta="code-execution-2025-08-25", deferred=True
        ),
        "code_execution_20260120": OwnTool(name="code_execution", deferred=True),
        "computer_20241022": OwnTool(
            name="computer", members=_COMPUTER, beta=_USE_2024, samples=_COMPUTER_SAMPLES
        ),
        "computer_20250124": OwnTool(
            name="computer", members=_COMPUTER, beta=_USE_2025, samples=_COMPUTER_SAMPLES_2025
        ),
        "computer_20251124": OwnTool(
            name="computer",
            members=(*_COMPUTER, "enable_zoom"),
            beta="computer-use-2025-11-24",
            samples=(
                *_COMPUTER_SAMPLES_2025,
                '{"action":"zoom","region":[0,0,9,9]}',
            ),
        ),
        "memory_20250818": OwnTool(
            name="memory", beta="context-management-2025-06-27", samples=_MEMORY_SAMPLES
        ),
        "text_editor_20241022": OwnTool(
            name="str_replace_editor", beta=_USE_2024, samples=_EDITOR_SAMPLES
        ),
        "text_editor_20250124": OwnTool(
            name="str_replace_editor", beta=_USE_2025, samples=_EDITOR_SAMPLES
        ),
        "text_editor_20250429": OwnTool(
            name="str_replace_based_edit_tool", beta=_USE_2025, samples=_EDITOR_SAMPLES
        ),
        "text_editor_20250728": OwnTool(
            name="str_replace_based_edit_tool",
            members=("max_characters",),
            samples=_EDITOR_SAMPLES,
        ),
        "tool_search_tool_bm25_20251119": OwnTool(name="tool_search_tool_bm25", deferred=True),
        "tool_search_tool_regex_20251119": OwnTool(name="tool_search_tool_regex", deferred=True),
        "web_fetch_20250910": OwnTool(
            name="web_fetch", members=_WEB_FETCH, beta="web-fetch-2025-09-10", deferred=True
        ),
        "web_fetch_20260209": OwnTool(
            name="web_fetch", members=_WEB_FETCH, beta=_WEB_BY_CODE, deferred=True
        ),
        "web_fetch_20260318": OwnTool(
            name="web_fetch",
            members=(*_WEB_FETCH, "use_cache", "response_inclusion"),
            deferred=True,
        ),
        "web_search_20250305": OwnTool(name="web_search", members=_WEB_SEARCH, deferred=True),
        "web_search_20260209": OwnTool(
            name="web_search", members=_WEB_SEARCH, beta=_WEB_BY_CODE, deferred=True
        ),
        "web_search_20260318": OwnTool(
            name="web_search", members=(*_WEB_SEARCH, "response_inclusion"), deferred=True
        ),
    }
)
"""The tools by their types on the wire."""
