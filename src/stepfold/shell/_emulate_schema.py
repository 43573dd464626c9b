"""The schema of an answer that may be a call: one branch for each thing a model may do.

References within an input schema stay right although the schema moves: what it keeps in `$defs`
moves to the root, under a name that tells the tool, and any other pointer gets the new place in
front of it.
"""

import re
from collections.abc import Mapping
from typing import Final, final
from urllib.parse import unquote

from attrs import field, frozen

from stepfold.values import JsonInput, JsonObject, JsonText, JsonValue, ToolDefinition

_DEFINITIONS: Final = ("$defs", "definitions")
_SCHEMAS_BY_NAME: Final = frozenset(
    {*_DEFINITIONS, "properties", "patternProperties", "dependentSchemas"}
)
_DATA: Final = frozenset({"const", "enum", "default", "examples"})
_OF_A_ROOT: Final = frozenset({*_DEFINITIONS, "$schema", "$id"})

Schema = dict[str, JsonInput]


@final
@frozen(order=False)
class _Move:
    """Where one schema goes: `renamed` gives the new names of its definitions."""

    place: str
    renamed: Mapping[tuple[str, str], str]
    max_string_length: int | None

    def schema(self, value: JsonValue) -> JsonInput:
        """The schema as it has to be in its new place."""
        if not isinstance(value, Mapping):
            return value
        moved = {key: self._member(key, item) for key, item in value.items()}
        limit = self.max_string_length
        if limit is not None and _is_open_string(value):
            shortest = value.get("minLength", 0)
            moved["maxLength"] = max(limit, shortest) if isinstance(shortest, int) else limit
        return moved

    def _member(self, key: str, item: JsonValue) -> JsonInput:
        if key in _DATA:
            return item
        if key == "$ref" and isinstance(item, str):
            return self._reference(item)
        if isinstance(item, Mapping):
            if key in _SCHEMAS_BY_NAME:
                return {name: self.schema(schema) for name, schema in item.items()}
            return self.schema(item)
        if isinstance(item, tuple):
            return [self.schema(schema) for schema in item]
        return item

    def _reference(self, reference: str) -> str:
        if not reference.startswith("#") or reference[1:2] not in {"", "/"}:
            return reference  # to another document, or an anchor
        match reference[1:].split("/", 3):
            case [_, keyword, name, *inner] if (keyword, _plain(name)) in self.renamed:
                return "/".join(("#/$defs", self.renamed[keyword, _plain(name)], *inner))
            case _:
                return self.place + reference[1:]


def _is_open_string(schema: Mapping[str, JsonValue]) -> bool:
    kind = schema.get("type")
    is_string = kind == "string" or (isinstance(kind, tuple) and "string" in kind)
    return is_string and not any(
        bound in schema for bound in ("maxLength", "enum", "const", "format")
    )


@final
@frozen(order=False)
class AnswerForm:
    """What an answer may be. There is at least one branch."""

    tools: tuple[ToolDefinition, ...]
    takes_text: bool
    output: JsonText | None = None
    max_string_length: int | None = field(default=None, kw_only=True)

    def schema(self) -> JsonText:
        """A JSON Schema of one branch for each tool, the output and the answer.

        A single branch stands alone, since not every server takes `anyOf` at the root.
        """
        definitions: Schema = {}
        branches: list[Schema] = []
        is_alone = len(self.tools) + self.takes_text + (self.output is not None) == 1
        for tool in self.tools:
            place = "#" if is_alone else f"#/anyOf/{len(branches)}"
            arguments = self._moved(
                tool.input_schema, f"{place}/properties/arguments", tool.name, definitions
            )
            branches.append(_object(tool={"const": tool.name}, arguments=arguments))
        if self.output is not None:
            place = "#" if is_alone else f"#/anyOf/{len(branches)}"
            output = self._moved(self.output, f"{place}/properties/output", "output", definitions)
            branches.append(_object(output=output))
        if self.takes_text:
            text: Schema = {"type": "string"}
            if self.max_string_length is not None:
                text["maxLength"] = self.max_string_length
            branches.append(_object(answer=text))
        root: Schema = branches[0] if is_alone else {"anyOf": branches}
        if definitions:
            root["$defs"] = definitions
        return JsonText.of(root)

    def _moved(self, schema: JsonText, place: str, owner: str, definitions: Schema) -> JsonInput:
        value = schema.value
        if not isinstance(value, Mapping):
            return value
        found: dict[tuple[str, str], JsonValue] = {}
        for keyword in _DEFINITIONS:
            members = value.get(keyword)
            if isinstance(members, Mapping):
                found.update({(keyword, name): item for name, item in members.items()})
        renamed: dict[tuple[str, str], str] = {}
        for keyword, name in found:
            candidate = f"{_safe(owner)}_{_safe(name)}"
            while candidate in definitions:
                candidate += "_"
            renamed[keyword, name] = candidate
            definitions[candidate] = None  # taken
        move = _Move(place, renamed, self.max_string_length)
        for key, item in found.items():
            definitions[renamed[key]] = move.schema(item)
        kept = {key: item for key, item in value.items() if key not in _OF_A_ROOT}
        return move.schema(JsonObject(kept))


def _object(**properties: JsonInput) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _safe(name: str) -> str:
    """A name that means the same in a pointer, in a URI and in a key."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)


def _plain(segment: str) -> str:
    """What a segment of a JSON pointer in a URI fragment names (RFC 6901)."""
    return unquote(segment).replace("~1", "/").replace("~0", "~")
