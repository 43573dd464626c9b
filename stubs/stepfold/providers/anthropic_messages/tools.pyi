from collections.abc import Iterable, Mapping
from typing import Literal
from stepfold.providers._own_tools import ProviderDefined, UserLocation
from stepfold.values import ProviderTool

__all__ = (
    "ProviderDefined",
    "UserLocation",
    "advisor",
    "bash",
    "code_execution",
    "computer",
    "mcp_server",
    "memory",
    "text_editor",
    "tool_search",
    "web_fetch",
    "web_search",
)

def web_search(
    *,
    max_uses: int | None = None,
    allowed_domains: Iterable[str] | None = None,
    blocked_domains: Iterable[str] | None = None,
    user_location: UserLocation | None = None,
    response_inclusion: Literal["full", "excluded"] | None = None,
    version: Literal["20250305", "20260209", "20260318"] = "20250305",
) -> ProviderTool: ...
def web_fetch(
    *,
    max_uses: int | None = None,
    allowed_domains: Iterable[str] | None = None,
    blocked_domains: Iterable[str] | None = None,
    citations: bool | None = None,
    max_content_tokens: int | None = None,
    use_cache: bool | None = None,
    response_inclusion: Literal["full", "excluded"] | None = None,
    version: Literal["20250910", "20260209", "20260318"] = "20250910",
) -> ProviderTool: ...
def code_execution(
    *, version: Literal["20250522", "20250825", "20260120"] = "20250825"
) -> ProviderTool: ...
def tool_search(*, by: Literal["bm25", "regex"] = "bm25") -> ProviderTool: ...
def advisor(
    model: str,
    *,
    max_uses: int | None = None,
    max_tokens: int | None = None,
    cache_ttl: Literal["5m", "1h"] | None = None,
) -> ProviderTool: ...
def mcp_server(
    name: str,
    url: str,
    *,
    authorization_token: str | None = None,
    allowed_tools: Iterable[str] | None = None,
    enabled: bool | None = None,
) -> Mapping[str, object]: ...
def bash(*, version: Literal["20241022", "20250124"] = "20250124") -> ProviderDefined: ...
def text_editor(
    *,
    max_characters: int | None = None,
    version: Literal["20241022", "20250124", "20250429", "20250728"] = "20250728",
) -> ProviderDefined: ...
def computer(
    *,
    display_width_px: int,
    display_height_px: int,
    display_number: int | None = None,
    enable_zoom: bool | None = None,
    version: Literal["20241022", "20250124", "20251124"] = "20250124",
) -> ProviderDefined: ...
def memory() -> ProviderDefined: ...
