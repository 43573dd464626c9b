"""Which types have a form, how their JSON looks, and what is refused with advice."""

import dataclasses
import enum
import json
import types
import typing
from collections import abc, namedtuple
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, NewType, TypedDict
from uuid import UUID

import attrs
import pydantic
import pytest
import typing_extensions
from annotated_types import Ge, Interval, Len, Predicate
from typing_extensions import TypeAliasType, TypeVar, override

from stepfold.schema import (
    bind,
    binds_user_code,
    bounded,
    describe,
    form_of,
    pattern,
    schema_of,
    unbind,
)
from stepfold.values._errors import UsageError
from stepfold.values._json import JsonInput, JsonObject, JsonText, JsonValue
from stepfold.values._outcome import Success

T = TypeVar("T")
D = TypeVar("D", default=int)
N = TypeVar("N", default=None)
B = TypeVar("B", bound=str)
C = TypeVar("C", int, str)


class Colour(enum.StrEnum):
    """A colour of light."""

    RED = "red"
    BLUE = "blue"


class Permission(enum.Flag):
    READ = 1


class Nothing(enum.Enum):
    pass


@attrs.frozen
class Box(Generic[T]):
    """A box.

    Attributes:
        content: What is in it.
    """

    content: T
    label: str = attrs.field(default="", metadata={"description": "A label."})


@attrs.frozen
class IntBox(Box[int]):
    count: int = 1


@dataclasses.dataclass
class Node:
    value: int
    next: "Node | None" = None


@dataclasses.dataclass
class Pair(Generic[T, D]):
    first: T
    second: D


class Movie(TypedDict):
    """A movie."""

    title: str
    year: typing.NotRequired[int]
    rating: typing_extensions.ReadOnly[float]


class Point(typing.NamedTuple):
    x: int
    y: int = 0


class Model(pydantic.BaseModel):
    """A model."""

    name: str = pydantic.Field(min_length=1)
    inner: "Inner | None" = None


class Inner(pydantic.BaseModel):
    value: int


Recursive = TypeAliasType("Recursive", "dict[str, Recursive] | int")
Listing = TypeAliasType("Listing", list[T], type_params=(T,))
Naming = TypeAliasType("Naming", dict[str, T], type_params=(T,))
Positive = TypeAliasType("Positive", Annotated[int, bounded(ge=1)])
Broken = TypeAliasType("Broken", "Missing")  # type: ignore[name-defined]  # noqa: F821
UserId = NewType("UserId", int)


def schema(annotation: object) -> Any:
    form = form_of(annotation, where="test")
    assert form == form_of(annotation, where="test")
    return json.loads(schema_of(form).text)


