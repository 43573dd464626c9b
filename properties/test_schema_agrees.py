"""Law 16: a schema accepts a value exactly when its structural decoder does.

The oracles are `jsonschema` for acceptance and msgspec for the schemas of plain classes. Types are
generated together with values of theirs; values are tried as they are, damaged in one place, and
made of anything.
"""

import dataclasses
import enum
import json
import typing
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

import attrs
import jsonschema
import msgspec
from hypothesis import assume, event, given
from hypothesis import strategies as st

from stepfold.schema import (
    JsonSchemaForm,
    bind,
    binds_user_code,
    bounded,
    check_text,
    describe,
    encode_result,
    form_of,
    pattern,
    schema_of,
    to_dialect,
    unbind,
    without_added_nulls,
)
from stepfold.schema._grammars import MOST_DAYS
from stepfold.values._json import JsonText
from stepfold.values._outcome import Failure, Success

Values = st.SearchStrategy[Any]
Typed = tuple[Any, Values]


def of(origin: Any, *arguments: Any) -> Any:
    """A generic type, made at run time."""
    return origin[arguments if len(arguments) > 1 else arguments[0]]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Shape(enum.Enum):
    POINT = (0, 0)
    LINE = (0, 1)


class Mixed(enum.Enum):
    ONE = 1
    YES = True
    NAME = "name"
    HALF = 0.5


@dataclasses.dataclass(frozen=True)
class Tree:
    value: int
    children: "tuple[Tree, ...]" = ()


class Point(typing.NamedTuple):
    x: float
    y: float | None = None


class Options(typing.TypedDict, total=False):
    limit: typing.Required[int]
    order: Literal["up", "down"]


# --- types with values of theirs ------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
floats = st.floats(allow_nan=False, allow_infinity=False)
offsets = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
zones = st.none() | st.just(UTC) | offsets
spans = st.timedeltas(timedelta(days=-MOST_DAYS), timedelta(days=MOST_DAYS))
decimals = st.decimals(allow_nan=False, allow_infinity=False, places=3) | st.integers().map(Decimal)
trees = st.recursive(
    st.builds(Tree, st.integers()),
    lambda inner: st.builds(Tree, st.integers(), st.lists(inner, max_size=2).map(tuple)),
    max_leaves=4,
)
options = st.fixed_dictionaries(
    {"limit": st.integers()}, optional={"order": st.sampled_from(["up", "down"])}
)

textual: list[Typed] = [
    (str, texts),
    (bytes, st.binary(max_size=8)),
    (date, st.dates()),
    (datetime, st.datetimes(timezones=zones)),
    (time, st.times()),
    (timedelta, spans),
    (Decimal, decimals),
    (UUID, st.uuids()),
    (Colour, st.sampled_from(Colour)),
    (Shape, st.sampled_from(Shape)),
    (Literal["a", "b"], st.sampled_from(["a", "b"])),
    (Annotated[str, bounded(min_length=1, max_length=3)], st.text("xyz", min_size=1, max_size=3)),
    (
        Annotated[str, pattern("^[a-c]+$"), pattern("a")],
        st.text("abc", max_size=4).map("a".__add__),
    ),
]
numeric: list[Typed] = [
    (int, st.integers()),
    (float, floats),
    (Annotated[int, bounded(ge=-3, lt=4), describe("small")], st.integers(-3, 3)),
    (Annotated[float, bounded(gt=0, le=1)], st.floats(0.01, 1)),
    (Annotated[int, bounded(multiple_of=3)], st.integers().map(lambda number: 3 * number)),
    (Level, st.sampled_from(Level)),
    (Literal[1, 2], st.sampled_from([1, 2])),
]
others: list[Typed] = [
    (None, st.none()),
    (bool, st.booleans()),
    (of(Literal, True, "x", None), st.sampled_from([True, "x", None])),
    (Mixed, st.sampled_from(Mixed)),
    (Tree, trees),
    (Point, st.builds(Point, floats, st.none() | floats)),
]
hashable = st.sampled_from(textual + numeric + others)
leaves = hashable | st.just((Options, options))
names = st.lists(st.sampled_from(["a", "b", "c", "alpha", "_under"]), unique=True, max_size=4)


