"""A model request as an HTTP request: pure, and cheap for a history that only grows."""

from collections.abc import Mapping
from urllib.parse import quote

from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers._prompts import alternating_turns
from stepfold.providers._requests import given_options, request_body, request_headers
from stepfold.providers._wire import Fragment, to_wire
from stepfold.providers.bedrock_converse._options import ConverseDialect
from stepfold.providers.bedrock_converse._prompt import message_fragments
from stepfold.providers.bedrock_converse._settings import settings_members
from stepfold.providers.bedrock_converse._tools import tool_config
from stepfold.transport import HttpRequest
from stepfold.values import JsonValue, ModelRequest, ModelWarning

_OURS = frozenset({"messages", "modelId"})
_STREAM = "application/vnd.amazon.eventstream"


def encode_request(
    request: ModelRequest, endpoint: Endpoint[ConverseDialect], *, stream: bool = False
) -> WireCall:
    """Encode a request, unsigned. The prompt is put in order first.

    `provider_options` of the request, under the provider's name, are members of the body as the
    wire names them (`guardrailConfig`, `performanceConfig`, `serviceTier`, `requestMetadata` …)
    and win over settings; those of `inferenceConfig`, `additionalModelRequestFields`,
    `outputConfig` and `toolConfig` are added to ours, and blocks of `system` to the system
    prompt. A `cachePoint` may be in those of messages, parts and tools.

    Raises:
        UsageError: for options that are no objects, or that would change `messages`.
    """
    dialect = endpoint.dialect
    warnings: list[ModelWarning] = []
    given = given_options(request, dialect.provider, _OURS)
    own_system = given.pop("system", ())
    own_tools = _members(given.pop("toolConfig", None))
    fields = _members(given.get("additionalModelRequestFields"))
    config, more, form = settings_members(request, dialect, fields, warnings)
    tools = tool_config(request, dialect, own_tools, warnings)
    body: dict[str, object] = {}
    for name, ours in (
        ("inferenceConfig", config),
        ("additionalModelRequestFields", more),
        ("outputConfig", form),
    ):
        merged = {**ours, **_members(given.pop(name, None))}
        if merged:
            body[name] = merged
    body.update(given)
    said, turns = alternating_turns(request.messages, message_fragments, dialect, warnings)
    instructions = request.instructions
    system = [Fragment(to_wire({"text": instructions}))] if instructions.strip() else []
    system += said
    if isinstance(own_system, tuple):
        system += [Fragment(to_wire(block)) for block in own_system]
    content = request_body([("messages", turns), ("system", system)], body)
    if tools:
        content = content[:-1] + b',"toolConfig":%b}' % tools
    headers = request_headers(request, endpoint, stream=stream, accept=_STREAM if stream else None)
    method = "converse-stream" if stream else "converse"
    url = endpoint.under(f"model/{quote(endpoint.model_id, safe='')}/{method}")
    http = HttpRequest("POST", url, tuple(headers.items()), content)
    return WireCall(http, tuple(dict.fromkeys(warnings)))


def _members(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, Mapping) else {}