STRING = {"type": "string"}
INTEGER = {"type": "integer"}


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (None, {"type": "null"}),
        (type(None), {"type": "null"}),
        (bool, {"type": "boolean"}),
        (int, INTEGER),
        (float, {"type": "number"}),
        (str, STRING),
        (object, {}),
        (Any, {}),
        (JsonValue, {}),
        (JsonInput, {}),
        (JsonText, {}),
        (JsonObject, {"type": "object"}),
        (UserId, INTEGER),
        (int | None, {"anyOf": [INTEGER, {"type": "null"}]}),
        (typing.Optional[int], {"anyOf": [INTEGER, {"type": "null"}]}),  # noqa: UP045
        (typing.Union[int, str], {"anyOf": [INTEGER, STRING]}),  # noqa: UP007
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, "a", True, None], {"enum": [1, "a", True, None]}),  # noqa: PYI061
        (Literal[Colour.RED], {"type": "string", "enum": ["red"]}),
        (
            Colour,
            {"type": "string", "description": "A colour of light.", "enum": ["red", "blue"]},
        ),
        (list, {"type": "array", "items": {}}),
        (list[int], {"type": "array", "items": INTEGER}),
        (abc.Sequence[int], {"type": "array", "items": INTEGER}),
        (tuple[int, ...], {"type": "array", "items": INTEGER}),
        (tuple, {"type": "array", "items": {}}),
        (set[int], {"type": "array", "items": INTEGER, "uniqueItems": True}),
        (frozenset[str], {"type": "array", "items": STRING, "uniqueItems": True}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [INTEGER, STRING], "minItems": 2, "maxItems": 2},
        ),
        (tuple[()], {"type": "array", "minItems": 0, "maxItems": 0}),
        (dict, {"type": "object", "additionalProperties": {}}),
        (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
        (abc.Mapping[str, int], {"type": "object", "additionalProperties": INTEGER}),
        (
            dict[Literal["a"], int],
            {
                "type": "object",
                "additionalProperties": INTEGER,
                "propertyNames": {"type": "string", "enum": ["a"]},
            },
        ),
        (
            Annotated[int, Ge(1), bounded(le=9), Ge(0)],
            {"type": "integer", "minimum": 1, "maximum": 9},
        ),
        (Annotated[float, Interval(gt=0, lt=1)], {
            "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1,
        }),
        (Annotated[int, bounded(multiple_of=2)], {"type": "integer", "multipleOf": 2}),
        (Annotated[str, Len(1, 3), bounded(max_length=2)], {
            "type": "string", "minLength": 1, "maxLength": 2,
        }),
        (Annotated[str, pattern("a"), pattern("b")], {
            "type": "string", "pattern": "a", "allOf": [{"pattern": "b"}],
        }),
        (Annotated[list[int], bounded(min_length=1)], {
            "type": "array", "items": INTEGER, "minItems": 1,
        }),
        (Annotated[dict[str, int], bounded(max_length=1)], {
            "type": "object", "additionalProperties": INTEGER, "maxProperties": 1,
        }),
        (Annotated[int | str | None, bounded(ge=1), bounded(min_length=1)], {
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {"type": "string", "minLength": 1},
                {"type": "null"},
            ],
        }),
        (Annotated[int, describe("A count.")], {"type": "integer", "description": "A count."}),
        (
            Annotated[Annotated[int, describe("A count.")], bounded(ge=1), describe("Better.")],
            {"type": "integer", "description": "Better.", "minimum": 1},
        ),
        (Annotated[int, "other metadata", 3], INTEGER),
        (list[Annotated[int, describe("One.")]], {
            "type": "array", "items": {"type": "integer", "description": "One."},
        }),
        (Annotated[str, pydantic.Field(min_length=2, pattern="^a", description="Words.")], {
            "type": "string", "description": "Words.", "minLength": 2, "pattern": "^a",
        }),
        (Listing[int], {"type": "array", "items": INTEGER}),
        (Movie, {
            "type": "object",
            "description": "A movie.",
            "properties": {"title": STRING, "year": INTEGER, "rating": {"type": "number"}},
            "required": ["title", "rating"],
            "additionalProperties": False,
        }),
        (Point, {
            "type": "object",
            "properties": {"x": INTEGER, "y": {"type": "integer", "default": 0}},
            "required": ["x"],
            "additionalProperties": False,
        }),
        (Box[int], {
            "type": "object",
            "description": "A box.",
            "properties": {
                "content": {"type": "integer", "description": "What is in it."},
                "label": {"type": "string", "description": "A label.", "default": ""},
            },
            "required": ["content"],
            "additionalProperties": False,
        }),
        (IntBox, {
            "type": "object",
            "properties": {
                "content": {"type": "integer", "description": "What is in it."},
                "label": {"type": "string", "description": "A label.", "default": ""},
                "count": {"type": "integer", "default": 1},
            },
            "required": ["content"],
            "additionalProperties": False,
        }),
        (Pair[str, int], {
            "type": "object",
            "properties": {"first": STRING, "second": INTEGER},
            "required": ["first", "second"],
            "additionalProperties": False,
        }),
        (T, {}),
        (D, INTEGER),
        (N, {"type": "null"}),
        (B, STRING),
        (C, {"anyOf": [INTEGER, STRING]}),
    ],
    ids=str,
)  # fmt: skip
def test_type_becomes_schema(annotation: object, expected: object) -> None:
    assert schema(annotation) == expected