def array_of(typed: Typed) -> st.SearchStrategy[Typed]:
    kind, values = typed
    lists = st.lists(values, max_size=3)
    return st.sampled_from(
        [
            (of(list, kind), lists),
            (of(tuple, kind, ...), lists.map(tuple)),
            (
                of(Annotated, of(list, kind), bounded(min_length=1)),
                st.lists(values, min_size=1, max_size=3),
            ),
        ]
    )


def set_of(typed: Typed) -> Typed:
    kind, values = typed
    return of(frozenset, kind), st.frozensets(values, max_size=3)


def map_of(key: Typed, item: Typed) -> Typed:
    return of(dict, key[0], item[0]), st.dictionaries(key[1], item[1], max_size=3)


def optional_of(typed: Typed) -> Typed:
    return typed[0] | None if typed[0] is not None else None, st.none() | typed[1]


def pair_of(first: Typed, second: Typed) -> Typed:
    return of(tuple, first[0], second[0]), st.tuples(first[1], second[1])


@st.composite
def class_of(draw: st.DrawFn, inner: st.SearchStrategy[Typed]) -> Typed:
    fields = {name: draw(inner) for name in draw(names)}
    has_default = {name: draw(st.booleans()) for name in fields}
    makers = (make_attrs, make_dataclass, make_typed_dict)
    made: Typed = draw(st.sampled_from(makers))(fields, has_default)
    return made


def make_attrs(fields: dict[str, Typed], has_default: dict[str, bool]) -> Typed:
    made = attrs.make_class(
        "Made",
        {
            name: attrs.field(kw_only=True, type=kind or type(None), **defaults(has_default[name]))
            for name, (kind, _) in fields.items()
        },
        frozen=True,
    )
    return made, st.builds(made, **{name.lstrip("_"): typed[1] for name, typed in fields.items()})


def defaults(has_default: bool) -> dict[str, Any]:
    return {"default": None} if has_default else {}


def make_dataclass(fields: dict[str, Typed], has_default: dict[str, bool]) -> Typed:
    made = dataclasses.make_dataclass(
        "Made",
        [
            (name, kind, dataclasses.field(kw_only=True, **defaults(has_default[name])))
            for name, (kind, _) in fields.items()
        ],
    )
    return made, st.builds(made, **{name: values for name, (_, values) in fields.items()})


def make_typed_dict(fields: dict[str, Typed], has_default: dict[str, bool]) -> Typed:
    wrapped = {
        name: of(typing.NotRequired, kind) if has_default[name] else kind
        for name, (kind, _) in fields.items()
    }
    made: Any = vars(typing)["TypedDict"]("Made", wrapped)  # no class for mypy
    given_always = {name: typed[1] for name, typed in fields.items() if not has_default[name]}
    given_at_times = {name: typed[1] for name, typed in fields.items() if has_default[name]}
    return made, st.fixed_dictionaries(given_always, optional=given_at_times)


