"""A model request as an HTTP request: pure, and cheap for a history that only grows."""

from collections.abc import Iterator, Mapping

from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers._prompts import alternating_turns
from stepfold.providers._requests import given_options, request_body, request_headers
from stepfold.providers._wire import (
    Fragment,
    FragmentMemo,
    options_of,
    provider_tool_fragment,
    to_wire,
)
from stepfold.providers.anthropic_messages._options import MessagesDialect
from stepfold.providers.anthropic_messages._own_tools import OWN_TOOLS
from stepfold.providers.anthropic_messages._prompt import message_fragments
from stepfold.providers.anthropic_messages._settings import (
    effort_of,
    output_format,
    settings_of,
)
from stepfold.schema import to_dialect
from stepfold.transport import HttpRequest
from stepfold.values import (
    Failure,
    JsonObject,
    JsonValue,
    ModelRequest,
    ModelWarning,
    NamedTool,
    ProviderTool,
    Success,
    ToolDefinition,
)

_OURS = frozenset({"messages", "system", "stream"})
_EXAMPLES_BETA = "advanced-tool-use-2025-11-20"
_MCP_BETA = "mcp-client-2025-04-04"


def encode_request(
    request: ModelRequest, endpoint: Endpoint[MessagesDialect], *, stream: bool = False
) -> WireCall:
    """Encode a request. The prompt is put in order first.

    `provider_options` of the request, under the provider's name, are members of the body as the
    wire names them (`thinking`, `metadata`, `mcp_servers`, `context_management` …) and win over
    settings; but `tools` there are added to the tools, `betas` to the header `anthropic-beta`,
    the members of `output_config` to that one, and `disable_parallel_tool_use` is said with the
    tool choice. Those of messages, parts, results and tools are added to theirs: that is where
    `cache_control` goes. A `type` among the options of a tool makes it one that Anthropic
    defines: its name and its options are sent, and nothing else. A file that the provider holds
    needs `betas=["files-api-2025-04-14"]`.

    Raises:
        UsageError: for options that are no objects, or that would change `messages`, `system` or
            `stream`.
    """
    dialect = endpoint.dialect
    warnings: list[ModelWarning] = []
    given = given_options(request, dialect.provider, _OURS)
    own_tools, betas = given.pop("tools", ()), _names(given.pop("betas", ()))
    alone = given.pop("disable_parallel_tool_use", None) is True
    tools = [_tool_fragments(tool, dialect) for tool in request.tools]
    tools += [_own_tool_fragments(tool, dialect) for tool in request.provider_tools]
    if isinstance(own_tools, tuple):
        tools += [Fragment(to_wire(tool)) for tool in own_tools]
    betas = (*betas, *_betas_of(request, dialect))
    if given.get("mcp_servers") and not any(beta.startswith("mcp-client-") for beta in betas):
        betas = (*betas, _MCP_BETA)
    body: dict[str, object] = {
        "model": endpoint.model_id,
        **settings_of(request, dialect, given, warnings),
    }
    config = {
        **effort_of(request, dialect, warnings),
        **output_format(request.response_format, dialect, warnings),
        **_members(given.pop("output_config", None)),
    }
    if config:
        body["output_config"] = config
    if stream:
        body["stream"] = True
    is_offered = any(tool.data for tool in tools)
    choice = _tool_choice(request, alone=alone) if is_offered else None
    if choice is not None:
        body["tool_choice"] = choice
    body.update(given)
    system, turns = _prompt(request, dialect, warnings)
    for tool in tools:
        warnings += tool.warnings
    headers = _headers(request, endpoint, betas, stream=stream)
    lists = [("messages", turns), ("system", system), ("tools", tools)]
    http = HttpRequest("POST", endpoint.under("messages"), headers, request_body(lists, body))
    return WireCall(http, tuple(dict.fromkeys(warnings)))


def _names(value: JsonValue) -> tuple[str, ...]:
    if isinstance(value, tuple):
        return tuple(name for name in value if isinstance(name, str))
    return (value,) if isinstance(value, str) else ()


