"""Tools that xAI runs, with typed arguments, for models reached by `xai_responses`."""

from collections.abc import Iterable, Mapping
from typing import Literal

from stepfold.providers._own_tools import hosted_tool
from stepfold.values import ProviderTool, UsageError

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
) -> ProviderTool:
    """Search the web and read pages.

    Args:
        allowed_domains: Only these, 5 at most; not together with `excluded_domains`.
        excluded_domains: Never these, 5 at most.
        enable_image_search: Whether images are found as well.
        enable_image_understanding: Whether the model looks at images that it finds.

    Raises:
        UsageError: both lists are given.
    """
    _require_one("domains", allowed_domains, excluded_domains)
    return hosted_tool(
        "xai.web_search",
        allowed_domains=_listed(allowed_domains),
        excluded_domains=_listed(excluded_domains),
        enable_image_search=enable_image_search,
        enable_image_understanding=enable_image_understanding,
    )


def x_search(
    *,
    allowed_x_handles: Iterable[str] | None = None,
    excluded_x_handles: Iterable[str] | None = None,
    from_date: str | None = None,
    to_date: str | None = None,
    enable_image_understanding: bool | None = None,
    enable_video_understanding: bool | None = None,
) -> ProviderTool:
    """Search posts, people and threads of X.

    Args:
        allowed_x_handles: Only posts of these, 10 at most; not together with
            `excluded_x_handles`.
        excluded_x_handles: Never posts of these, 10 at most.
        from_date: The first day, as `2026-01-31`.
        to_date: The last day.
        enable_image_understanding: Whether the model looks at images of posts.
        enable_video_understanding: Whether it looks at their videos.

    Raises:
        UsageError: both lists are given.
    """
    _require_one("x_handles", allowed_x_handles, excluded_x_handles)
    return hosted_tool(
        "xai.x_search",
        allowed_x_handles=_listed(allowed_x_handles),
        excluded_x_handles=_listed(excluded_x_handles),
        from_date=from_date,
        to_date=to_date,
        enable_image_understanding=enable_image_understanding,
        enable_video_understanding=enable_video_understanding,
    )


def code_execution() -> ProviderTool:
    """Run Python in a sandbox of xAI's; its calls are named `code_interpreter`."""
    return hosted_tool("xai.code_interpreter")


def view_image() -> ProviderTool:
    """Let the model look at an image at an address."""
    return hosted_tool("xai.view_image")


def view_x_video() -> ProviderTool:
    """Let the model look at a video of X."""
    return hosted_tool("xai.view_x_video")


def image_generation(*, action: Literal["auto", "generate", "edit"] | None = None) -> ProviderTool:
    """Make an image.

    Args:
        action: Whether to make a new one or to change one of the conversation.
    """
    return hosted_tool("xai.image_generation", action=action)


def file_search(
    vector_store_ids: Iterable[str], *, max_num_results: int | None = None
) -> ProviderTool:
    """Search collections of files.

    Args:
        vector_store_ids: The ids of the collections.
        max_num_results: How many pieces are found at most.
    """
    return hosted_tool(
        "xai.file_search",
        vector_store_ids=tuple(vector_store_ids),
        max_num_results=max_num_results,
    )


def mcp(
    server_url: str,
    *,
    server_label: str | None = None,
    server_description: str | None = None,
    allowed_tools: Iterable[str] | None = None,
    headers: Mapping[str, str] | None = None,
    authorization: str | None = None,
) -> ProviderTool:
    """Call tools of a server that xAI asks itself.

    Args:
        server_url: Where it is.
        server_label: What it is called in the reply.
        server_description: What the model is told of it.
        allowed_tools: The tools that the model may call; by default all.
        headers: What else xAI sends it.
        authorization: The value of the header of that name.
    """
    return hosted_tool(
        "xai.mcp",
        "mcp" if server_label is None else f"mcp_{server_label}",
        server_url=server_url,
        server_label=server_label,
        server_description=server_description,
        allowed_tools=_listed(allowed_tools),
        headers=headers,
        authorization=authorization,
    )


def _listed(given: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


def _require_one(what: str, allowed: object, excluded: object) -> None:
    if allowed is not None and excluded is not None:
        raise UsageError(f"expected allowed_{what} or excluded_{what}, got both")
