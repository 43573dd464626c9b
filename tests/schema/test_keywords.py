"""A schema that would be checked only in part is refused when it is given."""

import pytest

from stepfold.schema import JsonSchemaForm, object_form_of, require_object
from stepfold.values._errors import UsageError
from stepfold.values._json import JsonText


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (1, "expected a JSON Schema, got 1"),
        ({"items": 3}, "at '/items': expected a JSON Schema, got 3"),
        ({"unevaluatedProperties": False}, "'unevaluatedProperties'"),
        ({"properties": {"a": {"$dynamicRef": "#x"}}}, "'/properties/a/$dynamicRef'"),
        ({"items": [{}]}, "expected a JSON Schema, got an array"),
        ({"anyOf": []}, "expected an array of schemas"),
        ({"anyOf": {}}, "expected an array of schemas"),
        ({"properties": []}, "expected an object of schemas"),
        ({"minItems": -1}, "expected a count of 0 or more"),
        ({"minLength": "1"}, "expected a count of 0 or more"),
        ({"maxItems": 1.5}, "expected a count of 0 or more"),
        ({"minimum": "1"}, "expected a number"),
        ({"exclusiveMinimum": True}, "expected a number"),
        ({"multipleOf": 0}, "expected a number"),
        ({"pattern": "("}, "expected a regular expression"),
        ({"pattern": 1}, "expected a regular expression"),
        ({"patternProperties": {"(": {}}}, "expected a regular expression"),
        ({"type": "text"}, "expected one or more of null, boolean"),
        ({"type": []}, "expected one or more of null, boolean"),
        ({"type": ["string", "text"]}, "expected one or more of null, boolean"),
        ({"enum": "a"}, "expected an array of values"),
        ({"required": ["a", 1]}, "expected an array of names"),
        ({"required": "a"}, "expected an array of names"),
        ({"dependentRequired": []}, "expected an object of arrays"),
        ({"dependentRequired": {"a": 1}}, "expected an array of names"),
        ({"uniqueItems": 1}, "expected true or false"),
        ({"$ref": "https://example.org/schema"}, "expected a reference within the document"),
        ({"$ref": 1}, "expected a reference within the document"),
        ({"$ref": "#/$defs/None"}, "expected a reference to a schema"),
        ({"$ref": "#anchor"}, "expected a reference to a schema"),
        ({"$ref": "#/allOf/7", "allOf": [{}]}, "expected a reference to a schema"),
        ({"$ref": "#/allOf/1", "allOf": [{}]}, "expected a reference to a schema"),
        ({"$ref": "#"}, "expected references that end"),
        *(
            ({keyword: {"$ref": "#"}}, "expected references that end")
            for keyword in ("if", "then", "else", "not")
        ),
        *(
            ({keyword: [True, {"$ref": "#"}]}, "expected references that end")
            for keyword in ("allOf", "anyOf", "oneOf")
        ),
        ({"items": {"$id": "inner"}}, "expected no $id within a schema"),
        (
            {
                "properties": {"x": {"$ref": "#/$defs/A"}},
                "$ref": "#/$defs/B",
                "$defs": {
                    "A": {"allOf": [{"$ref": "#/$defs/B"}]},
                    "B": {"properties": {"x": {"$ref": "#/$defs/A"}}, "not": {"$ref": "#/$defs/A"}},
                },
            },
            "expected references that end",
        ),
    ],
)
def test_schema_is_refused(schema: object, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        JsonSchemaForm(JsonText.of(schema), where="tool 'find'")

    assert str(caught.value).startswith("tool 'find'")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "schema",
    [
        {"$id": "https://example.org/a", "$schema": "http://json-schema.org/draft-07/schema#"},
        {"$ref": "#/definitions/a~1b%20c", "definitions": {"a/b c": True}},
        {"$ref": "#/allOf/0/items", "allOf": [{"items": {}}]},
        {
            "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/B"}},
            "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {}},
        },
        {"prefixItems": []},
        {"minItems": 1.0},
        {"uniqueItems": False},
        {
            # Two references to the next one in each: followed one by one these are 2 ** 64 ways.
            "$ref": "#/$defs/D0",
            "$defs": {
                **{f"D{it}": {"allOf": [{"$ref": f"#/$defs/D{it + 1}"}] * 2} for it in range(64)},
                "D64": {"title": "The last."},
            },
        },
    ],
)
def test_schema_is_understood(schema: object) -> None:
    assert JsonSchemaForm(JsonText.of(schema)).decoder.check([1]) == ()


def test_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(UsageError, match="expected a JSON Schema, got text"):
        JsonSchemaForm(JsonText('{"a": 1, "a": 2}'))


def test_input_of_a_tool_must_be_an_object() -> None:
    assert object_form_of(JsonText('{"type":"object"}'), where="x").decoder.check({}) == ()
    with pytest.raises(
        UsageError, match=r"^x: expected the schema of an object, got type \"array\""
    ):
        object_form_of(JsonText('{"type":"array"}'), where="x")
    with pytest.raises(UsageError, match=r"^x: JSON Schema at '/type'"):
        object_form_of(JsonText('{"type":"text"}'), where="x")
    with pytest.raises(UsageError, match="got type null"):
        require_object(JsonSchemaForm(JsonText("true")), where="x")


def test_schema_may_be_a_dict() -> None:
    form = JsonSchemaForm.of({"type": "object", "required": ["a"]})

    assert form == JsonSchemaForm(JsonText('{"type":"object","required":["a"]}'))
    with pytest.raises(UsageError, match=r"^here: expected a JSON Schema, got a value that is not"):
        JsonSchemaForm.of({"const": object()}, where="here")
    with pytest.raises(UsageError, match=r"^JsonSchemaForm: expected a JSON Schema"):
        JsonSchemaForm.of({"const": object()})
