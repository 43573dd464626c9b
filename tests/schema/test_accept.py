"""The compiled checks: JSON Schema's idea of numbers, equality and what a keyword speaks about."""

from typing import Any

import pytest

from stepfold.schema import JsonSchemaForm
from stepfold.schema._accept import Compiler, always, is_multiple
from stepfold.values._json import JsonText


def accepts(schema: object, value: object) -> bool:
    decoder = JsonSchemaForm(JsonText.of(schema)).decoder
    assert decoder.accepts(value) == (not decoder.check(value))
    return decoder.accepts(value)


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        (True, [None, 1, "a", [], {}], []),
        (False, [], [None, {}]),
        ({}, [None, 1, "a", [], {}], []),
        ({"type": "integer"}, [1, 1.0, 10**400, 1e300], [True, 1.5, "1", None]),
        ({"type": "number"}, [1, 1.5], [False, "1"]),
        ({"type": "boolean"}, [True, False], [0, 1, "true"]),
        ({"type": "null"}, [None], [0, "", False]),
        ({"type": ["null", "string"]}, [None, "a"], [1]),
        ({"type": "array"}, [[]], [{}, "a"]),
        ({"type": "object"}, [{}], [[], "a"]),
        ({"type": "integer", "minimum": 2}, [2, 3.0], [1, 2.5, "a"]),
        ({"minimum": 2}, [2, "a", None, True], [1]),
        ({"minimum": 1.5}, [2], [1]),
        ({"exclusiveMinimum": 2, "exclusiveMaximum": 4}, [3], [2, 4]),
        ({"maximum": 2**53}, [2**53], [2**53 + 1]),
        ({"minLength": 1, "maxLength": 2}, ["a", "é😀", 1], ["", "abc"]),
        ({"type": "string", "pattern": "a$"}, ["ba"], ["ab", 1]),
        ({"enum": ["a", "b"]}, ["a"], ["c", 1, []]),
        ({"enum": [1, [True], {"a": 0}]}, [1.0, [True], {"a": 0.0}], [True, [1], {"a": False}]),
        ({"enum": [True]}, [True], [False, 1, ["boolean", 1], [True]]),
        ({"const": {}}, [{}], [[], None]),
        ({"const": None}, [None], [0]),
        ({"items": {"type": "null"}, "maxItems": 1}, [[], [None], "a"], [[1], [None, None]]),
        ({"type": "array", "minItems": 1}, [[1]], [[], {}]),
        ({"type": "array", "maxItems": 1.0}, [[1]], [[1, 2]]),
        ({"items": {"type": "integer"}, "uniqueItems": True}, [[1, 2]], [[1, 1], ["a"]]),
        ({"items": {"type": "integer"}, "contains": {"const": 1}}, [[1]], [[2], [1, "a"]]),
        ({"prefixItems": [{"const": 1}], "items": False}, [[], [1], {}], [[2], [1, 1]]),
        ({"prefixItems": [{"const": 1}]}, [[1, "rest"]], [[2]]),
        ({"prefixItems": [{}], "minItems": 1, "maxItems": 1}, [[2]], [[], [1, 2]]),
        ({"uniqueItems": True}, [[1, True, "1"], []], [[1, 1.0], [[1], [1]], [{}, {}]]),
        ({"contains": {"const": 1}}, [[0, 1]], [[], [0]]),
        ({"contains": {"const": 1}, "minContains": 0, "maxContains": 1}, [[], [1]], [[1, 1]]),
        ({"properties": {"a": {"const": 1}}}, [{}, {"a": 1, "b": 0}, 1], [{"a": 2}]),
        (
            {"type": "object", "properties": {"a": {}}, "required": ["a"]},
            [{"a": 1, "b": 2}],
            [{}, [], "a", None],
        ),
        (
            {"properties": {"a": {}}, "required": ["a"], "additionalProperties": False},
            [{"a": 1}, [], "a", None],
            [{}, {"a": 1, "b": 2}, {"b": 1}],
        ),
        ({"required": ["a"]}, [{"a": None}], [{}]),
        ({"required": ["a"], "maxProperties": 1}, [{"a": 1}], [{"b": 1}]),
        ({"maxProperties": 1}, [{}], [{"a": 1, "b": 1}]),
        ({"additionalProperties": {"const": 1}}, [{}, {"a": 1}], [{"a": 2}]),
        ({"propertyNames": {"pattern": "^a"}}, [{"a": 1}, []], [{"b": 1}]),
        ({"patternProperties": {"^a": {"const": 1}}}, [{"a": 1, "b": 2}], [{"ab": 2}]),
        (
            {
                "properties": {"ab": {"type": "integer"}},
                "patternProperties": {"^a": {"maximum": 1}},
                "additionalProperties": False,
            },
            [{"ab": 1}],
            [{"ab": 2}, {"ab": "a"}, {"b": 1}],
        ),
        ({"minProperties": 1, "maxProperties": 1}, [{"a": 1}], [{}, {"a": 1, "b": 1}]),
        ({"dependentRequired": {"a": ["b"]}}, [{"b": 1}, {"a": 1, "b": 1}], [{"a": 1}]),
        ({"dependentRequired": {"a": ["b", "c"]}}, [{"b": 1}], [{"a": 1, "b": 1}]),
        ({"anyOf": [{"const": 1}]}, [1], [2]),
        ({"anyOf": [{"const": 1}, {"const": 2}, {"const": 3}]}, [1, 3], [4]),
        ({"oneOf": [{"minimum": 1}, {"maximum": 3}]}, [0, 4], [2]),
        ({"allOf": [{"minimum": 1}, {"maximum": 3}, {"multipleOf": 2}]}, [2], [1, 4]),
        ({"not": {"const": 1}}, [2, True], [1]),
        (
            {"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"minimum": 1}},
            ["a", 1, None],
            ["", 0],
        ),
        ({"if": {"type": "string"}}, ["", 0], []),
        ({"format": "date", "title": "t", "x-mine": 1}, ["not a date"], []),
    ],
)
def test_keyword_accepts_and_refuses(
    schema: object, accepted: list[object], refused: list[object]
) -> None:
    assert [value for value in accepted if not accepts(schema, value)] == []
    assert [value for value in refused if accepts(schema, value)] == []


def test_a_schema_is_compiled_once_and_what_restricts_nothing_is_known_as_such() -> None:
    schema: dict[str, object] = {"type": "integer", "allOf": [{"minimum": 1}]}
    compiler = Compiler(schema)

    assert compiler.compiled(schema) is compiler.compiled(schema)
    assert compiler.compiled({"allOf": [True, {}]}) is always


def test_recursive_schema_goes_into_the_value() -> None:
    schema = {
        "type": "object",
        "properties": {"next": {"$ref": "#"}, "named": {"$ref": "#/$defs/Leaf"}},
        "additionalProperties": False,
        "$defs": {"Leaf": {"const": 1}},
    }

    assert accepts(schema, {"next": {"next": {"named": 1}}})
    assert not accepts(schema, {"next": {"next": {"named": 2}}})


@pytest.mark.parametrize(
    ("value", "step", "expected"),
    [
        (6, 3, True),
        (7, 3, False),
        (0.5, 0.25, True),
        (0.5, 0.3, False),
        (10**400, 0.5, True),
        (10**400, 0.3, False),
        (10**400 + 1, 7.5, False),
        (-0.0, 5, True),
    ],
)
def test_multiples_stay_exact_where_floats_overflow(value: Any, step: Any, expected: bool) -> None:
    assert is_multiple(value, step) is expected
