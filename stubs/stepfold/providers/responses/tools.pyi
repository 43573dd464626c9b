from collections.abc import Iterable, Mapping
from typing import Literal
from stepfold.providers._own_tools import ProviderDefined, UserLocation
from stepfold.providers.responses._own_values import (
    CommandOutput,
    Container,
    ExecAction,
    ExitOutcome,
    PatchOperation,
    PatchResult,
    SafetyCheck,
    Screenshot,
    ScreenshotResult,
    ShellAction,
    ShellResult,
    TimeoutOutcome,
)
from stepfold.values import ProviderTool

__all__ = (
    "CommandOutput",
    "Container",
    "ExecAction",
    "ExitOutcome",
    "PatchOperation",
    "PatchResult",
    "ProviderDefined",
    "SafetyCheck",
    "Screenshot",
    "ScreenshotResult",
    "ShellAction",
    "ShellResult",
    "TimeoutOutcome",
    "UserLocation",
    "apply_patch",
    "code_interpreter",
    "computer",
    "custom",
    "file_search",
    "hosted_shell",
    "image_generation",
    "local_shell",
    "mcp",
    "programmatic_tool_calling",
    "shell",
    "tool_search",
    "web_search",
    "web_search_preview",
)

def web_search(
    *,
    search_context_size: Literal["low", "medium", "high"] | None = None,
    user_location: UserLocation | None = None,
    allowed_domains: Iterable[str] | None = None,
    blocked_domains: Iterable[str] | None = None,
    external_web_access: bool | None = None,
) -> ProviderTool: ...
def web_search_preview(
    *,
    search_context_size: Literal["low", "medium", "high"] | None = None,
    user_location: UserLocation | None = None,
) -> ProviderTool: ...
def file_search(
    vector_store_ids: Iterable[str],
    *,
    max_num_results: int | None = None,
    ranker: str | None = None,
    score_threshold: float | None = None,
    filters: Mapping[str, object] | None = None,
) -> ProviderTool: ...
def code_interpreter(container: str | Container | None = None) -> ProviderTool: ...
def image_generation(
    *,
    action: Literal["generate", "edit", "auto"] | None = None,
    background: Literal["auto", "opaque", "transparent"] | None = None,
    input_fidelity: Literal["low", "high"] | None = None,
    input_image_mask: Mapping[str, str] | None = None,
    model: str | None = None,
    moderation: Literal["auto", "low"] | None = None,
    output_compression: int | None = None,
    output_format: Literal["png", "jpeg", "webp"] | None = None,
    partial_images: int | None = None,
    quality: Literal["auto", "low", "medium", "high", "xhigh", "max"] | None = None,
    size: str | None = None,
) -> ProviderTool: ...
def mcp(
    server_label: str,
    *,
    server_url: str | None = None,
    connector_id: str | None = None,
    server_description: str | None = None,
    authorization: str | None = None,
    headers: Mapping[str, str] | None = None,
    allowed_tools: Iterable[str] | None = None,
    only_reading: bool | None = None,
    require_approval: Literal["always", "never"] | Iterable[str] = "never",
) -> ProviderTool: ...
def tool_search() -> ProviderTool: ...
def programmatic_tool_calling() -> ProviderTool: ...
def hosted_shell(container: str | Container | None = None) -> ProviderTool: ...
def shell() -> ProviderDefined: ...
def local_shell() -> ProviderDefined: ...
def apply_patch() -> ProviderDefined: ...
def computer() -> ProviderDefined: ...
def custom(
    name: str,
    *,
    description: str | None = None,
    grammar: str | None = None,
    syntax: Literal["lark", "regex"] = "lark",
) -> ProviderDefined: ...
