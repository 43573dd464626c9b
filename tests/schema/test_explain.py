"""Faults tell a model where and what, briefly."""

import pytest

from stepfold.schema import Decoder, JsonSchemaForm, SchemaFault, form_of
from stepfold.values._json import JsonText

DAY = form_of(__import__("datetime").date, where="test").decoder


def faults(schema: object, value: object) -> list[tuple[str, str]]:
    found = JsonSchemaForm(JsonText.of(schema)).decoder.check(value)
    return [(fault.pointer, fault.message) for fault in found]


@pytest.mark.parametrize(
    ("schema", "value", "pointer", "message"),
    [
        (False, 1, "", "expected nothing here, got 1"),
        ({"type": "string"}, 1, "", "expected a string, got 1"),
        ({"type": ["integer", "null"]}, "a", "", 'expected an integer or null, got "a"'),
        ({"enum": ["a", "b"]}, "c", "", 'expected one of "a", "b", got "c"'),
        ({"enum": ["ab"], "minLength": 2}, "b", "", 'expected "ab", got "b"'),
        ({"const": "ab", "minLength": 2}, "b", "", 'expected "ab", got "b"'),
        ({"const": "a"}, True, "", 'expected "a", got true'),
        ({"enum": []}, 1, "", "expected a value that fits the schema, got 1"),
        ({"minimum": 3}, 2, "", "expected a number of at least 3, got 2"),
        ({"exclusiveMinimum": 3}, 3, "", "expected a number above 3, got 3"),
        ({"maximum": 3}, 3.5, "", "expected a number of at most 3, got 3.5"),
        ({"exclusiveMaximum": 3}, 3, "", "expected a number below 3, got 3"),
        ({"multipleOf": 2}, 3, "", "expected a multiple of 2, got 3"),
        ({"minimum": 3, "multipleOf": 2}, 3, "", "expected a multiple of 2, got 3"),
        ({"maximum": 3, "multipleOf": 2}, 3, "", "expected a multiple of 2, got 3"),
        ({"minItems": 1, "maxItems": 1, "items": False}, [1], "/0", "expected nothing here, got 1"),
        ({"minLength": 1}, "", "", "expected at least 1 character, got 0"),
        ({"maxLength": 2}, "abc", "", "expected at most 2 characters, got 3"),
        ({"pattern": "^a"}, "b", "", 'expected a string that matches ^a, got "b"'),
        ({"minItems": 1}, [], "", "expected at least 1 item, got 0"),
        ({"minItems": 2}, [1], "", "expected at least 2 items, got 1"),
        ({"minProperties": 1}, {}, "", "expected at least 1 property, got 0"),
        ({"maxProperties": 0}, {"a": 1}, "", "expected at most 0 properties, got 1"),
        ({"items": {"type": "null"}}, [None, 1], "/1", "expected null, got 1"),
        ({"prefixItems": [{"type": "null"}]}, [1], "/0", "expected null, got 1"),
        ({"uniqueItems": True}, [1, 1.0], "/1", "expected an item that is not there yet, got 1.0"),
        ({"contains": {"type": "null"}}, [1], "", "expected 1 to 1 items that are null, got 0"),
        (
            {"contains": {"type": "null"}, "minContains": 2, "maxContains": 3},
            [None],
            "",
            "expected 2 to 3 items that are null, got 1",
        ),
        (
            {"properties": {"a": {"type": "null"}}, "required": ["a"]},
            {},
            "",
            'expected the property "a" (null), got an object without it',
        ),
        (
            {"required": ["a"]},
            {"b": 1},
            "",
            'expected the property "a" (any value), got an object without it',
        ),
        (
            {"properties": {"a": {}}, "additionalProperties": False},
            {"b/~": 1},
            "",
            'expected only "a", got a property "b/~" that is not known',
        ),
        (
            {"additionalProperties": False},
            {"b": 1},
            "",
            'expected only no properties, got a property "b" that is not known',
        ),
        ({"additionalProperties": {"type": "null"}}, {"a/~": 1}, "/a~1~0", "expected null, got 1"),
        (
            {"propertyNames": {"enum": ["a"]}},
            {"b": 1},
            "/b",
            'expected a name that is "a", got "b"',
        ),
        ({"patternProperties": {"^a": {"type": "null"}}}, {"ab": 1}, "/ab", "expected null, got 1"),
        (
            {"dependentRequired": {"a": ["b"]}},
            {"a": 1},
            "",
            'expected the property "b" (any value), got an object without it',
        ),
        (
            {"properties": {"a": False}, "required": ["a"]},
            {},
            "",
            'expected the property "a" (nothing), got an object without it',
        ),
        ({"allOf": [{"type": "null"}]}, 1, "", "expected null, got 1"),
        (
            {"anyOf": [{"type": "object", "required": ["a"]}, {"type": "null"}]},
            {},
            "",
            'expected the property "a" (any value), got an object without it',
        ),
        (
            {
                "anyOf": [{"type": "string"}, {"$ref": "#/$defs/N"}],
                "$defs": {"N": {"type": "null"}},
            },
            1,
            "",
            "expected a string or null, got 1",
        ),
        (
            {"oneOf": [{"minimum": 1}, {"maximum": 3}]},
            2,
            "",
            "expected a value that fits exactly one of the forms, got 2",
        ),
        ({"not": {"type": "null"}}, None, "", "expected a value that fits the schema, got null"),
        (
            {"properties": {"a": {"not": {"type": "null"}}}},
            {"a": None},
            "/a",
            "expected a value that fits the schema, got null",
        ),
        ({"if": {"const": 1}, "minimum": 2}, 1, "", "expected a number of at least 2, got 1"),
        ({"if": True, "then": {"type": "null"}}, 1, "", "expected null, got 1"),
        ({"if": False, "else": {"type": "null"}}, 1, "", "expected null, got 1"),
        (
            {"$ref": "#/$defs/N", "$defs": {"N": {"type": "null"}}},
            1,
            "",
            "expected null, got 1",
        ),
        ({"enum": [1, 2], "const": 1}, 2, "", "expected 1, got 2"),
        ({"contains": {"const": 1}, "items": {"const": 0}}, [1], "/0", "expected 0, got 1"),
        (
            {"dependentRequired": {"a": ["b"], "c": ["d"]}},
            {"a": 1, "b": 1, "c": 1},
            "",
            'expected the property "d" (any value), got an object without it',
        ),
        ({"anyOf": [False, {"const": 1}]}, 2, "", "expected 1, got 2"),
    ],
)
def test_fault_says_where_and_what(
    schema: object, value: object, pointer: str, message: str
) -> None:
    assert faults(schema, value) == [(pointer, message)]


