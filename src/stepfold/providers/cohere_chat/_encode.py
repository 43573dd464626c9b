"""A model request as an HTTP request: pure, and cheap for a history that only grows."""

from stepfold.loop import convert_to_model_prompt
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers._requests import given_options, request_body, request_headers
from stepfold.providers._wire import Fragment, FragmentMemo, options_of, to_wire
from stepfold.providers.cohere_chat._options import CohereDialect
from stepfold.providers.cohere_chat._prompt import documents_of, message_fragments
from stepfold.transport import HttpRequest
from stepfold.values import (
    JsonFormat,
    ModelRequest,
    ModelWarning,
    NamedTool,
    ToolDefinition,
)

_OURS = frozenset({"messages", "stream"})


def encode_request(
    request: ModelRequest, endpoint: Endpoint[CohereDialect], *, stream: bool = False
) -> WireCall:
    """Encode a request. The prompt is put in order first.

    `provider_options` of the request, under the provider's name, are members of the body as the
    wire names them (`documents`, `citation_options`, `safety_mode`, `thinking` …) and win over
    settings; `documents` there come before those that files of the prompt make.

    Raises:
        UsageError: for options that are no objects, or that would change `messages` or `stream`.
    """
    dialect = endpoint.dialect
    warnings: list[ModelWarning] = []
    given = given_options(request, dialect.provider, _OURS)
    tools = _tools(request, dialect, warnings)
    body: dict[str, object] = {
        "model": endpoint.model_id,
        "stream": stream,
        **_settings(request, dialect, warnings),
        **_format(request.response_format, warnings, has_tools=bool(tools)),
        **(_choice(request) if tools else {}),
    }
    if tools and any(tool.strict for tool in request.tools):
        body["strict_tools"] = True
    own = given.pop("documents", ())
    documents = [*(own if isinstance(own, tuple) else ()), *documents_of(request.messages)]
    if documents:
        body["documents"] = documents
    body.update(given)
    instructions = request.instructions
    system: dict[str, object] = {"role": "system", "content": instructions}
    messages = [Fragment(to_wire(system))] if instructions.strip() else []
    for message in convert_to_model_prompt(request.messages):
        messages.append(message_fragments(message, dialect))
        warnings += messages[-1].warnings
    http = HttpRequest(
        "POST",
        endpoint.under("chat"),
        tuple(request_headers(request, endpoint, stream=stream).items()),
        request_body([("messages", messages), ("tools", tools)], body),
    )
    return WireCall(http, tuple(dict.fromkeys(warnings)))


def _settings(
    request: ModelRequest, dialect: CohereDialect, warnings: list[ModelWarning]
) -> dict[str, object]:
    settings = request.settings
    body: dict[str, object] = {
        "max_tokens": settings.max_output_tokens,
        "temperature": settings.temperature,
        "p": settings.top_p,
        "k": settings.top_k,
        "presence_penalty": settings.presence_penalty,
        "frequency_penalty": settings.frequency_penalty,
        "stop_sequences": list(settings.stop_sequences) or None,
        "seed": settings.seed,
    }
    effort = settings.reasoning
    if effort is not None and dialect.reasons:
        body["thinking"] = {"type": "disabled" if effort == "none" else "enabled"}
        if effort != "none":
            message = f"{effort} was sent as on: the protocol has budgets, and no efforts"
            warnings.append(ModelWarning("compatibility", "reasoning", message))
    elif effort not in {None, "none"}:
        warnings.append(ModelWarning("unsupported", "reasoning", "this model does not reason"))
    return {name: value for name, value in body.items() if value is not None}


def _format(
    wanted: JsonFormat | None, warnings: list[ModelWarning], *, has_tools: bool
) -> dict[str, object]:
    if wanted is None:
        return {}
    if has_tools:
        message = "the API takes no form of the reply beside tools: only the prompt can ask for it"
        warnings.append(ModelWarning("unsupported", "response_format", message))
        return {}
    form: dict[str, object] = {"type": "json_object"}
    if wanted.schema is not None:
        form["json_schema"] = wanted.schema.value
    return {"response_format": form}


# --- tools ------------------------------------------------------------------------------------


def _tools(
    request: ModelRequest, dialect: CohereDialect, warnings: list[ModelWarning]
) -> list[Fragment]:
    """The tools; where one has to be called, that one alone."""
    for own in request.provider_tools:
        message = "it was left out: this API has no tools of the provider"
        warnings.append(ModelWarning("unsupported", f"provider tool {own.id}", message))
    choice = request.tool_choice
    tools = [
        _tool_fragments(tool, dialect)
        for tool in request.tools
        if not isinstance(choice, NamedTool) or tool.name == choice.tool_name
    ]
    for tool in tools:
        warnings += tool.warnings
    return tools


def _tool(tool: ToolDefinition, dialect: CohereDialect) -> Fragment:
    function: dict[str, object] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema.value,
    }
    warnings: tuple[ModelWarning, ...] = ()
    if tool.input_examples:
        message = f"the protocol has no place for the examples of {tool.name}"
        warnings = (ModelWarning("unsupported", "input_examples", message),)
    extra = options_of(tool.provider_options, dialect.provider)
    return Fragment(to_wire({"type": "function", "function": function, **extra}), warnings)


_tool_fragments: FragmentMemo[ToolDefinition, CohereDialect] = FragmentMemo(_tool)


def _choice(request: ModelRequest) -> dict[str, object]:
    """How tools are chosen; silence means that the model decides."""
    match request.tool_choice:
        case NamedTool() | "required":
            return {"tool_choice": "REQUIRED"}
        case "none":
            return {"tool_choice": "NONE"}
        case _:
            return {}
