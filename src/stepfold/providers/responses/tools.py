"""Tools that OpenAI has, with typed arguments, for the list of tools of an agent.

OpenAI runs `code_interpreter`, `file_search`, `hosted_shell`, `image_generation`, `mcp`,
`programmatic_tool_calling`, `tool_search`, `web_search` and `web_search_preview` itself.
`apply_patch`, `computer`, `custom`, `local_shell` and `shell` are defined by OpenAI and run here:
they make a tool of your function, as a decorator. What a call of one holds, and what its result
has to hold, are classes of this module.

xAI has tools of its own over this protocol: `stepfold.providers.responses.xai_tools`.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from stepfold.providers._own_tools import ProviderDefined, UserLocation, hosted_tool, said
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
from stepfold.values import JsonText, ProviderTool, UsageError

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
) -> ProviderTool:
    """Search the web; the pages that the reply cites are its sources.

    Args:
        search_context_size: How much of what was found comes into the context.
        user_location: About where the user is.
        allowed_domains: Only these and what is below them, such as `example.com`.
        blocked_domains: Never these.
        external_web_access: Whether live pages may be fetched, not only what is in the index.
    """
    filters = said(
        allowed_domains=_listed(allowed_domains), blocked_domains=_listed(blocked_domains)
    )
    return hosted_tool(
        "openai.web_search",
        filters=filters or None,
        external_web_access=external_web_access,
        search_context_size=search_context_size,
        user_location=None if user_location is None else user_location.on_the_wire,
    )


def web_search_preview(
    *,
    search_context_size: Literal["low", "medium", "high"] | None = None,
    user_location: UserLocation | None = None,
) -> ProviderTool:
    """Search the web as models before GPT-5 do.

    Args:
        search_context_size: How much of what was found comes into the context.
        user_location: About where the user is.
    """
    return hosted_tool(
        "openai.web_search_preview",
        search_context_size=search_context_size,
        user_location=None if user_location is None else user_location.on_the_wire,
    )


def file_search(
    vector_store_ids: Iterable[str],
    *,
    max_num_results: int | None = None,
    ranker: str | None = None,
    score_threshold: float | None = None,
    filters: Mapping[str, object] | None = None,
) -> ProviderTool:
    """Search files in stores of OpenAI's; those that the reply cites are its sources.

    Args:
        vector_store_ids: The stores, such as `vs_…`.
        max_num_results: How many pieces are found at most, from 1 to 50.
        ranker: How they are ranked, such as `auto`.
        score_threshold: How well one has to fit, from 0 to 1.
        filters: Which files are searched, by their attributes: a comparison or a combination of
            them, as the wire has them (`{"type": "eq", "key": "year", "value": 2026}`).
    """
    ranking = said(ranker=ranker, score_threshold=score_threshold)
    return hosted_tool(
        "openai.file_search",
        vector_store_ids=tuple(vector_store_ids),
        max_num_results=max_num_results,
        ranking_options=ranking or None,
        filters=filters,
    )


def code_interpreter(container: str | Container | None = None) -> ProviderTool:
    """Run Python in a sandbox of OpenAI's.

    Args:
        container: The id of one that exists, or what a new one is to be.
    """
    if not isinstance(container, str):
        container_or_new: object = (container or Container()).on_the_wire("auto")
    else:
        container_or_new = container
    return hosted_tool("openai.code_interpreter", container=container_or_new)


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
) -> ProviderTool:
    """Make an image; it is a `File` of the reply.

    Args:
        action: Whether to make a new one or to change one of the conversation.
        background: What is behind the subject.
        input_fidelity: How closely images of the conversation are kept to.
        input_image_mask: Where to change an image: `{"file_id": …}` or `{"image_url": …}`.
        model: The model that draws.
        moderation: How strictly what is drawn is moderated.
        output_compression: From 0 to 100, for JPEG and WebP.
        output_format: What kind of file it is.
        partial_images: How many of its states are shown before, from 0 to 3.
        quality: How much work is put in.
        size: In pixels, as `1024x1536`, or `auto`.
    """
    return hosted_tool(
        "openai.image_generation",
        action=action,
        background=background,
        input_fidelity=input_fidelity,
        input_image_mask=input_image_mask,
        model=model,
        moderation=moderation,
        output_compression=output_compression,
        output_format=output_format,
        partial_images=partial_images,
        quality=quality,
        size=size,
    )


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
) -> ProviderTool:
    """Call tools of a server that OpenAI asks itself; the results are parts of the reply.

    A call that needs an approval makes the run rest, with a request that is answered as any other.

    Args:
        server_label: What the server is called in the reply; calls of it are `mcp.<tool>`.
        server_url: Where it is.
        connector_id: One of OpenAI's connectors in place of a server, such as
            `connector_googledrive`.
        server_description: What the model is told of it.
        authorization: A token of OAuth that OpenAI shows the server.
        headers: What else OpenAI sends it.
        allowed_tools: The tools that the model may call; by default all.
        only_reading: Only those that the server says change nothing.
        require_approval: Whether calls need an approval; or the tools that need none.

    Raises:
        UsageError: there is neither a `server_url` nor a `connector_id`, or there are both.
    """
    if (server_url is None) == (connector_id is None):
        given = "neither" if server_url is None else "both"
        raise UsageError(f"mcp {server_label}: expected server_url or connector_id, got {given}")
    allowed: object = _listed(allowed_tools)
    if only_reading is not None:
        allowed = said(read_only=only_reading, tool_names=allowed)
    approval: object = require_approval
    if not isinstance(require_approval, str):
        approval = {"never": {"tool_names": tuple(require_approval)}}
    return hosted_tool(
        "openai.mcp",
        f"mcp_{server_label}",
        server_label=server_label,
        allowed_tools=allowed,
        authorization=authorization,
        connector_id=connector_id,
        headers=headers,
        require_approval=approval,
        server_description=server_description,
        server_url=server_url,
    )


def tool_search() -> ProviderTool:
    """Let OpenAI look for tools that were declared with `defer_loading` in their options."""
    return hosted_tool("openai.tool_search")


def programmatic_tool_calling() -> ProviderTool:
    """Let a program of the model's call functions that allow it.

    Those have `allowed_callers` in their options, and an `output_schema` for what they give.
    """
    return hosted_tool("openai.programmatic_tool_calling", supports_deferred_results=True)


def hosted_shell(container: str | Container | None = None) -> ProviderTool:
    """A shell in a container of OpenAI's.

    Args:
        container: The id of one that exists, or what a new one is to be.
    """
    if isinstance(container, str):
        place: Mapping[str, object] = {"type": "container_reference", "container_id": container}
    else:
        place = (container or Container()).on_the_wire("container_auto")
    return hosted_tool("openai.shell", environment=place)


# --- run here ---------------------------------------------------------------------------------


def shell() -> ProviderDefined:
    """A shell on this machine: a function of `(action: ShellAction)` that gives a `ShellResult`."""
    return ProviderDefined(
        provider="openai",
        name="shell",
        definition=JsonText.of({"type": "shell", "environment": {"type": "local"}}),
        samples=(
            JsonText('{"action":{"commands":["ls"]}}'),
            JsonText('{"action":{"commands":["ls"],"max_output_length":9,"timeout_ms":9}}'),
            JsonText('{"action":{"commands":["ls"],"max_output_length":null,"timeout_ms":null}}'),
        ),
    )


def local_shell() -> ProviderDefined:
    """A shell as `codex-mini-latest` knows it.

    A function of `(action: ExecAction)` that gives a text: what the program wrote.
    """
    return ProviderDefined(
        provider="openai",
        name="local_shell",
        definition=JsonText('{"type":"local_shell"}'),
        samples=(
            JsonText('{"action":{"command":["ls"],"env":{},"type":"exec"}}'),
            JsonText(
                '{"action":{"command":["ls"],"env":{"A":"b"},"timeout_ms":9,"type":"exec",'
                '"user":null,"working_directory":"/"}}'
            ),
        ),
    )


def apply_patch() -> ProviderDefined:
    """Change files: a function of `(operation: PatchOperation)` that gives a `PatchResult`."""
    return ProviderDefined(
        provider="openai",
        name="apply_patch",
        definition=JsonText('{"type":"apply_patch"}'),
        samples=(
            JsonText('{"operation":{"diff":"+a","path":"a","type":"create_file"}}'),
            JsonText('{"operation":{"diff":"-a","path":"a","type":"update_file"}}'),
            JsonText('{"operation":{"path":"a","type":"delete_file"}}'),
        ),
    )


def computer() -> ProviderDefined:
    """A screen, a keyboard and a mouse.

    A function of `(actions: list[dict[str, object]], pending_safety_checks: tuple[SafetyCheck,
    ...] = ())` that gives a `ScreenshotResult`. Actions are as the wire has them, such as
    `{"type": "click", "button": "left", "x": 1, "y": 2}`, in pixels.
    """
    return ProviderDefined(
        provider="openai",
        name="computer",
        definition=JsonText('{"type":"computer"}'),
        samples=(
            JsonText('{"actions":[{"type":"screenshot"}],"pending_safety_checks":[]}'),
            JsonText('{"actions":[{"button":"left","type":"click","x":1,"y":2}]}'),
        ),
    )


def custom(
    name: str,
    *,
    description: str | None = None,
    grammar: str | None = None,
    syntax: Literal["lark", "regex"] = "lark",
) -> ProviderDefined:
    """A tool whose input is text, not JSON: a function of `(input: str)`.

    Args:
        name: What the model calls it.
        description: What the model is told.
        grammar: What texts there are; by default any.
        syntax: How the grammar is written.
    """
    form = None
    if grammar is not None:
        form = {"type": "grammar", "syntax": syntax, "definition": grammar}
    return ProviderDefined(
        provider="openai",
        name=name,
        definition=JsonText.of(said(type="custom", description=description, format=form)),
        samples=(JsonText('{"input":"a"}'),),
    )


def _listed(given: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)