def test_recursive_class_is_a_definition_and_an_object_at_the_root() -> None:
    node = {
        "type": "object",
        "properties": {
            "value": INTEGER,
            "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}], "default": None},
        },
        "required": ["value"],
        "additionalProperties": False,
    }

    assert schema(Node) == {**node, "$defs": {"Node": node}}
    assert bind(form_of(Node, where="t"), {"value": 1, "next": {"value": 2}}) == Success(
        Node(1, Node(2))
    )


def test_class_that_is_used_twice_is_written_once() -> None:
    written = schema(tuple[Point, Point])

    assert written["prefixItems"] == [{"$ref": "#/$defs/Point"}] * 2
    assert list(written["$defs"]) == ["Point"]


def test_generic_classes_of_different_arguments_are_different_definitions() -> None:
    written = schema(tuple[Box[int], Box[int], Box[str], Box[str], Box[list[int]], Box[list[int]]])

    assert list(written["$defs"]) == ["Box_int", "Box_str", "Box_list"]


def test_classes_of_one_name_are_kept_apart() -> None:
    def other() -> type:
        @attrs.frozen
        class Point:
            z: int

        return Point

    other_point = other()
    written = schema(tuple[Point, Point, other_point, other_point])  # type: ignore[valid-type]

    assert list(written["$defs"]) == ["Point", "Point_2"]


def test_recursive_alias_is_a_definition() -> None:
    form = form_of(Recursive, where="test")

    assert form.decoder.check({"a": {"b": 1}}) == ()
    assert form.decoder.check({"a": "b"}) != ()
    assert bind(form, {"a": {"b": 1}}) == Success({"a": {"b": 1}})


def test_local_class_may_refer_to_itself() -> None:
    @dataclasses.dataclass
    class Local:
        inner: "list[Local]"

    assert bind(form_of(Local, where="t"), {"inner": [{"inner": []}]}) == Success(
        Local([Local([])])
    )


def test_pydantic_model_brings_its_own_schema_and_validation() -> None:
    form = form_of(list[Model], where="test")
    value = [{"name": "a", "inner": {"value": 1}}]

    assert bind(form, value) == Success([Model(name="a", inner=Inner(value=1))])
    assert unbind([Model(name="a", inner=Inner(value=1))], form) == value
    assert form.decoder.check([{"name": ""}]) != ()
    assert binds_user_code(form)
    assert schema(tuple[Model, Inner, Model, Inner])["$defs"].keys() == {
        "Inner",
        "Model",
        "Inner_2",
    }


def test_pydantic_model_is_bound_under_a_guard() -> None:
    class Even(pydantic.BaseModel):
        value: int

        @pydantic.field_validator("value")
        @classmethod
        def even(cls, value: int) -> int:
            if value % 2:
                raise ValueError("odd")
            return value

    [fault] = bind(form_of(Even, where="test"), {"value": 1}).failure()

    assert fault.pointer == ""
    assert "odd" in fault.message


class Unwilling:
    @staticmethod
    def model_json_schema() -> object:
        raise RuntimeError("no schema")

    @staticmethod
    def model_validate_json(text: str) -> object:
        return text


class Odd(Unwilling):
    @staticmethod
    @override
    def model_json_schema() -> object:
        return object()


@attrs.frozen
class Holder:
    thing: "complex"