def containers(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    return st.one_of(
        inner.flatmap(array_of),
        hashable.map(set_of),
        st.builds(map_of, st.sampled_from(textual), inner),
        inner.map(optional_of),
        st.builds(pair_of, inner, inner),
        class_of(inner),
    )


typed_values = st.recursive(leaves, containers, max_leaves=6)


@st.composite
def unions(draw: st.DrawFn) -> Typed:
    """Unions whose members may overlap: good for acceptance, not for the way back."""
    members = draw(st.lists(typed_values, min_size=2, max_size=3))
    kinds = tuple(kind for kind, _ in members)
    return of(typing.Union, *kinds), st.one_of([values for _, values in members])


# --- JSON -----------------------------------------------------------------------------------------

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.integers(),
    st.sampled_from([10**400, -(2**53) - 1, 1e308, -0.0, 0.1, 0.3]),
    floats,
    texts,
    st.sampled_from(
        ["2024-02-30", "2023-02-29", "2024-02-29\n", "P", "PT", "1e5", "24:00:00", "a"]
    ),
)
documents = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "b", "alpha", "value", "x", "é/~"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def damaged(value: object, draw: st.DrawFn) -> object:
    """One small change somewhere in a document."""
    if isinstance(value, dict) and value and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(value)))
        action = draw(st.sampled_from(["into", "drop", "add"]))
        if action == "drop":
            return {name: item for name, item in value.items() if name != key}
        if action == "add":
            return {**value, draw(texts): draw(scalars)}
        return {**value, key: damaged(value[key], draw)}
    if isinstance(value, list) and value and draw(st.booleans()):
        index = draw(st.integers(0, len(value) - 1))
        action = draw(st.sampled_from(["into", "drop", "twice"]))
        if action == "into":
            return [*value[:index], damaged(value[index], draw), *value[index + 1 :]]
        return value[:index] + value[index + 1 :] if action == "drop" else [*value, value[index]]
    if isinstance(value, str) and draw(st.booleans()):
        at = draw(st.integers(0, len(value)))
        return (
            value[:at]
            + draw(st.sampled_from(["", "0", "9", "-", "\n", "T", "٣"]))
            + value[at + 1 :]
        )
    if isinstance(value, int) and draw(st.booleans()):
        return float(value) if abs(value) < 2**53 else value + 1
    return draw(scalars)


@st.composite
def forms_and_documents(draw: st.DrawFn, types: st.SearchStrategy[Typed]) -> tuple[Any, object]:
    kind, values = draw(types)
    form = form_of(kind, where="property")
    how = draw(st.sampled_from(["valid", "damaged", "anything"]))
    event(how)
    if how == "anything":
        return form, draw(documents)
    document = unbind(draw(values))
    return form, damaged(document, draw) if how == "damaged" else document


def oracle(schema: JsonText) -> Callable[[object], bool]:
    return jsonschema.Draft202012Validator(json.loads(schema.text)).is_valid


@given(typed_values | unions())
def test_what_is_written_is_a_schema(typed: Typed) -> None:
    form = form_of(typed[0], where="property")

    jsonschema.Draft202012Validator.check_schema(json.loads(schema_of(form).text))


@given(forms_and_documents(typed_values | unions()))
def test_schema_and_decoder_agree(case: tuple[Any, object]) -> None:
    form, document = case
    expected = oracle(schema_of(form))(document)
    faults = form.decoder.check(document)
    event(f"accepted: {expected}")

    assert (not faults) == expected, faults
    assert len(faults) <= 10
    assert all(len(fault.message) <= 300 for fault in faults)
    assert form.decoder.check(document) == faults


@given(forms_and_documents(typed_values | unions()))
def test_what_passes_the_check_binds(case: tuple[Any, object]) -> None:
    form, document = case
    assume(not form.decoder.check(document))

    event(f"may run user code: {binds_user_code(form)}")  # only sets of classes, here

    assert isinstance(bind(form, document), Success)


@given(typed_values.flatmap(lambda typed: st.tuples(st.just(typed[0]), typed[1])))
def test_a_value_comes_back_as_it_was(case: tuple[Any, Any]) -> None:
    kind, value = case
    form = form_of(kind, where="property")

    assert bind(form, unbind(value, form)) == Success(value)


@given(forms_and_documents(typed_values))
def test_text_is_checked_as_its_value_is(case: tuple[Any, object]) -> None:
    form, document = case
    assume(document != "")
    expected = form.decoder.check(document)

    match check_text(form.decoder, json.dumps(document)):
        case Success(value):
            assert not expected
            assert value == document
        case Failure(faults):
            assert faults == expected


# --- ready schemas --------------------------------------------------------------------------------