def _members(value: JsonValue) -> Mapping[str, object]:
    return value if isinstance(value, JsonObject) else {}


def _headers(
    request: ModelRequest,
    endpoint: Endpoint[MessagesDialect],
    betas: tuple[str, ...],
    *,
    stream: bool,
) -> tuple[tuple[str, str], ...]:
    """The later of two headers of one name wins, but for betas, which add up."""
    headers = request_headers(request, endpoint, stream=stream)
    for name, value in (*endpoint.headers, *request.headers):
        if name.lower() == "anthropic-beta":
            betas = (*betas, *(beta.strip() for beta in value.split(",")))
    if betas:
        headers["anthropic-beta"] = ",".join(dict.fromkeys(betas))
    return tuple(headers.items())


# --- the prompt -------------------------------------------------------------------------------


def _prompt(
    request: ModelRequest, dialect: MessagesDialect, warnings: list[ModelWarning]
) -> tuple[list[Fragment], list[Fragment]]:
    """The blocks of the system prompt, and the turns: neighbours of one role are one turn."""
    system: list[Fragment] = []
    if request.instructions.strip():
        system.append(Fragment(to_wire({"type": "text", "text": request.instructions})))
    told, turns = alternating_turns(request.messages, message_fragments, dialect, warnings)
    return [*system, *told], turns


# --- tools ------------------------------------------------------------------------------------


def _tool(tool: ToolDefinition, dialect: MessagesDialect) -> Fragment:
    extra = options_of(tool.provider_options, dialect.provider)
    if extra.get("type", "custom") != "custom":  # defined by the server, which knows the rest
        return Fragment(to_wire({"name": tool.name, **extra}))
    warnings: tuple[ModelWarning, ...] = ()
    value: dict[str, object] = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema.value,
    }
    if tool.strict is not None:
        found = to_dialect(tool.input_schema, "anthropic") if dialect.has_json_schema else None
        match found:
            case Success(translated) if tool.strict:
                value |= {"input_schema": translated.schema.value, "strict": True}
            case None | Failure() if tool.strict:
                reason = (
                    "this model has no strict tools"
                    if found is None
                    else f"its schema has no strict form: {found.failure()}"
                )
                subject = f"strict tool {tool.name}"
                warnings = (ModelWarning("unsupported", subject, reason),)
            case _:
                pass
    if tool.input_examples:
        value["input_examples"] = [example.value for example in tool.input_examples]
    return Fragment(to_wire({**value, **extra}), warnings)


_tool_fragments: FragmentMemo[ToolDefinition, MessagesDialect] = FragmentMemo(_tool)


def _own_tool(tool: ProviderTool, dialect: MessagesDialect) -> Fragment:
    return provider_tool_fragment(tool, dialect.provider, {"name": tool.name})


_own_tool_fragments: FragmentMemo[ProviderTool, MessagesDialect] = FragmentMemo(_own_tool)


def _betas_of(request: ModelRequest, dialect: MessagesDialect) -> Iterator[str]:
    """What has to be asked for before a server knows these tools."""
    kinds = [tool.id.partition(".") for tool in request.provider_tools]
    known = [kind for owner, _, kind in kinds if owner == dialect.provider]
    for tool in request.tools:
        options = options_of(tool.provider_options, dialect.provider)
        kind = options.get("type")
        known += [kind] if isinstance(kind, str) else []
        if tool.input_examples or "allowed_callers" in options:
            yield _EXAMPLES_BETA
    for kind in known:
        own = OWN_TOOLS.get(kind)
        if own is not None and own.beta is not None:
            yield own.beta


def _tool_choice(request: ModelRequest, *, alone: bool) -> dict[str, object] | None:
    """How tools are chosen; silence means that the model decides."""
    choice: dict[str, object]
    match request.tool_choice:
        case NamedTool(name):
            choice = {"type": "tool", "name": name}
        case "required":
            choice = {"type": "any"}
        case "none":
            return {"type": "none"}
        case "auto" if not alone:
            return None
        case _:
            choice = {"type": "auto"}
    return {**choice, "disable_parallel_tool_use": True} if alone else choice
