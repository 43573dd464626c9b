"""A model request as an HTTP request: pure, and cheap for a history that only grows."""

from collections.abc import Iterator, Mapping

from attrs import evolve

from stepfold.loop import convert_to_model_prompt
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers._json import is_object
from stepfold.providers._reasoning import absent_settings, drop_refused, sent_effort
from stepfold.providers._requests import given_options, request_body, request_headers
from stepfold.providers._strict import fits_strict_mode
from stepfold.providers._wire import (
    Fragment,
    FragmentMemo,
    options_of,
    provider_tool_fragment,
    to_wire,
)
from stepfold.providers.responses._options import ResponsesDialect
from stepfold.providers.responses._prompt import (
    fragment_of_message,
    kinds_of_calls,
    message_fragments,
)
from stepfold.transport import HttpRequest
from stepfold.values import (
    CallSettings,
    JsonFormat,
    JsonObject,
    JsonValue,
    ModelRequest,
    ModelWarning,
    NamedTool,
    ProviderTool,
    ToolDefinition,
    ToolMessage,
    ToolResult,
)

_OURS = frozenset({"input", "stream"})
_SAMPLING = ("temperature", "top_p")
# What a tool of the provider gives only if it is asked for, and what a later turn has need of.
_INCLUDES = {
    "code_interpreter": "code_interpreter_call.outputs",
    "web_search": "web_search_call.action.sources",
}


def encode_request(
    request: ModelRequest, endpoint: Endpoint[ResponsesDialect], *, stream: bool = False
) -> WireCall:
    """Encode a request. The prompt is put in order first.

    `provider_options` of the request, under the provider's name, are members of the body as the
    wire names them (`service_tier`, `parallel_tool_calls`, `prompt_cache_key` …) and win over
    settings; members of `reasoning` and `text` are added to what settings say, those of `include`
    and `tools` to ours. Nothing is stored by the server unless `store` is true there.

    Options of a tool are members of its definition; a `type` among them makes it a tool of
    another kind, of which only the options are sent. `image_detail` of an image is its `detail`.

    Raises:
        UsageError: for options that are no objects, or that would change `input` or `stream`.
    """
    warnings: list[ModelWarning] = []
    given = given_options(request, endpoint.dialect.provider, _OURS)
    dialect = evolve(endpoint.dialect, stores=given.get("store") is True)
    for name in ("previous_response_id", "conversation"):
        if given.get(name) is not None:
            message = "the whole history is sent beside what the server remembers"
            warnings.append(ModelWarning("compatibility", name, message))
    own_tools = given.pop("tools", ())
    hosted = own_tools if isinstance(own_tools, tuple) else ()
    body: dict[str, object] = {
        "model": endpoint.model_id,
        **({"instructions": request.instructions} if request.instructions else {}),
        "store": False,
        **_settings(request.settings, dialect, warnings),
        **_format(request.response_format),
    }
    if stream:
        body["stream"] = True
    tools = [_tool_fragments(tool, dialect) for tool in request.tools]
    tools += [_own_tool_fragments(tool, dialect) for tool in request.provider_tools]
    tools += [Fragment(to_wire(tool)) for tool in hosted]
    is_offered = any(tool.data for tool in tools)
    if is_offered and request.tool_choice != "auto":  # which is what servers take silence for
        body["tool_choice"] = _tool_choice(request, dialect.provider)
    kinds = (*_kinds(request.provider_tools, dialect), *_types(hosted))
    included = _included(given.pop("include", ()), kinds, dialect)
    if included:
        body["include"] = included
    for name, value in given.items():
        body[name] = _merged(body.get(name), value)
    messages = _messages(request, dialect)
    for fragment in (*messages, *tools):
        warnings += fragment.warnings
    headers = request_headers(request, endpoint, stream=stream)
    http = HttpRequest(
        "POST",
        endpoint.under("responses"),
        tuple(headers.items()),
        request_body([("input", messages), ("tools", tools)], body),
    )
    return WireCall(http, tuple(dict.fromkeys(warnings)))


def _messages(request: ModelRequest, dialect: ResponsesDialect) -> list[Fragment]:
    prompt = convert_to_model_prompt(request.messages)
    kinds = kinds_of_calls(prompt, dialect.provider)
    fragments: list[Fragment] = []
    for message in prompt:
        is_special = bool(kinds) and isinstance(message, ToolMessage)
        if is_special and any(
            isinstance(part, ToolResult) and part.tool_call_id in kinds for part in message.content
        ):
            fragments.append(fragment_of_message(message, dialect, kinds))
        else:
            fragments.append(message_fragments(message, dialect))
    return fragments


def _kinds(tools: tuple[ProviderTool, ...], dialect: ResponsesDialect) -> Iterator[str]:
    for tool in tools:
        owner, _, kind = tool.id.partition(".")
        if owner == dialect.provider:
            yield kind


