"""A model request as an HTTP request: pure, and cheap for a history that only grows."""

from collections.abc import Mapping

from stepfold.loop import convert_to_model_prompt
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers._reasoning import drop_refused, sent_effort
from stepfold.providers._requests import given_options, request_body, request_headers
from stepfold.providers._strict import fits_strict_mode
from stepfold.providers._wire import (
    Fragment,
    FragmentMemo,
    options_of,
    provider_tool_fragment,
    to_wire,
)
from stepfold.providers.openai_chat._options import ChatDialect
from stepfold.providers.openai_chat._prompt import message_fragments
from stepfold.transport import HttpRequest
from stepfold.values import (
    CallSettings,
    JsonFormat,
    JsonValue,
    ModelRequest,
    ModelWarning,
    NamedTool,
    ProviderTool,
    ToolDefinition,
)

_OURS = frozenset({"messages", "stream"})
_SAMPLING = ("temperature", "top_p", "presence_penalty", "frequency_penalty")


def encode_request(
    request: ModelRequest, endpoint: Endpoint[ChatDialect], *, stream: bool = False
) -> WireCall:
    """Encode a request. The prompt is put in order first.

    `provider_options` of the request, under the provider's name, are members of the body as the
    wire names them (`service_tier`, `logprobs`, `parallel_tool_calls` …) and win over settings;
    `tools` there are added to the tools. Those of messages, parts and tools are added to theirs;
    `image_detail` of an image is its `detail`.

    Raises:
        UsageError: for options that are no objects, or that would change `messages` or `stream`.
    """
    dialect = endpoint.dialect
    warnings: list[ModelWarning] = []
    given = given_options(request, dialect.provider, _OURS)
    own_tools = given.pop("tools", ())
    body: dict[str, object] = {
        "model": endpoint.model_id,
        **_settings(request.settings, dialect, warnings),
        **_format(request.response_format, dialect, warnings),
    }
    if stream:
        body["stream"] = True
        if dialect.sends_usage:
            body["stream_options"] = {"include_usage": True}
    tools = [_tool_fragments(tool, dialect) for tool in request.tools]
    tools += [_own_tool_fragments(tool, dialect) for tool in request.provider_tools]
    if isinstance(own_tools, tuple):
        tools += [Fragment(to_wire(tool)) for tool in own_tools]
    is_offered = any(tool.data for tool in tools)
    if is_offered and request.tool_choice != "auto":  # which is what servers take silence for
        body["tool_choice"] = _tool_choice(request, dialect)
    body.update(given)
    messages = _messages(request, dialect)
    for fragment in (*messages, *tools):
        if fragment.warnings:
            warnings += fragment.warnings
    headers = request_headers(request, endpoint, stream=stream)
    http = HttpRequest(
        "POST",
        endpoint.under("chat/completions"),
        tuple(headers.items()),
        request_body([("messages", messages), ("tools", tools)], body),
    )
    return WireCall(http, tuple(dict.fromkeys(warnings)))


def _messages(request: ModelRequest, dialect: ChatDialect) -> list[Fragment]:
    fragments: list[Fragment] = []
    if request.instructions:
        system = {"role": dialect.system_role, "content": request.instructions}
        fragments.append(Fragment(to_wire(system)))
    for message in convert_to_model_prompt(request.messages):
        fragments.append(message_fragments(message, dialect))  # noqa: PERF401 - plain beats fast
    return fragments


# --- settings ---------------------------------------------------------------------------------


def _settings(
    settings: CallSettings, dialect: ChatDialect, warnings: list[ModelWarning]
) -> dict[str, object]:
    body: dict[str, object] = {
        dialect.token_limit: settings.max_output_tokens,
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "presence_penalty": settings.presence_penalty,
        "frequency_penalty": settings.frequency_penalty,
        "stop": list(settings.stop_sequences) or None,
        dialect.seed_name: settings.seed,
        "reasoning_effort": sent_effort(settings, dialect.efforts, warnings),
    }
    if settings.top_k is not None:
        message = "chat completions have no such setting; some servers take it in provider_options"
        warnings.append(ModelWarning("unsupported", "top_k", message))
    drop_refused(body, _SAMPLING, settings, dialect.sampling, warnings)
    return {name: value for name, value in body.items() if value is not None}


# --- output format ----------------------------------------------------------------------------


def _format(
    wanted: JsonFormat | None, dialect: ChatDialect, warnings: list[ModelWarning]
) -> dict[str, object]:
    if wanted is None:
        return {}
    if wanted.schema is None or not dialect.has_json_schema:
        if wanted.schema is not None:
            warnings.append(
                ModelWarning("unsupported", "response_format", "the schema was not sent")
            )
        return {"response_format": {"type": "json_object"}}
    schema = wanted.schema.value
    strict = fits_strict_mode(schema) if dialect.strict is None else dialect.strict
    described: dict[str, object] = {
        "name": wanted.name or "response",
        "schema": schema,
        "strict": strict,
    }
    if wanted.description is not None:
        described["description"] = wanted.description
    return {"response_format": {"type": "json_schema", "json_schema": described}}


# --- tools ------------------------------------------------------------------------------------


def _tool(tool: ToolDefinition, dialect: ChatDialect) -> Fragment:
    function: dict[str, object] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema.value,
    }
    if tool.strict is not None:
        function["strict"] = tool.strict
    warnings: tuple[ModelWarning, ...] = ()
    if tool.input_examples:
        message = f"chat completions have no place for the examples of {tool.name}"
        warnings = (ModelWarning("unsupported", "input_examples", message),)
    extra: Mapping[str, JsonValue] = options_of(tool.provider_options, dialect.provider)
    return Fragment(to_wire({"type": "function", "function": function, **extra}), warnings)


_tool_fragments: FragmentMemo[ToolDefinition, ChatDialect] = FragmentMemo(_tool)


def _own_tool(tool: ProviderTool, dialect: ChatDialect) -> Fragment:
    if dialect.has_provider_tools:
        return provider_tool_fragment(tool, dialect.provider)
    message = "it was left out: these chat completions have no tools of the provider"
    return Fragment(b"", (ModelWarning("unsupported", f"provider tool {tool.id}", message),))


_own_tool_fragments: FragmentMemo[ProviderTool, ChatDialect] = FragmentMemo(_own_tool)


def _tool_choice(request: ModelRequest, dialect: ChatDialect) -> object:
    match request.tool_choice:
        case NamedTool(name):
            return {"type": "function", "function": {"name": name}}
        case "required":
            return dialect.must_call
        case choice:
            return choice
