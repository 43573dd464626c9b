"""What providers accept, what is lost on the way, and what cannot be said at all."""

import json
from datetime import date, timedelta
from typing import Annotated, Any, Literal

import attrs
import jsonschema
import pytest

from stepfold.schema import (
    DialectName,
    bounded,
    describe,
    form_of,
    pattern,
    to_dialect,
    without_added_nulls,
)
from stepfold.values._json import JsonText


@attrs.frozen
class Inner:
    x: int
    y: int | None = None


@attrs.frozen
class Tree:
    children: list["Tree"] = attrs.Factory(list)


def translated(schema: object, dialect: DialectName) -> tuple[Any, tuple[str, ...]]:
    text = schema if isinstance(schema, JsonText) else JsonText.of(schema)
    result = to_dialect(text, dialect).unwrap()
    return json.loads(result.schema.text), result.dropped


def of(**properties: Any) -> JsonText:
    """The schema of a class of required fields with these types."""
    fields = {name: attrs.field(type=kind) for name, kind in properties.items()}
    return form_of(attrs.make_class("Made", fields), where="test").schema


def closed(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def test_draft_2020_12_is_left_alone() -> None:
    schema = JsonText('{ "type" : "object" }')

    assert to_dialect(schema, "draft-2020-12").unwrap().schema == schema


def test_draft_07_is_spelt_differently() -> None:
    schema = {
        "prefixItems": [{"$ref": "#/$defs/A", "description": "d"}],
        "items": {"not": {"const": 1}},
        "contains": True,
        "minContains": 2,
        "properties": {"items": {"items": False}},
        "dependentRequired": {"a": ["b"]},
        "$defs": {"A": {"anyOf": [{"type": "null"}, True]}},
    }

    assert translated(schema, "draft-07") == (
        {
            "items": [{"allOf": [{"$ref": "#/definitions/A"}], "description": "d"}],
            "additionalItems": {"not": {"const": 1}},
            "contains": True,
            "properties": {"items": {"items": False}},
            "dependencies": {"a": ["b"]},
            "definitions": {"A": {"anyOf": [{"type": "null"}, True]}},
        },
        ("/minContains",),
    )


def test_draft_07_is_spelt_differently_wherever_a_schema_stands() -> None:
    reference, written_reference = {"$ref": "#/$defs/A"}, {"$ref": "#/definitions/A"}
    schema = {
        "patternProperties": {"^a": reference},
        "allOf": [reference],
        "oneOf": [reference],
        "maxContains": 2,
        "definitions": {"B": reference},
    }

    assert translated(schema, "draft-07") == (
        {
            "patternProperties": {"^a": written_reference},
            "allOf": [written_reference],
            "oneOf": [written_reference],
            "definitions": {"B": written_reference},
        },
        ("/maxContains",),
    )


def test_openai_wants_every_property_and_gets_nulls() -> None:
    schema = form_of(Inner, where="test").schema

    assert translated(schema, "openai-strict") == (
        closed(x={"type": "integer"}, y={"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (),
    )


def test_openai_takes_values_for_a_type() -> None:
    schema = closed(a={"enum": ["x"]}, b={"const": 1})

    assert translated(schema, "openai-strict") == (schema, ())


def test_openai_optional_unions_get_one_more_member() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "b": {"type": "integer", "description": "B."},
            "c": {"anyOf": [{"type": "integer"}, {"type": "string"}], "description": "C."},
            "d": {"anyOf": [{"type": "integer"}, {"type": "string"}], "minimum": 1},
            "e": {"type": "integer", "description": "", "minLength": 1},
        },
        "additionalProperties": False,
    }
    written, _ = translated(schema, "openai-strict")
    both = [{"type": "integer"}, {"type": "string"}]

    assert written["properties"] == {
        "a": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
        "b": {"description": "B.", "anyOf": [{"type": "integer"}, {"type": "null"}]},
        "c": {"description": "C.", "anyOf": [*both, {"type": "null"}]},
        "d": {"anyOf": [{"anyOf": both, "minimum": 1}, {"type": "null"}]},
        "e": {"description": "minLength: 1", "anyOf": [{"type": "integer"}, {"type": "null"}]},
    }


def test_what_is_dropped_is_told_to_the_model_and_to_the_caller() -> None:
    schema = of(
        text=Annotated[str, bounded(min_length=2), describe("Words.")],
        when=date,
        span=timedelta,
        price=__import__("decimal").Decimal,
        pair=tuple[int, str],
    )
    written, dropped = translated(schema, "openai-strict")

    assert written["properties"] == {
        "text": {"type": "string", "description": "Words. (minLength: 2)"},
        "when": {"type": "string", "format": "date"},
        "span": {"type": "string", "format": "duration"},
        "price": {"type": "string", "description": "a decimal number as a string, such as 12.50"},
        "pair": {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        },
    }
    assert dropped == (
        "/properties/text/minLength",
        "/properties/price/pattern",
        "/properties/pair/prefixItems",
    )


def test_references_stay_where_they_are_understood() -> None:
    schema = form_of(Tree, where="test").schema
    written, dropped = translated(schema, "openai-strict")

    assert written["$defs"]["Tree"]["properties"]["children"]["anyOf"][0]["items"] == {
        "$ref": "#/$defs/Tree"
    }
    assert dropped == ()


def test_anthropic_has_no_bounds() -> None:
    schema = of(
        count=Annotated[int, bounded(ge=1)], many=Annotated[list[int], bounded(min_length=1)]
    )

    assert translated(schema, "anthropic") == (
        closed(
            count={"type": "integer", "description": "minimum: 1"},
            many={"type": "array", "items": {"type": "integer"}, "minItems": 1},
        ),
        ("/properties/count/minimum",),
    )


def test_anthropic_takes_at_most_one_least_item() -> None:
    written, dropped = translated(
        {"type": "array", "minItems": 3, "allOf": [{"minimum": 1}, {"minItems": 1}]}, "anthropic"
    )

    assert written == {
        "type": "array",
        "description": "minItems: 3",
        "allOf": [{"description": "minimum: 1"}, {"minItems": 1}],
    }
    assert dropped == ("/minItems", "/allOf/0/minimum")


def test_what_only_looks_like_recursion_is_none() -> None:
    itself = {"$ref": "#/$defs/A"}
    schema = {
        **closed(a={"enum": [itself], "const": itself, "default": itself, "examples": [itself]}),
        "$defs": {"A": closed(unused=itself)},
        "definitions": {"A": itself},
    }

    assert to_dialect(JsonText.of(schema), "anthropic").unwrap().dropped == ()


@pytest.mark.parametrize("name", ["enum", "const", "default", "examples", "$defs", "definitions"])
def test_recursion_is_found_in_properties_of_any_name(name: str) -> None:
    fault = to_dialect(JsonText.of(closed(**{name: {"$ref": "#"}})), "anthropic").failure()

    assert fault.pointer == f"/properties/{name}"


def test_definitions_that_are_used_again_and_again_are_followed_once() -> None:
    # Two references to the next one in each: followed one by one these are 2 ** 64 ways.
    definitions: dict[str, object] = {
        f"D{level}": closed(**{name: {"$ref": f"#/$defs/D{level + 1}"} for name in "ab"})
        for level in range(64)
    }
    schema = {"$ref": "#/$defs/D0", "$defs": {**definitions, "D64": {"type": "string"}}}

    assert to_dialect(JsonText.of(schema), "anthropic").unwrap().dropped == ()


def test_google_has_no_references_nulls_or_numbers_in_enums() -> None:
    schema = of(
        first=Inner,
        second=Annotated[Inner, describe("The second.")],
        tree=Tree,
        choice=Literal["a", "b"] | None,
        level=Literal[1, 2],
        several=int | str | None,
        text=Annotated[str, pattern("^a")],
        when=date,
        day=Annotated[date, describe("A day.")],
    )
    written, dropped = translated(schema, "google")
    inner = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "nullable": True}},
        "required": ["x"],
    }

    assert written["properties"] == {
        "first": inner,
        "second": {**inner, "description": "The second."},
        "tree": {
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"type": "object"}}},
        },
        "choice": {"type": "string", "enum": ["a", "b"], "nullable": True},
        "level": {"type": "integer", "description": "one of [1,2]"},
        "several": {"anyOf": [{"type": "integer"}, {"type": "string"}], "nullable": True},
        "text": {"type": "string", "pattern": "^a"},
        "when": {"type": "string", "description": "a date as YYYY-MM-DD"},
        "day": {"type": "string", "description": "A day. (a date as YYYY-MM-DD)"},
    }
    assert dropped == (
        "/properties/tree/properties/children/items/$ref",
        "/properties/level/enum",
        "/properties/when/pattern",
        "/properties/day/pattern",
    )


