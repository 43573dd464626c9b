"""Tools that providers have of their own, in the words of the AI SDK.

There, members of a definition are in camel case, a few ids differ from the types on the wire, and
some members are nested otherwise. What users name themselves (headers, attributes, schemas) keeps
its names.
"""

from collections.abc import Callable, Mapping
from typing import Final

from stepfold.providers._json import is_object, object_of
from stepfold.values import JsonObject, JsonValue, ProviderTool, ToolDefinition

# Ids that are not the provider and the type on the wire.
_IDS: Final = {
    "anthropic.tool_search_tool_bm25_20251119": "anthropic.tool_search_bm25_20251119",
    "anthropic.tool_search_tool_regex_20251119": "anthropic.tool_search_regex_20251119",
    "google.codeExecution": "google.code_execution",
    "google.enterpriseWebSearch": "google.enterprise_web_search",
    "google.fileSearch": "google.file_search",
    "google.googleMaps": "google.google_maps",
    "google.googleSearch": "google.google_search",
    "google.retrieval": "google.vertex_rag_store",
    "google.urlContext": "google.url_context",
    "xai.code_interpreter": "xai.code_execution",
}
_AS_THEY_ARE: Final = frozenset({"attributes", "filters", "headers", "parameters"})
_KINDS: Final = {
    "container_auto": "containerAuto",
    "container_reference": "containerReference",
    "skill_reference": "skillReference",
}


def provider_tool_of(tool: ProviderTool) -> Mapping[str, object]:
    """A tool that a provider runs."""
    return _said(tool.id, tool.name, tool.args.value)


def defined_tool(tool: ToolDefinition, owner: str) -> Mapping[str, object] | None:
    """A function that is a tool which the owner of the model defines; `None` for any other."""
    options = None if tool.provider_options is None else tool.provider_options.value
    own = options.get(owner) if isinstance(options, JsonObject) else None
    kind = own.get("type") if isinstance(own, JsonObject) else None
    if not isinstance(own, JsonObject) or not isinstance(kind, str) or kind == "function":
        return None
    members = {name: value for name, value in own.items() if name not in {"type", "name"}}
    return _said(f"{owner}.{kind}", tool.name, JsonObject(members))


def _said(wire_id: str, name: str, args: JsonValue) -> Mapping[str, object]:
    owner, _, kind = wire_id.partition(".")
    said: object = args
    if owner != "gateway" and isinstance(args, JsonObject):
        renamed = _camel(args)
        filters = args.get("filters")
        if kind == "web_search" and isinstance(filters, JsonObject):
            renamed["filters"] = _camel(filters)  # domains, not a comparison of attributes
        reshape = _SHAPES.get(wire_id)
        said = renamed if reshape is None else reshape(renamed)
    return {"type": "provider", "id": _IDS.get(wire_id, wire_id), "name": name, "args": said}


def _camel(value: JsonObject) -> dict[str, object]:
    return {
        _camel_name(name): item if name in _AS_THEY_ARE else _camel_value(item)
        for name, item in value.items()
    }


def _camel_value(value: JsonValue) -> object:
    if isinstance(value, JsonObject):
        return _camel(value)
    if isinstance(value, tuple):
        return [_camel_value(item) for item in value]
    return value


def _camel_name(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.title() for word in others)


# --- members that are nested otherwise --------------------------------------------------------


def _file_search(args: dict[str, object]) -> dict[str, object]:
    ranking = args.pop("rankingOptions", None)
    return args if ranking is None else {**args, "ranking": ranking}


def _code_interpreter(args: dict[str, object]) -> dict[str, object]:
    container = args.get("container")
    if not is_object(container):
        return args
    return {**args, "container": {name: container[name] for name in container if name != "type"}}


def _shell(args: dict[str, object]) -> dict[str, object]:
    place = args.get("environment")
    if not is_object(place):
        return args
    kind = str(place.get("type"))
    return {**args, "environment": {**place, "type": _KINDS.get(kind, kind)}}


def _rag_store(args: dict[str, object]) -> dict[str, object]:
    store = object_of(args.get("vertexRagStore"))
    corpus = object_of(store.get("ragResources")).get("ragCorpus")
    said = {"ragCorpus": corpus, "topK": store.get("similarityTopK")}
    return {name: value for name, value in said.items() if value is not None}


_SHAPES: Final[Mapping[str, Callable[[dict[str, object]], dict[str, object]]]] = {
    "google.retrieval": _rag_store,
    "openai.code_interpreter": _code_interpreter,
    "openai.file_search": _file_search,
    "openai.shell": _shell,
}