def _types(hosted: tuple[JsonValue, ...]) -> Iterator[str]:
    for tool in hosted:
        kind = tool.get("type") if isinstance(tool, JsonObject) else None
        if isinstance(kind, str):
            yield kind


def _included(
    given: JsonValue, kinds: tuple[str, ...], dialect: ResponsesDialect
) -> list[JsonValue]:
    included: list[JsonValue] = []
    if dialect.reasons and not dialect.stores:
        included.append("reasoning.encrypted_content")
    if dialect.shows_results:
        included += [_INCLUDES[kind] for kind in kinds if kind in _INCLUDES]
    included += given if isinstance(given, tuple) else ()
    return list(dict.fromkeys(included))


def _merged(before: object, value: JsonValue) -> object:
    if is_object(before) and isinstance(value, JsonObject):
        return {**before, **value}
    return value


# --- settings ---------------------------------------------------------------------------------


def _settings(
    settings: CallSettings, dialect: ResponsesDialect, warnings: list[ModelWarning]
) -> dict[str, object]:
    body: dict[str, object] = {
        "max_output_tokens": settings.max_output_tokens,
        "temperature": settings.temperature,
        "top_p": settings.top_p,
    }
    effort = sent_effort(settings, dialect.efforts, warnings)
    if effort is not None:
        body["reasoning"] = {"effort": effort}
    absent = {
        "top_k": settings.top_k,
        "presence_penalty": settings.presence_penalty,
        "frequency_penalty": settings.frequency_penalty,
        "stop_sequences": settings.stop_sequences or None,
        "seed": settings.seed,
    }
    warnings += absent_settings(absent, "the Responses protocol has")
    drop_refused(body, _SAMPLING, settings, dialect.sampling, warnings)
    return {name: value for name, value in body.items() if value is not None}


def _format(wanted: JsonFormat | None) -> dict[str, object]:
    if wanted is None:
        return {}
    if wanted.schema is None:
        return {"text": {"format": {"type": "json_object"}}}
    schema = wanted.schema.value
    described: dict[str, object] = {
        "type": "json_schema",
        "name": wanted.name or "response",
        "schema": schema,
        "strict": fits_strict_mode(schema),
    }
    if wanted.description is not None:
        described["description"] = wanted.description
    return {"text": {"format": described}}


# --- tools ------------------------------------------------------------------------------------


def _tool(tool: ToolDefinition, dialect: ResponsesDialect) -> Fragment:
    extra: Mapping[str, JsonValue] = options_of(tool.provider_options, dialect.provider)
    warnings: list[ModelWarning] = []
    if tool.input_examples:
        message = f"the Responses protocol has no place for the examples of {tool.name}"
        warnings.append(ModelWarning("unsupported", "input_examples", message))
    kind = extra.get("type", "function")
    if kind == "custom":
        custom = {"type": kind, "name": tool.name, "description": tool.description}
        return Fragment(to_wire({**custom, **extra}), tuple(warnings))
    if kind != "function":
        return Fragment(to_wire(extra), tuple(warnings))
    schema = tool.input_schema.value
    is_strict = bool(tool.strict) and fits_strict_mode(schema)
    if tool.strict and not is_strict:
        message = f"the schema of {tool.name} does not fit strict mode: it was sent without"
        warnings.append(ModelWarning("compatibility", "strict", message))
    definition: dict[str, object] = {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": schema,
        # Said in any case: a server that is not told rewrites the schema until it fits.
        "strict": is_strict,
    }
    return Fragment(to_wire({**definition, **extra}), tuple(warnings))


_tool_fragments: FragmentMemo[ToolDefinition, ResponsesDialect] = FragmentMemo(_tool)


def _own_tool(tool: ProviderTool, dialect: ResponsesDialect) -> Fragment:
    return provider_tool_fragment(tool, dialect.provider)


_own_tool_fragments: FragmentMemo[ProviderTool, ResponsesDialect] = FragmentMemo(_own_tool)


def _tool_choice(request: ModelRequest, provider: str) -> object:
    match request.tool_choice:
        case NamedTool(name):
            return _named_choice(name, request, provider)
        case choice:
            return choice


def _named_choice(name: str, request: ModelRequest, provider: str) -> Mapping[str, object]:
    """The choice of one tool: one that the server defines goes by its type."""
    for tool in request.tools:
        if tool.name == name:
            kind = options_of(tool.provider_options, provider).get("type", "function")
            is_named = kind in {"function", "custom"}
            return {"type": kind, "name": name} if is_named else {"type": kind}
    for own in request.provider_tools:
        if own.name == name:
            kind = own.id.rpartition(".")[2]
            args = own.args.value
            label = args.get("server_label") if isinstance(args, JsonObject) else None
            return {"type": kind, **({"server_label": label} if kind == "mcp" and label else {})}
    return {"type": name}
