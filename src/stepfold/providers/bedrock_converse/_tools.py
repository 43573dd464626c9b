"""Tools and how they are chosen, as Converse says it."""

from collections.abc import Iterator, Mapping, Sequence

from stepfold.providers._requests import request_body
from stepfold.providers._wire import Fragment, FragmentMemo, options_of, to_wire
from stepfold.providers.bedrock_converse._options import ConverseDialect
from stepfold.providers.bedrock_converse._prompt import cache_points
from stepfold.schema import to_dialect
from stepfold.values import (
    AssistantMessage,
    Failure,
    JsonValue,
    Message,
    ModelRequest,
    ModelWarning,
    NamedTool,
    ProviderTool,
    Success,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
)

Members = dict[str, object]


def tool_config(
    request: ModelRequest,
    dialect: ConverseDialect,
    given: Mapping[str, JsonValue],
    warnings: list[ModelWarning],
) -> bytes:
    """The `toolConfig`; nothing without tools.

    The API refuses a prompt that holds calls where no tools are declared. There they are declared
    by the names alone.
    """
    tools = [_tool_fragments(tool, dialect) for tool in request.tools]
    tools += [_own_tool_fragments(tool, dialect) for tool in request.provider_tools]
    own = given.get("tools", ())
    tools += [Fragment(to_wire(tool)) for tool in own] if isinstance(own, tuple) else []
    used = tuple(dict.fromkeys(_names_in(request.messages)))
    if request.tool_choice == "none" and not used:
        return b""
    if request.tool_choice == "none":
        message = "the API takes no such choice where the prompt holds calls: one may come"
        warnings.append(ModelWarning("compatibility", "tool_choice", message))
    if used and not any(tool.data for tool in tools):
        message = "tools of the prompt were declared by their names: the API demands it"
        warnings.append(ModelWarning("compatibility", "tools", message))
        tools += [_by_name(name) for name in used]
    for tool in tools:
        warnings += tool.warnings
    if not any(tool.data for tool in tools):
        return b""
    rest = {name: value for name, value in given.items() if name != "tools"}
    return request_body([("tools", tools)], {**_choice(request), **rest})


def _names_in(messages: Sequence[Message]) -> Iterator[str]:
    """The tools of the caller's that a prompt speaks of."""
    for message in messages:
        if isinstance(message, AssistantMessage | ToolMessage):
            for part in message.content:
                if isinstance(part, ToolCall | ToolResult) and not part.provider_executed:
                    yield part.tool_name


def _by_name(name: str) -> Fragment:
    schema = {"json": {"type": "object"}}
    return Fragment(to_wire({"toolSpec": {"name": name, "inputSchema": schema}}))


def _tool(tool: ToolDefinition, dialect: ConverseDialect) -> Fragment:
    warnings: list[ModelWarning] = []
    schema: object = tool.input_schema.value
    spec: Members = {"name": tool.name}
    if tool.description:
        spec["description"] = tool.description
    if tool.strict and not dialect.has_json_schema:
        message = "this model has no strict tools"
        warnings.append(ModelWarning("unsupported", f"strict tool {tool.name}", message))
    elif tool.strict and dialect.claude is None:
        spec["strict"] = True
    elif tool.strict:
        match to_dialect(tool.input_schema, "anthropic"):
            case Success(translated):
                schema = translated.schema.value
                spec["strict"] = True
            case Failure(fault):
                message = f"its schema has no strict form: {fault}"
                warnings.append(ModelWarning("unsupported", f"strict tool {tool.name}", message))
    if tool.input_examples:
        message = f"Converse has no place for the examples of {tool.name}"
        warnings.append(ModelWarning("unsupported", "input_examples", message))
    options = options_of(tool.provider_options, dialect.provider)
    spec["inputSchema"] = {"json": schema}
    entries = [{"toolSpec": spec}, *cache_points(options)]
    return Fragment(b",".join(map(to_wire, entries)), tuple(warnings))


_tool_fragments: FragmentMemo[ToolDefinition, ConverseDialect] = FragmentMemo(_tool)


def _own_tool(tool: ProviderTool, dialect: ConverseDialect) -> Fragment:
    owner, _, name = tool.id.partition(".")
    if owner != dialect.provider or not name:
        message = f"it was left out: this is {dialect.provider}"
        return Fragment(b"", (ModelWarning("unsupported", f"provider tool {tool.id}", message),))
    return Fragment(to_wire({"systemTool": {"name": name}}))


_own_tool_fragments: FragmentMemo[ProviderTool, ConverseDialect] = FragmentMemo(_own_tool)


def _choice(request: ModelRequest) -> Members:
    """How tools are chosen; silence means that the model decides."""
    match request.tool_choice:
        case NamedTool(name):
            return {"toolChoice": {"tool": {"name": name}}}
        case "required":
            return {"toolChoice": {"any": {}}}
        case _:
            return {}
