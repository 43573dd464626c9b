from collections.abc import Iterable, Mapping
from typing import Literal
from stepfold.values import ProviderTool

__all__ = (
    "code_execution",
    "file_search",
    "image_generation",
    "mcp",
    "view_image",
    "view_x_video",
    "web_search",
    "x_search",
)

def web_search(
    *,
    allowed_domains: Iterable[str] | None = None,
    excluded_domains: Iterable[str] | None = None,
    enable_image_search: bool | None = None,
    enable_image_understanding: bool | None = None,
) -> ProviderTool: ...
def x_search(
    *,
    allowed_x_handles: Iterable[str] | None = None,
    excluded_x_handles: Iterable[str] | None = None,
    from_date: str | None = None,
    to_date: str | None = None,
    enable_image_understanding: bool | None = None,
    enable_video_understanding: bool | None = None,
) -> ProviderTool: ...
def code_execution() -> ProviderTool: ...
def view_image() -> ProviderTool: ...
def view_x_video() -> ProviderTool: ...
def image_generation(
    *, action: Literal["auto", "generate", "edit"] | None = None
) -> ProviderTool: ...
def file_search(
    vector_store_ids: Iterable[str], *, max_num_results: int | None = None
) -> ProviderTool: ...
def mcp(
    server_url: str,
    *,
    server_label: str | None = None,
    server_description: str | None = None,
    allowed_tools: Iterable[str] | None = None,
    headers: Mapping[str, str] | None = None,
    authorization: str | None = None,
) -> ProviderTool: ...
