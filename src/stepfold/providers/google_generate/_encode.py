"""A model request as an HTTP request: pure, and cheap for a history that only grows."""

from stepfold.loop import convert_to_model_prompt
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._google import google_path
from stepfold.providers._http_caller import WireCall
from stepfold.providers._requests import given_options, request_body, request_headers
from stepfold.providers._wire import Fragment, FragmentMemo, options_of, to_wire
from stepfold.providers.google_generate._options import GoogleDialect
from stepfold.providers.google_generate._prompt import message_fragments
from stepfold.providers.google_generate._settings import generation_config
from stepfold.transport import HttpRequest
from stepfold.values import (
    JsonObject,
    ModelRequest,
    ModelWarning,
    NamedTool,
    ProviderTool,
    SystemMessage,
    ToolDefinition,
)

_OURS = frozenset({"contents", "systemInstruction"})


def encode_request(
    request: ModelRequest, endpoint: Endpoint[GoogleDialect], *, stream: bool = False
) -> WireCall:
    """Encode a request. The prompt is put in order first.

    `provider_options` of the request, under the provider's name, are members of the body as the
    wire names them (`safetySettings`, `cachedContent`, `labels` …) and win over settings; members
    of `generationConfig` and `toolConfig` are added to ours, and `tools` to the tools. A tool of
    the provider's is `google.<member>`, such as `google.googleSearch`, with its arguments.

    Raises:
        UsageError: for options that are no objects, or that would change `contents` or
            `systemInstruction`.
    """
    dialect = endpoint.dialect
    warnings: list[ModelWarning] = []
    given = given_options(request, dialect.provider, _OURS)
    functions = [_declarations(tool, dialect) for tool in request.tools]
    tools = [Fragment(b'{"functionDeclarations":[%b]}' % b",".join(f.data for f in functions))]
    tools = tools if functions else []
    own_tools = given.pop("tools", ())
    hosted = [_hosted(tool, dialect) for tool in request.provider_tools]
    if isinstance(own_tools, tuple):
        hosted += [Fragment(to_wire(tool)) for tool in own_tools]
    # The mode `NONE` is about functions alone.
    tools += hosted if request.tool_choice != "none" else []
    body: dict[str, object] = {}
    config = generation_config(request, dialect, warnings)
    is_mixed = bool(functions) and any(tool.data for tool in hosted)
    if is_mixed and not dialect.mixes_tools:
        message = "this model takes functions or tools of Google's, and is sent both"
        warnings.append(ModelWarning("compatibility", "functions beside provider tools", message))
    is_mixed = is_mixed and dialect.mixes_tools
    choice = _tool_choice(request, is_mixed=is_mixed) if functions else {}
    if is_mixed and not _is_vertex(endpoint):
        choice["includeServerSideToolInvocations"] = True
    for name, ours in (("generationConfig", config), ("toolConfig", choice)):
        more = given.pop(name, None)
        merged = {**ours, **(more if isinstance(more, JsonObject) else {})}
        if merged:
            body[name] = merged
    body.update(given)
    system, contents = _prompt(request, dialect)
    for fragment in (*system, *contents, *tools):
        if fragment.warnings:
            warnings += fragment.warnings
    if any(part.data for part in system):
        parts = b",".join(part.data for part in system if part.data)
        system = [Fragment(b'{"parts":[%b]}' % parts)]
    said = request_body([("contents", contents), ("tools", tools)], body)
    if system and system[0].data:
        said = b'{"systemInstruction":%b,%b' % (system[0].data, said[1:])
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    http = HttpRequest(
        "POST",
        endpoint.under(google_path(endpoint.model_id, method)),
        tuple(request_headers(request, endpoint, stream=stream).items()),
        said,
    )
    return WireCall(http, tuple(dict.fromkeys(warnings)))


def _prompt(request: ModelRequest, dialect: GoogleDialect) -> tuple[list[Fragment], list[Fragment]]:
    """The parts of the system prompt, and the contents."""
    system: list[Fragment] = []
    contents: list[Fragment] = []
    if request.instructions.strip():
        system.append(Fragment(to_wire({"text": request.instructions})))
    for message in convert_to_model_prompt(request.messages):
        fragment = message_fragments(message, dialect)
        (system if isinstance(message, SystemMessage) else contents).append(fragment)
    return system, contents


# --- tools ------------------------------------------------------------------------------------


def _declaration(tool: ToolDefinition, dialect: GoogleDialect) -> Fragment:
    value: dict[str, object] = {"name": tool.name, "description": tool.description}
    schema = tool.input_schema.value
    if not isinstance(schema, JsonObject) or schema.get("properties"):
        value["parametersJsonSchema"] = schema
    return Fragment(to_wire({**value, **options_of(tool.provider_options, dialect.provider)}))


_declarations: FragmentMemo[ToolDefinition, GoogleDialect] = FragmentMemo(_declaration)


def _hosted(tool: ProviderTool, dialect: GoogleDialect) -> Fragment:
    owner, _, member = tool.id.partition(".")
    if owner != dialect.provider or not member:
        message = f"it is not one of {dialect.provider}"
        return Fragment(b"", (ModelWarning("unsupported", f"provider tool {tool.id}", message),))
    return Fragment(to_wire({member: tool.args.value}))


def _is_vertex(endpoint: Endpoint[GoogleDialect]) -> bool:
    return endpoint.base_url.rstrip("/").endswith("/publishers/google")


def _tool_choice(request: ModelRequest, *, is_mixed: bool) -> dict[str, object]:
    """How tools are chosen; silence means that the model decides.

    Arguments are held to their schemas where a tool asks for it, and beside tools of Google's,
    where the mode has to be said.
    """
    match request.tool_choice:
        case NamedTool(name):
            calling = {"mode": "ANY", "allowedFunctionNames": [name]}
        case "required":
            calling = {"mode": "ANY"}
        case "none":
            calling = {"mode": "NONE"}
        case _ if is_mixed or any(tool.strict for tool in request.tools):
            calling = {"mode": "VALIDATED"}
        case _:
            return {}
    return {"functionCallingConfig": calling}