def test_google_takes_ready_schemas_apart() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"const": "x"},
            "b": {"type": ["string", "null"]},
            "c": {"enum": ["x", None]},
            "d": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            "e": {"additionalProperties": {"type": "integer"}},
            "f": {"anyOf": [{"$ref": "#/$defs/F"}, {"type": "null"}]},
            "g": True,
            "h": {"enum": ["x", 1]},
            "j": {"type": "string", "format": "email"},
            "i": {"oneOf": [{"minimum": 1}], "anyOf": [{"type": "integer"}]},
        },
        "$defs": {"F": {"type": "string"}},
    }
    written, dropped = translated(schema, "google")

    assert written["properties"] == {
        "a": {"enum": ["x"]},
        "b": {"type": "string", "nullable": True},
        "c": {"enum": ["x"], "nullable": True},
        "d": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "e": {},
        "f": {"anyOf": [{"type": "string"}], "nullable": True},
        "g": {},
        "h": {"description": 'one of ["x",1]'},
        "j": {"type": "string"},
        "i": {"anyOf": [{"type": "integer"}]},
    }
    assert dropped == (
        "/properties/d/oneOf",
        "/properties/e/additionalProperties",
        "/properties/h/enum",
        "/properties/i/oneOf",
    )


@pytest.mark.parametrize(
    ("schema", "dialect", "pointer"),
    [
        ({"type": "array"}, "openai-strict", ""),
        (closed(a={"type": "object"}), "openai-strict", "/properties/a"),
        (closed(a={"type": "object", "properties": {}}), "openai-strict", "/properties/a"),
        (
            closed(a={"type": "object", "additionalProperties": False}),
            "openai-strict",
            "/properties/a",
        ),
        (closed(a={}), "openai-strict", "/properties/a"),
        (closed(a=True), "openai-strict", "/properties/a"),
        (closed(a=False), "google", "/properties/a"),
        (closed(a={"type": "object", "additionalProperties": {}}), "anthropic", "/properties/a"),
        (form_of(Tree, where="t").schema, "anthropic", "/properties/children/items"),
        ({"patternProperties": {"^a": {"$ref": "#"}}}, "anthropic", "/patternProperties/^a"),
        (
            {**closed(a={"anyOf": [{"$ref": "#/$defs/A"}]}), "$defs": {"A": {"$ref": "#"}}},
            "anthropic",
            "/properties/a/anyOf/0",
        ),
    ],
    ids=str,
)
def test_what_a_dialect_cannot_say_is_a_failure(
    schema: object, dialect: DialectName, pointer: str
) -> None:
    text = schema if isinstance(schema, JsonText) else JsonText.of(schema)
    fault = to_dialect(text, dialect).failure()

    assert fault.pointer == pointer
    assert f"since {dialect} has no form" in fault.message


