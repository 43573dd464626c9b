"""The subset of JSON Schema in which OpenAI's servers follow a schema exactly."""

from collections.abc import Iterable

from stepfold.values import JsonObject, JsonValue

# Keywords that OpenAI's strict mode refuses.
_NOT_STRICT = frozenset(
    {"allOf", "oneOf", "not", "if", "then", "else", "default", "dependentRequired"}
    | {"dependentSchemas", "patternProperties", "prefixItems", "contains", "uniqueItems"}
)


def fits_strict_mode(schema: JsonValue) -> bool:
    """Whether a schema is in the subset that strict mode accepts.

    There every object lists its properties, requires them all and allows no others.
    """
    if isinstance(schema, tuple):
        return all(fits_strict_mode(item) for item in schema)
    if not isinstance(schema, JsonObject):
        return True
    if not _NOT_STRICT.isdisjoint(schema):
        return False
    properties = schema.get("properties")
    names: Iterable[str] = properties if isinstance(properties, JsonObject) else ()
    if isinstance(properties, JsonObject) or schema.get("type") == "object":
        required = schema.get("required", ())
        listed = isinstance(required, tuple) and set(names) <= set(required)
        if schema.get("additionalProperties") is not False or not listed:
            return False
    return all(
        _values_fit(value) if key in {"properties", "$defs", "definitions"} else _fits(key, value)
        for key, value in schema.items()
    )


def _values_fit(named: JsonValue) -> bool:
    return isinstance(named, JsonObject) and all(fits_strict_mode(v) for v in named.values())


def _fits(keyword: str, value: JsonValue) -> bool:
    return keyword in {"const", "enum", "examples"} or fits_strict_mode(value)