keywords: dict[str, Values] = {
    "type": st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
    | st.lists(st.sampled_from(["null", "integer", "string", "array"]), min_size=1, unique=True),
    "enum": st.lists(documents, max_size=3),
    "const": documents,
    "minimum": st.integers(-3, 3) | st.floats(-3, 3),
    "exclusiveMinimum": st.integers(-3, 3),
    "maximum": st.integers(-3, 3),
    "exclusiveMaximum": st.floats(-3, 3),
    "multipleOf": st.sampled_from([1, 2, 0.1, 0.5, 3.0]),
    "minLength": st.integers(0, 3),
    "maxLength": st.integers(0, 3),
    "pattern": st.sampled_from(["^a", "a$", "[0-9]", "^$"]),
    "minItems": st.integers(0, 2),
    "maxItems": st.integers(0, 2),
    "uniqueItems": st.booleans(),
    "minContains": st.integers(0, 2),
    "maxContains": st.integers(0, 2),
    "required": st.lists(st.sampled_from(["a", "b", "x"]), max_size=2, unique=True),
    "minProperties": st.integers(0, 2),
    "maxProperties": st.integers(0, 2),
    "dependentRequired": st.just({"a": ["b"]}),
    "format": st.sampled_from(["date", "email"]),
    "title": texts,
}


def schemas_above(inner: Values) -> Values:
    members = st.lists(inner, min_size=1, max_size=3)
    named = partial(st.dictionaries, max_size=2)
    nested = {
        "items": inner,
        "prefixItems": members,
        "contains": inner,
        "properties": named(st.sampled_from(["a", "b", "alpha"]), inner),
        "patternProperties": named(st.sampled_from(["^a", "b$"]), inner),
        "additionalProperties": inner,
        "propertyNames": inner,
        "anyOf": members,
        "oneOf": members,
        "allOf": members,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "$ref": st.just("#/$defs/Named"),
    }
    chosen = st.lists(st.sampled_from(sorted(keywords | nested)), max_size=3, unique=True)
    return st.booleans() | chosen.flatmap(
        lambda names: st.fixed_dictionaries({name: (keywords | nested)[name] for name in names})
    )


schemas = st.recursive(st.just(True), schemas_above, max_leaves=5)


@given(schemas, schemas.filter(lambda schema: "$ref" not in str(schema)), documents)
def test_ready_schemas_agree_with_the_oracle(schema: Any, named: Any, document: object) -> None:
    whole = JsonText.of({"allOf": [schema], "$defs": {"Named": named}})
    form = JsonSchemaForm(whole)
    try:
        expected = oracle(whole)(document)
    except OverflowError:  # the oracle divides an integer by a float beyond its range
        assume(False)
        raise
    faults = form.decoder.check(document)
    event(f"accepted: {expected}")

    assert (not faults) == expected, faults
    assert bind(form, document) == (Failure(faults) if faults else Success(document))


# --- a second oracle for the schemas of plain classes ---------------------------------------------


@dataclasses.dataclass
class Plain:
    """A plain class."""

    name: str
    count: int
    ratio: float = 0.5
    tags: list[str] = dataclasses.field(default_factory=list)
    colour: Colour = Colour.RED
    limit: Annotated[int, bounded(ge=1, le=9)] | None = None
    pairs: dict[str, tuple[int, bool]] = dataclasses.field(default_factory=dict)


@attrs.frozen
class Nested:
    plain: Plain
    many: tuple[Plain, ...] = ()
    kind: Literal["a", "b"] = "a"


plain_values = st.builds(
    Plain, texts, st.integers(), floats, colour=st.sampled_from(Colour), limit=st.integers(0, 9)
)
plain: list[Typed] = [
    (Plain, plain_values),
    (Nested, st.builds(Nested, plain_values, st.lists(plain_values, max_size=2).map(tuple))),
    (Tree, trees),
    (Options, options),
]


@given(forms_and_documents(st.sampled_from(plain)))
def test_msgspec_writes_schemas_that_accept_the_same(case: tuple[Any, object]) -> None:
    form, document = case
    cls = form.definitions[-1][1].constructor or Options
    theirs = closed(msgspec.json.schema(cls))

    ours = not form.decoder.check(document)
    assert ours == oracle(JsonText.of(theirs))(document)