def test_grammar_is_named_in_words() -> None:
    expected = 'expected a date as YYYY-MM-DD, got "tomorrow"'

    assert DAY.check("tomorrow") == (SchemaFault("", expected),)
    assert DAY.check(1) == (SchemaFault("", "expected a date as YYYY-MM-DD, got 1"),)


def test_at_most_ten_faults_are_told() -> None:
    assert len(faults({"items": {"type": "null"}}, [1] * 50)) == 10


def test_many_properties_are_not_all_listed() -> None:
    schema = {"properties": {f"p{index}": {} for index in range(20)}, "additionalProperties": False}
    [(_, message)] = faults(schema, {"x": 1})

    assert '"p11", …, got' in message
    assert "p12" not in message


def test_as_many_properties_as_are_listed_are_all() -> None:
    schema = {"properties": {f"p{index}": {} for index in range(12)}, "additionalProperties": False}
    [(_, message)] = faults(schema, {"x": 1})

    assert '"p11", got' in message


def test_as_many_choices_as_are_listed_are_all() -> None:
    [(_, message)] = faults({"enum": list(range(12))}, 99)

    assert message == f"expected one of {', '.join(map(str, range(12)))}, got 99"


def test_many_choices_are_not_all_listed() -> None:
    [(_, message)] = faults({"enum": list(range(20))}, 99)

    assert message == f"expected one of {', '.join(map(str, range(12)))}, …, got 99"


def test_hostile_text_does_not_fill_the_fault() -> None:
    key, value = "k" * 10_000, "v" * 10_000
    schema = {"additionalProperties": {"type": "null"}}
    [(pointer, message)] = faults(schema, {key: value})

    assert len(pointer) < 100
    assert len(message) < 300


def test_value_nested_too_deep_for_the_stack_is_a_fault() -> None:
    schema = JsonText.of({"items": {"$ref": "#"}, "not": {"const": 1}})
    decoder = Decoder(schema, where="test")
    value: list[object] = []
    for _ in range(100_000):
        value = [value]

    assert decoder.check(value) == (SchemaFault("", "expected a value that is nested less deep"),)
    while value:
        [value] = value  # type: ignore[assignment]  # unwound by hand, as its end would recurse