def test_added_nulls_go_away_and_own_ones_stay() -> None:
    @attrs.frozen
    class Outer:
        inner: Inner | None = None
        many: tuple[Inner, ...] = ()
        pair: tuple[Inner, int] | None = None
        first: Inner = Inner(1)
        count: int = 1
        free: object = None

    schema = form_of(Outer, where="test").schema
    value = {
        "inner": {"x": 1, "y": None},
        "many": [{"x": 1, "y": 2}],
        "pair": [{"x": 1, "y": None}, 3],
        "first": None,
        "count": None,
        "free": None,
        "unknown": None,
    }

    assert without_added_nulls(schema, value) == {
        "inner": {"x": 1, "y": None},
        "many": [{"x": 1, "y": 2}],
        "pair": [{"x": 1, "y": None}, 3],
        "free": None,
        "unknown": None,
    }
    assert value["count"] is None


def test_added_nulls_are_found_through_references_and_unions() -> None:
    @attrs.frozen
    class Link:
        label: str = ""
        next: "Link | None" = None

    schema = form_of(Link, where="test").schema
    value = {"label": None, "next": {"label": None, "next": None}}

    assert without_added_nulls(schema, value) == {"next": {"next": None}}
    assert without_added_nulls(JsonText("true"), {"a": None}) == {"a": None}


def test_added_nulls_are_found_in_items_and_required_ones_stay() -> None:
    item = {
        "type": "object",
        "properties": {"kept": {"type": "integer"}, "added": {"type": "integer"}},
        "required": ["kept"],
    }
    schema = {"type": "array", "prefixItems": [{"items": item}], "items": item}
    value = {"kept": None, "added": None}

    assert without_added_nulls(JsonText.of(schema), [[value], value]) == [
        [{"kept": None}],
        {"kept": None},
    ]


def test_translations_are_schemas() -> None:
    schema = of(a=Inner, b=Inner, c=list[Literal["x"]], d=date | None)
    for dialect in ("openai-strict", "anthropic"):
        written, _ = translated(schema, dialect)
        jsonschema.Draft202012Validator.check_schema(written)