def closed(schema: Any) -> Any:
    """Msgspec leaves objects open and does not know our bounds: take both over."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    whole = {key: closed(value) for key, value in schema.items()}
    if isinstance(whole.get("properties"), dict):
        whole["additionalProperties"] = False
        if "anyOf" in whole["properties"].get("limit", {}):
            limit = {"type": "integer", "minimum": 1, "maximum": 9}
            whole["properties"]["limit"]["anyOf"] = [limit, {"type": "null"}]
    return whole


# --- dialects -------------------------------------------------------------------------------------


@given(forms_and_documents(class_of(typed_values)))
def test_draft_07_says_the_same(case: tuple[Any, object]) -> None:
    form, document = case
    translated = to_dialect(schema_of(form), "draft-07").unwrap()
    validator = jsonschema.Draft7Validator(json.loads(translated.schema.text))

    assert validator.is_valid(document) == (not form.decoder.check(document))


@given(forms_and_documents(class_of(typed_values)))
def test_structured_outputs_of_anthropic_only_widen(case: tuple[Any, object]) -> None:
    form, document = case
    assume(not form.decoder.check(document))
    match to_dialect(schema_of(form), "anthropic"):
        case Success(translated):
            assert oracle(translated.schema)(document)
        case Failure(fault):
            assert fault.message.startswith("expected")


@given(forms_and_documents(class_of(typed_values)))
def test_nulls_that_openai_asks_for_go_away_again(case: tuple[Any, object]) -> None:
    form, document = case
    assume(not form.decoder.check(document))
    match to_dialect(schema_of(form), "openai-strict"):
        case Success(translated):
            strict = json.loads(translated.schema.text)
            whole = with_nulls(strict, strict, document)
            assert oracle(translated.schema)(whole)
            assert not form.decoder.check(without_added_nulls(schema_of(form), whole))
        case Failure(fault):
            assert fault.message.startswith("expected")


def with_nulls(root: Any, schema: Any, document: Any) -> Any:
    """What a strict model writes: every property of every object."""
    if "$ref" in schema:
        return with_nulls(root, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], document)
    for member in schema.get("anyOf", []):
        whole = with_nulls(root, member, document)
        if oracle(JsonText.of({"$defs": root.get("$defs", {}), **member}))(whole):
            return whole
    if isinstance(document, dict) and "properties" in schema:
        return {
            name: with_nulls(root, member, document[name]) if name in document else None
            for name, member in schema["properties"].items()
        }
    if isinstance(document, list) and "items" in schema:
        return [with_nulls(root, schema["items"], item) for item in document]
    return document


# --- encoding -------------------------------------------------------------------------------------


oddities_as_keys = st.sampled_from([1, "1", None, (1,), 2.5, Colour.RED, date(1, 1, 1), "\ud800"])
cycle: list[object] = []
cycle.append(cycle)
oddities = st.sampled_from(
    [
        *(object(), Ellipsis, range(3), iter([]), len, complex(1, 1), float("nan"), float("inf")),
        *(cycle, "\ud800", {"\udfff": 1}, {1: 2, "1": 3}, {None: 1}, {(1, 2): 3}, {2.5: 1}),
        *(Decimal("NaN"), Decimal("1E+1000000"), timedelta.max, timedelta.min),
        *({1, "1"}, frozenset({(1, 2)}), memoryview(b"x"), bytearray(b"x"), ValueError("no"), Tree),
        *(Tree(1, (Tree(2),)), Point(1), Colour.RED, Mixed.YES, JsonText("[1]"), date(1, 1, 1)),
    ]
)


@given(
    st.recursive(
        oddities | scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(oddities_as_keys, inner),
        max_leaves=4,
    )
)
def test_encoding_a_result_is_total(value: object) -> None:
    match encode_result(value):
        case Success(text):
            json.loads(text.text)
            text.text.encode()
        case Failure(fault):
            assert fault.message.startswith("expected")
            assert len(fault.message) <= 300
