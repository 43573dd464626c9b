"""A model request as an HTTP request: pure, and cheap for a history that only grows."""

from collections.abc import Mapping

from stepfold.loop import convert_to_model_prompt
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers._requests import request_body, request_headers
from stepfold.providers._wire import Fragment, FragmentMemo, to_wire
from stepfold.providers.ai_gateway._options import GatewayDialect, passed_options
from stepfold.providers.ai_gateway._prompt import message_fragments
from stepfold.providers.ai_gateway._tools import defined_tool, provider_tool_of
from stepfold.transport import HttpRequest
from stepfold.values import (
    CallSettings,
    JsonFormat,
    ModelRequest,
    ModelWarning,
    NamedTool,
    ProviderTool,
    ToolDefinition,
)

SPECIFICATION = "4"


def encode_request(
    request: ModelRequest, endpoint: Endpoint[GatewayDialect], *, stream: bool = False
) -> WireCall:
    """Encode a request. The prompt is put in order first.

    `provider_options` of the request, its messages, parts and tools are passed on as they are,
    for every provider: `gateway` for the gateway itself (`order`, `only`, `models` …), and those
    of the provider behind it as the AI SDK names them. Tools that a provider runs or defines go as
    the AI SDK names them too. Headers of the request go on to the provider.

    Raises:
        UsageError: the options of the request are no object.
    """
    warnings: list[ModelWarning] = []
    owner = endpoint.model_id.partition("/")[0]
    tools = [_tool_fragment(tool, owner) for tool in request.tools]
    tools += [_own_tool_fragment(tool, owner) for tool in request.provider_tools]
    body: dict[str, object] = {
        **_settings(request.settings),
        "toolChoice": _tool_choice(request),
        **_format(request.response_format),
        **passed_options(request.provider_options),
        **({"headers": dict(request.headers)} if request.headers else {}),
        **({"includeRawChunks": False} if stream else {}),
    }
    prompt = _prompt(request, endpoint.dialect)
    for fragment in (*prompt, *tools):
        warnings += fragment.warnings
    headers = request_headers(request, endpoint, stream=stream) | {
        "ai-language-model-specification-version": SPECIFICATION,
        "ai-language-model-id": endpoint.model_id,
        "ai-language-model-streaming": "true" if stream else "false",
    }
    http = HttpRequest(
        "POST",
        endpoint.under("language-model"),
        tuple(headers.items()),
        request_body([("prompt", prompt), ("tools", tools)], body),
    )
    return WireCall(http, tuple(dict.fromkeys(warnings)))


def _prompt(request: ModelRequest, dialect: GatewayDialect) -> list[Fragment]:
    prompt: list[Fragment] = []
    if request.instructions:
        system = {"role": "system", "content": request.instructions}
        prompt.append(Fragment(to_wire(system)))
    messages = convert_to_model_prompt(request.messages)
    return prompt + [message_fragments(message, dialect) for message in messages]


def _settings(settings: CallSettings) -> dict[str, object]:
    said: dict[str, object] = {
        "maxOutputTokens": settings.max_output_tokens,
        "temperature": settings.temperature,
        "topP": settings.top_p,
        "topK": settings.top_k,
        "presencePenalty": settings.presence_penalty,
        "frequencyPenalty": settings.frequency_penalty,
        "stopSequences": list(settings.stop_sequences) or None,
        "seed": settings.seed,
        "reasoning": settings.reasoning,
    }
    return {name: value for name, value in said.items() if value is not None}


def _format(wanted: JsonFormat | None) -> Mapping[str, object]:
    if wanted is None:
        return {}
    said: dict[str, object] = {
        "type": "json",
        "schema": None if wanted.schema is None else wanted.schema.value,
        "name": wanted.name,
        "description": wanted.description,
    }
    return {"responseFormat": {name: value for name, value in said.items() if value is not None}}


# --- tools ------------------------------------------------------------------------------------


def _tool(tool: ToolDefinition, owner: str) -> Fragment:
    defined = defined_tool(tool, owner)
    if defined is not None:
        return Fragment(to_wire(defined))
    said: dict[str, object] = {
        "type": "function",
        "name": tool.name,
        "description": tool.description or None,
        "inputSchema": tool.input_schema.value,
        "inputExamples": [{"input": example.value} for example in tool.input_examples] or None,
        "strict": tool.strict,
        "providerOptions": None if tool.provider_options is None else tool.provider_options.value,
    }
    return Fragment(to_wire({name: value for name, value in said.items() if value is not None}))


_tool_fragment: FragmentMemo[ToolDefinition, str] = FragmentMemo(_tool)


def _own_tool(tool: ProviderTool, _: str) -> Fragment:
    return Fragment(to_wire(provider_tool_of(tool)))


_own_tool_fragment: FragmentMemo[ProviderTool, str] = FragmentMemo(_own_tool)


def _tool_choice(request: ModelRequest) -> Mapping[str, object]:
    match request.tool_choice:
        case NamedTool(name):
            return {"type": "tool", "toolName": name}
        case choice:
            return {"type": choice}
