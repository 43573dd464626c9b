"""Arguments for a tool, made from its JSON Schema: simple ones that it accepts.

The first guess takes the first candidate everywhere. The tool says by JSON pointers what is wrong
with it, and the next candidate is taken there, until nothing is wrong.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, cast, final

from stepfold.loop import Program, ToolSpec
from stepfold.values import UsageError

_Schema: TypeAlias = Mapping[str, object]

_ANYTHING: Final[_Schema] = {}
_DEPTH: Final = 12
_GUESSES: Final = 200
_TEXTS: Final = (
    "",
    "1",
    "2026-01-01",
    "2026-01-01T00:00:00Z",
    "00:00:00",
    "P1D",
    "00000000-0000-4000-8000-000000000000",
    "a@example.org",
    "https://example.org/",
    "192.0.2.1",
    "2001:db8::1",
)


def sample_arguments(tool: ToolSpec) -> str:
    """Simple arguments that a tool accepts, as JSON text.

    Raises:
        UsageError: none were found, as for a schema with a pattern of its own.
    """
    guesses = _Guesses(json.loads(tool.definition.input_schema.text))
    value = guesses.value()
    faults = tool.check(value)
    for _ in range(_GUESSES):
        if not faults:
            return _text(value)
        guesses.avoid([fault.pointer for fault in faults])
        value = guesses.value()
        faults = tool.check(value)
    msg = (
        f"found no arguments that the tool {tool.name} accepts ({faults[0]}): give some, "
        f"arguments={{{tool.name!r}: [{{…}}]}}"
    )
    raise UsageError(msg)


def samples_of(
    program: Program, given: Mapping[str, Sequence[object]]
) -> tuple[tuple[str, str], ...]:
    """Each tool that a model is offered, with arguments: those given, else simple ones.

    Raises:
        UsageError: arguments are given for no tool of the program, or such as it does not accept;
            for a tool without given ones, none are found.
    """
    require_tools(program, given)
    return tuple(
        (name, text)
        for name, tool in program.offered.items()
        for text in samples_of_tool(tool, given.get(name))
    )


def require_tools(program: Program, given: Mapping[str, Sequence[object]]) -> None:
    """Refuse arguments that are given for no tool of the program.

    Raises:
        UsageError: there are such.
    """
    for name in given:
        if name not in program.tools:
            known = ", ".join(program.tools) or "none"
            msg = f"arguments: expected names of tools ({known}), got {name!r}"
            raise UsageError(msg)


def samples_of_tool(tool: ToolSpec, given: Sequence[object] | None) -> tuple[str, ...]:
    """Arguments for a tool, as JSON texts: those given, else simple ones.

    Raises:
        UsageError: it does not accept what is given, or none are given and none are found.
    """
    if given is None:
        return (sample_arguments(tool),)
    for value in given:
        if faults := tool.check(value):
            msg = f"arguments of {tool.name}: {faults[0]}"
            raise UsageError(msg)
    return tuple(map(_text, given))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@final
class _Guesses:
    """A value made from a schema, and which candidate is taken at each JSON pointer."""

    def __init__(self, schema: _Schema) -> None:
        self._root: Final = schema
        self._taken: Final[dict[str, int]] = {}

    def value(self) -> object:
        """The value of the candidates that are taken now."""
        return self._made(self._root, "", _DEPTH)

    def avoid(self, pointers: Sequence[str]) -> None:
        """Take other candidates at these places, from now on."""
        for pointer in pointers:
            self._taken[pointer] = self._taken.get(pointer, 0) + 1

    def _made(self, schema: object, pointer: str, depth: int) -> object:
        return self._value(_mapping(schema), pointer, depth) if depth else None

    def _value(self, schema: _Schema, pointer: str, depth: int) -> object:
        taken = self._taken.get(pointer, 0)
        if "$ref" in schema:
            return self._made(self._resolved(schema["$ref"]), pointer, depth - 1)
        for key in ("anyOf", "oneOf", "type"):
            if several := _sequence(schema.get(key)):
                one = several[taken % len(several)]
                inner = one if key != "type" else {**schema, "type": one}
                return self._made(inner, pointer, depth - 1)
        if parts := _sequence(schema.get("allOf")):
            return self._made(self._merged(parts), pointer, depth - 1)
        match schema.get("type", "object" if "properties" in schema else None):
            case "object":
                return self._object(schema, pointer, depth)
            case "array":
                return self._array(schema, pointer, depth)
            case _:
                options = _scalars(schema)
                return options[taken % len(options)]

    def _object(self, schema: _Schema, pointer: str, depth: int) -> object:
        properties = _mapping(schema.get("properties"))
        value = {
            str(name): self._made(
                properties.get(str(name), _ANYTHING), f"{pointer}/{_token(name)}", depth - 1
            )
            for name in _sequence(schema.get("required"))
        }
        inner = schema.get("additionalProperties", _ANYTHING)
        for index in range(_whole(schema.get("minProperties")) - len(value)):
            name = f"key{index}"
            value[name] = self._made(inner, f"{pointer}/{name}", depth - 1)
        return value

    def _array(self, schema: _Schema, pointer: str, depth: int) -> object:
        first = _sequence(schema.get("prefixItems"))
        count = max(len(first), _whole(schema.get("minItems")))
        items = [*first, *[schema.get("items", _ANYTHING)] * (count - len(first))]
        return [
            self._made(item, f"{pointer}/{index}", depth - 1) for index, item in enumerate(items)
        ]

    def _resolved(self, reference: object) -> object:
        found: object = self._root
        for token in str(reference).removeprefix("#").split("/")[1:]:
            found = _mapping(found).get(token.replace("~1", "/").replace("~0", "~"))
        return found

    def _merged(self, schemas: Sequence[object]) -> _Schema:
        whole: dict[str, object] = {}
        for schema in schemas:
            one = _mapping(schema)
            whole |= _mapping(self._resolved(one["$ref"])) if "$ref" in one else one
        return whole


def _scalars(schema: _Schema) -> Sequence[object]:
    """The candidates for a value that holds no others, simplest first."""
    if "const" in schema:
        return [schema["const"]]
    if options := _sequence(schema.get("enum")):
        return options
    match schema.get("type"):
        case "string":
            length = _whole(schema.get("minLength"))
            return [*(text for text in _TEXTS if len(text) >= length), "a" * max(1, length)]
        case "integer" | "number":
            edges = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
            given = [schema[edge] for edge in edges if edge in schema]
            near = [edge + by for edge in given if isinstance(edge, int) for by in (1, -1)]
            return [0, 1, *given, *near, 0.5]
        case "boolean":
            return [False, True]
        case "null":
            return [None]
        case _:
            return [None, {}, "", 0]


def _token(name: object) -> str:
    return str(name).replace("~", "~0").replace("/", "~1")


def _mapping(value: object) -> _Schema:
    return cast("_Schema", value) if isinstance(value, Mapping) else _ANYTHING


def _sequence(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list) else ()


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