@attrs.define
class Mutable:
    value: int


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (complex, "expected a type with a JSON form, got complex; make it an attrs class"),
        (abc.Callable, "got Callable; make it"),
        (3, "got 3; use a class"),
        ("int", "got 'int'; refer to types"),
        (Literal[b"a"], "got b'a'; use str"),
        (dict[int, str], "got int; use str keys"),
        (set[list[int]], "use a list, or items that can be hashed"),
        (set[dict[str, int]], "use a list, or items that can be hashed"),
        (set[Any], "use a list, or items that can be hashed"),
        (frozenset[Mutable], "use a list, or items that can be hashed"),
        (frozenset[Movie], "use a list, or items that can be hashed"),
        (set[Model], "use a list, or items that can be hashed"),
        (Permission, "use an Enum with members"),
        (Nothing, "use an Enum with members"),
        (Holder, "'thing' of Holder, in test: expected a type with a JSON form, got complex"),
        (Annotated[int, pattern("a")], "expected a type that pattern can bound"),
        (Annotated[date, bounded(ge=1)], "expected a type that ge can bound"),
        (Annotated[int, bounded(multiple_of=2), bounded(multiple_of=3)], "multiple_of"),
        (Annotated[date, Ge(date(2000, 1, 1))], "expected a number as the bound"),
        (Annotated[int, Predicate(bool)], "got code that checks"),
        (Unwilling, "no schema"),
        (Odd, "return a JSON Schema object"),
        (Broken, "got NameError: name 'Missing' is not defined"),
        (namedtuple("Untyped", ["a"]), "expected a type for each field, got 'a' without"),  # noqa: PYI024
    ],
    ids=str,
)  # fmt: skip
def test_type_is_refused_with_advice(annotation: object, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        form_of(annotation, where="test")

    assert words in str(caught.value)


def test_alias_keeps_the_bounds_of_what_it_stands_for() -> None:
    assert schema(Positive) == {"type": "integer", "minimum": 1}


def test_reference_to_what_is_not_there_is_refused_with_advice() -> None:
    with pytest.raises(UsageError, match="refer to types that are defined at module level"):
        form_of(typing.ForwardRef("Missing"), where="test")


def test_what_only_looks_like_a_model_or_a_named_tuple_is_neither() -> None:
    @attrs.frozen
    class Half:
        model_json_schema: int

    class Fields:
        _fields = ("a",)

    class Plain(tuple[int, ...]):
        __slots__ = ()

    assert schema(Half)["properties"] == {"model_json_schema": INTEGER}
    for odd in (Fields, Plain):
        with pytest.raises(UsageError, match="make it an attrs class, a dataclass, a TypedDict"):
            form_of(odd, where="test")


def test_class_that_is_used_once_is_written_where_it_is_used() -> None:
    @attrs.frozen
    class Middle:
        point: Point

    @attrs.frozen
    class Outer:
        middle: Middle

    assert "$defs" not in schema(Outer)


def test_alias_of_itself_is_refused() -> None:
    itself = TypeAliasType("itself", "itself | int")  # type: ignore[misc]
    globals()["itself"] = itself

    with pytest.raises(UsageError, match="expected references that end"):
        form_of(itself, where="test")


def test_classes_that_can_be_hashed_may_be_in_sets() -> None:
    form = form_of(frozenset[Box[int]], where="test")

    assert bind(form, [{"content": 1}]) == Success(frozenset({Box(1)}))
    assert binds_user_code(form)  # hashing an object may


@pytest.mark.parametrize(
    ("annotation", "keywords"),
    [
        (int, {"minimum": 2, "maximum": 5, "exclusiveMinimum": 2, "exclusiveMaximum": 5}),
        (str, {"minLength": 2, "maxLength": 5}),
        (list[int], {"minItems": 2, "maxItems": 5}),
        (dict[str, int], {"minProperties": 2, "maxProperties": 5}),
    ],
    ids=str,
)
def test_narrower_of_two_bounds_holds(annotation: Any, keywords: dict[str, int]) -> None:
    wide: Any = bounded(min_length=1, max_length=9)
    tight: Any = bounded(min_length=2, max_length=5)
    if annotation is int:
        wide, tight = bounded(ge=1, le=9, gt=1, lt=9), bounded(ge=2, le=5, gt=2, lt=5)

    for first, second in ((wide, tight), (tight, wide), (tight, tight)):
        written = schema(Annotated[Annotated[annotation, first], second])
        assert {keyword: written[keyword] for keyword in keywords} == keywords


class Settled(pydantic.BaseModel, frozen=True):
    value: int


def test_what_can_be_hashed_may_be_in_sets() -> None:
    assert bind(form_of(set[JsonValue], where="test"), [1, [2]]) == Success({1, (2,)})
    assert bind(form_of(set[JsonText], where="test"), [1]) == Success({JsonText("1")})
    assert bind(form_of(set[frozenset[int]], where="test"), [[1]]) == Success({frozenset({1})})
    assert bind(form_of(set[Settled], where="test"), [{"value": 1}]) == Success({Settled(value=1)})


@pytest.mark.parametrize(
    "annotation",
    [set[set[int]], set[list[int]], set[dict[str, int]], set[Inner], set[JsonInput]],
    ids=repr,
)
def test_what_cannot_be_hashed_may_not_be_in_sets(annotation: object) -> None:
    with pytest.raises(UsageError, match="use a list, or items that can be hashed"):
        form_of(annotation, where="test")


@pytest.mark.parametrize("key", [Literal["a", 1], str | int, int], ids=repr)
def test_what_is_no_text_can_be_no_key(key: Any) -> None:
    with pytest.raises(UsageError, match="use str keys"):
        form_of(types.GenericAlias(dict, (key, int)), where="test")


def test_other_texts_can_be_keys() -> None:
    form = form_of(dict[UUID | Annotated[Decimal, describe("A price.")], int], where="test")
    value = {UUID(int=1): 1, Decimal("1.50"): 2}

    assert bind(form, unbind(value, form)) == Success(value)


def test_defaults_without_a_json_form_are_not_shown() -> None:
    @attrs.frozen
    class Defaults:
        thing: Any = object()  # noqa: RUF009 - what is tested
        wrong: int = None  # type: ignore[assignment]
        wrong_text: str = None  # type: ignore[assignment]
        wrong_flag: bool = None  # type: ignore[assignment]
        wrong_list: list[int] = None  # type: ignore[assignment]
        missing: str | None = None
        made: list[int] = attrs.Factory(lambda: [1])
        anything: Any = attrs.Factory(lambda: 1)
        empty: list[int] = attrs.Factory(list)

    form = form_of(Defaults, where="test")
    properties = json.loads(form.schema.text)["properties"]

    assert [name for name, written in properties.items() if "default" in written] == [
        *("missing", "empty"),
    ]
    assert "required" not in json.loads(form.schema.text)


@attrs.frozen
class Family:
    members: "frozenset[Family]" = frozenset()


@attrs.frozen
class Chain:
    value: int
    next: "Chain | None" = None


def test_recursive_class_may_be_in_a_set() -> None:
    form = form_of(tuple[Chain, frozenset[Chain]], where="test")

    assert bind(form, [{"value": 1}, [{"value": 2}]]) == Success((Chain(1), frozenset({Chain(2)})))


@attrs.frozen
class Even:
    odd: "Odds | None" = None


@attrs.frozen
class Odds:
    even: Even | None = None


def test_classes_may_contain_each_other() -> None:
    written = schema(Even)

    assert sorted(written["$defs"]) == ["Even", "Odds"]


def test_class_may_be_in_a_set_within_itself() -> None:
    form = form_of(Family, where="test")

    assert bind(form, {"members": [{}]}) == Success(Family(frozenset({Family()})))


def test_local_class_that_refers_to_a_stranger_is_refused() -> None:
    @dataclasses.dataclass
    class Lost:
        itself: "Lost"
        stranger: "Stranger"  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(UsageError, match="got NameError: name 'Stranger' is not defined"):
        form_of(Lost, where="test")


def test_annotations_that_cannot_be_hashed_are_refused() -> None:
    with pytest.raises(UsageError, match="use a class"):
        form_of([int], where="test")


def test_words_come_right_after_the_type_and_the_last_ones_count() -> None:
    """A model reads a schema from the top, and prompts are cached by their bytes."""
    count = Annotated[int, bounded(ge=1), describe("A count.")]
    form = form_of(Annotated[Colour, describe("Of the car.")], where="test")
    twice = form_of(tuple[Annotated[Point, describe("The start.")], Point], where="test")

    assert form_of(count, where="test").schema.text == (
        '{"type":"integer","description":"A count.","minimum":1}'
    )
    assert form.schema.text == (
        '{"type":"string","description":"Of the car.","enum":["red","blue"]}'
    )
    assert '{"$ref":"#/$defs/Point","description":"The start."}' in twice.schema.text


def test_metadata_that_cannot_be_hashed_is_no_obstacle() -> None:
    listed: Any = Annotated[int, ["a list"]]

    assert schema(listed) == INTEGER
    assert schema(Box[listed])["properties"]["content"]["type"] == "integer"


def test_metadata_that_cannot_be_hashed_tells_arguments_apart() -> None:
    small: Any = Annotated[int, ["a list"], bounded(le=1)]
    large: Any = Annotated[int, ["a list"], bounded(ge=2)]
    form = form_of(tuple[Box[small], Box[large]], where="test")

    assert bind(form, [{"content": 1}, {"content": 2}]) == Success((Box(1), Box(2)))


def test_what_a_class_has_of_its_own_is_no_metadata() -> None:
    @dataclasses.dataclass
    class Labelled:
        description: str = "none"
        ge: int = 3

    form = form_of(list[Annotated[Labelled, "words"]], where="test")

    assert "description" not in json.loads(form.schema.text)["items"]
    assert bind(form, [{"ge": 1}]) == Success([Labelled(ge=1)])


def test_definitions_are_named_after_classes_and_arguments() -> None:
    union = getattr(int | str, "__name__", "of")
    kinds = (Listing[int], Listing[str], Naming[int], Box[int], Box[int | str], Box[list[int]])
    written = schema(types.GenericAlias(tuple, kinds * 2))  # each twice, else they stand in place

    assert {name: part.get("type") for name, part in written["$defs"].items()} == {
        "Listing_int": "array",
        "Listing_str": "array",
        "Naming_int": "object",
        "Box_int": "object",
        f"Box_{union}": "object",
        "Box_list": "object",
    }
    assert written["$defs"]["Listing_int"]["items"] == INTEGER


def test_definitions_have_names_that_every_provider_takes() -> None:
    odd = attrs.make_class("Odd [name]", {"value": attrs.field(type=int)})

    assert [*schema(types.GenericAlias(tuple, (odd, odd)))["$defs"]] == ["Odd__name_"]


def _pydantic_of(inner: type[object]) -> Any:
    """A model with a nested one that is called `Inner`."""
    nested = pydantic.create_model("Inner", value=(inner, ...))
    return pydantic.create_model("Outer", one=(nested, ...), many=(list[nested], ...))  # type: ignore[valid-type]


def test_models_may_have_parts_of_one_name() -> None:
    numbers, words = _pydantic_of(int), _pydantic_of(str)
    form = form_of(types.GenericAlias(tuple, (numbers, words)), where="test")
    number, word = {"value": 1}, {"value": "a"}

    assert form.decoder.accepts([{"one": number, "many": [number]}, {"one": word, "many": [word]}])
    assert not form.decoder.accepts([{"one": word, "many": []}, {"one": word, "many": []}])
    assert not form.decoder.accepts([{"one": number, "many": []}, {"one": word, "many": [number]}])


def test_bounds_go_into_described_types() -> None:
    inner = Annotated[int, describe("A count.")]
    Counted = NewType("Counted", inner)

    assert schema(Annotated[Counted, bounded(ge=1)]) == {
        "type": "integer",
        "description": "A count.",
        "minimum": 1,
    }


def test_definitions_that_share_a_third_are_not_recursive() -> None:
    @attrs.frozen
    class Left:
        point: Point

    @attrs.frozen
    class Right:
        point: Point
        left: Left

    written = schema(tuple[Right, Left, Right])

    assert sorted(written["$defs"]) == ["Left", "Point", "Right"]
