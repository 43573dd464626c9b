"""Tools that Anthropic has, with typed arguments, for the list of tools of an agent.

Anthropic runs `advisor`, `code_execution`, `tool_search`, `web_fetch` and `web_search` itself.
`bash`, `computer`, `memory` and `text_editor` are defined by Anthropic and run here: they make a
tool of your function, as a decorator. A `version` is the date in the type of a tool; each takes
what the wire of that date takes, and what has to be asked for by a header is asked for.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from stepfold.providers._own_tools import ProviderDefined, UserLocation, hosted_tool, said
from stepfold.providers.anthropic_messages._own_tools import OWN_TOOLS
from stepfold.values import JsonText, ProviderTool, UsageError

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
) -> ProviderTool:
    """Search the web; the pages that were found are sources of the reply.

    Args:
        max_uses: How often the model may search in one request.
        allowed_domains: Only these, such as `example.com`; not together with `blocked_domains`.
        blocked_domains: Never these.
        user_location: About where the user is.
        response_inclusion: Whether results that code has used up stay in the reply
            (from 20260318).
        version: The date of the tool. From 20260209 the model filters results by code.

    Raises:
        UsageError: the version does not take one of the arguments, or both lists are given.
    """
    _require_one_list(allowed_domains, blocked_domains)
    return _hosted(
        f"web_search_{version}",
        max_uses=max_uses,
        allowed_domains=_listed(allowed_domains),
        blocked_domains=_listed(blocked_domains),
        user_location=None if user_location is None else user_location.on_the_wire,
        response_inclusion=response_inclusion,
    )


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
) -> ProviderTool:
    """Fetch pages and PDFs whose addresses stand in the conversation.

    Args:
        max_uses: How often the model may fetch in one request.
        allowed_domains: Only these, such as `example.com`; not together with `blocked_domains`.
        blocked_domains: Never these.
        citations: Whether the model shall cite what it fetched.
        max_content_tokens: How much of a page comes into the context, in tokens.
        use_cache: Whether a page may come from a cache (from 20260318).
        response_inclusion: Whether results that code has used up stay in the reply
            (from 20260318).
        version: The date of the tool. From 20260209 the model filters results by code.

    Raises:
        UsageError: the version does not take one of the arguments, or both lists are given.
    """
    _require_one_list(allowed_domains, blocked_domains)
    return _hosted(
        f"web_fetch_{version}",
        max_uses=max_uses,
        allowed_domains=_listed(allowed_domains),
        blocked_domains=_listed(blocked_domains),
        citations=None if citations is None else {"enabled": citations},
        max_content_tokens=max_content_tokens,
        use_cache=use_cache,
        response_inclusion=response_inclusion,
    )


def code_execution(
    *, version: Literal["20250522", "20250825", "20260120"] = "20250825"
) -> ProviderTool:
    """Run code in a sandbox of Anthropic's.

    Args:
        version: The date of the tool: Python alone (20250522), a shell and files as well
            (20250825), and calls of functions by the code (20260120).
    """
    return _hosted(f"code_execution_{version}")


def tool_search(*, by: Literal["bm25", "regex"] = "bm25") -> ProviderTool:
    """Let the model look for tools that were declared with `defer_loading` in their options.

    Args:
        by: Whether it describes what it looks for in words, or by a regular expression.
    """
    return _hosted(f"tool_search_tool_{by}_20251119")


def advisor(
    model: str,
    *,
    max_uses: int | None = None,
    max_tokens: int | None = None,
    cache_ttl: Literal["5m", "1h"] | None = None,
) -> ProviderTool:
    """Let the model ask another model for advice on the conversation so far.

    Args:
        model: The id of the model that gives the advice.
        max_uses: How often it may be asked in one request.
        max_tokens: How long one answer may be, in tokens, from 1,024.
        cache_ttl: How long its prompt is kept in a cache.
    """
    caching = None if cache_ttl is None else {"type": "ephemeral", "ttl": cache_ttl}
    return _hosted(
        "advisor_20260301", model=model, max_uses=max_uses, max_tokens=max_tokens, caching=caching
    )


def mcp_server(
    name: str,
    url: str,
    *,
    authorization_token: str | None = None,
    allowed_tools: Iterable[str] | None = None,
    enabled: bool | None = None,
) -> Mapping[str, object]:
    """A server of tools that Anthropic asks itself, for the `provider_options` of a request.

    It stands in a list: `{"anthropic": {"mcp_servers": [mcp_server(…)]}}`. Calls and results are
    parts of the reply.

    Args:
        name: What the server is called in the reply.
        url: Where it is, with https.
        authorization_token: What Anthropic shows the server.
        allowed_tools: The tools that the model may call; by default all.
        enabled: Whether any may be called; by default yes.
    """
    configured = said(allowed_tools=_listed(allowed_tools), enabled=enabled)
    return said(
        type="url",
        name=name,
        url=url,
        authorization_token=authorization_token,
        tool_configuration=configured or None,
    )


# --- run here ---------------------------------------------------------------------------------


def bash(*, version: Literal["20241022", "20250124"] = "20250124") -> ProviderDefined:
    """A shell that keeps its state: `(command: str = "", restart: bool = False)`.

    Args:
        version: The date of the tool.
    """
    return _defined(f"bash_{version}")


def text_editor(
    *,
    max_characters: int | None = None,
    version: Literal["20241022", "20250124", "20250429", "20250728"] = "20250728",
) -> ProviderDefined:
    """View and change files.

    A function takes `command` (`view`, `create`, `str_replace`, `insert` and, before 20250429,
    `undo_edit`) and `path`; and with defaults `file_text`, `old_str`, `new_str`, `insert_line`,
    `insert_text`, `view_range`.

    Args:
        max_characters: After how many characters a view is cut (from 20250728).
        version: The date of the tool.

    Raises:
        UsageError: the version does not take `max_characters`.
    """
    return _defined(f"text_editor_{version}", max_characters=max_characters)


def computer(
    *,
    display_width_px: int,
    display_height_px: int,
    display_number: int | None = None,
    enable_zoom: bool | None = None,
    version: Literal["20241022", "20250124", "20251124"] = "20250124",
) -> ProviderDefined:
    """A screen, a keyboard and a mouse.

    A function takes `action` (`screenshot`, `left_click`, `type` …); and with defaults
    `coordinate`, `text` and, from 20250124, `start_coordinate`, `scroll_amount`,
    `scroll_direction`, `duration`, `region`. A screenshot is shown to the model by
    `with_options(to_model_output=…)`, as a `ContentOutput` with a `File`.

    Args:
        display_width_px: How wide the screen is, in pixels.
        display_height_px: How high it is, in pixels.
        display_number: Which screen it is, under X11.
        enable_zoom: Whether the model may look closer (from 20251124).
        version: The date of the tool.

    Raises:
        UsageError: the version does not take `enable_zoom`.
    """
    return _defined(
        f"computer_{version}",
        display_width_px=display_width_px,
        display_height_px=display_height_px,
        display_number=display_number,
        enable_zoom=enable_zoom,
    )


def memory() -> ProviderDefined:
    """Files that the model keeps between conversations, under `/memories`.

    A function takes `command` (`view`, `create`, `str_replace`, `insert`, `delete`, `rename`); and
    with defaults `path`, `view_range`, `file_text`, `old_str`, `new_str`, `insert_line`,
    `insert_text`, `old_path`, `new_path`. It has to refuse paths that lead elsewhere.
    """
    return _defined("memory_20250818")


# --- how they are made ------------------------------------------------------------------------


def _hosted(kind: str, **members: object) -> ProviderTool:
    own = OWN_TOOLS[kind]
    _require_members(kind, own.members, members)
    return hosted_tool(
        f"anthropic.{kind}", own.name, supports_deferred_results=own.deferred, **members
    )


def _defined(kind: str, **members: object) -> ProviderDefined:
    own = OWN_TOOLS[kind]
    _require_members(kind, own.members, members)
    return ProviderDefined(
        provider="anthropic",
        name=own.name,
        definition=JsonText.of({"type": kind, **said(**members)}),
        samples=tuple(map(JsonText, own.samples)),
    )


def _require_members(kind: str, known: tuple[str, ...], given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if value is not None and name not in known:
            raise UsageError(
                f"{kind}: expected only what this version takes ({', '.join(known) or 'nothing'}), "
                f"got {name}: leave it out, or choose a later version"
            )


def _listed(given: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


def _require_one_list(allowed: object, blocked: object) -> None:
    if allowed is not None and blocked is not None:
        raise UsageError(
            "expected allowed_domains or blocked_domains, got both: the server takes one of them"
        )
