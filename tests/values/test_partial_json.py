"""JSON that is still coming is read once, and shown by views that never change."""

import json
from collections.abc import Sequence
from unittest.mock import ANY

import pytest

from stepfold.values import (
    DEFAULT_BOUNDS,
    JsonBounds,
    JsonFault,
    JsonObject,
    JsonText,
    PartialArray,
    PartialJson,
    PartialJsonReader,
    PartialObject,
)
from stepfold.values._partial_views import shown
from tests.lines import lines_of


def reader_of(*deltas: str) -> PartialJsonReader:
    reader = PartialJsonReader()
    for delta in deltas:
        reader.feed(delta)
    return reader


def partial(*deltas: str) -> PartialJson:
    reader = reader_of(*deltas)

    assert reader.fault is None
    assert reader.version > 0
    return reader.value


def read(deltas: Sequence[str], bounds: JsonBounds) -> None:
    """Read a document, and look at it at each delta."""
    reader = PartialJsonReader(bounds)
    for delta in deltas:
        reader.feed(delta)
        value = reader.value
        if isinstance(value, PartialObject):
            value.get("elements")
    assert reader.end() is None


def operations(deltas: Sequence[str], bounds: JsonBounds = DEFAULT_BOUNDS) -> int:
    """How many lines of Python it takes to read a document and to look at it at each delta."""
    return lines_of(lambda: read(deltas, bounds))


def pieces(text: str, size: int) -> list[str]:
    return [text[place : place + size] for place in range(0, len(text), size)]


# --- what is shown ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2', {"a": [1]}),
        ('{"a": [1, 2,', {"a": [1, 2]}),
        ('{"a": tru', {}),
        ('{"a": true,', {"a": True}),
        ('{"a": "Os', {"a": "Os"}),
        ('{"a": "', {"a": ""}),
        ('{"a": "\\u00e', {"a": ""}),
        ('{"a": "\\ud83d', {"a": ""}),
        ('{"a": "\\ud83d\\', {"a": ""}),
        ('{"a": "x\\', {"a": "x"}),
        ('{"a', {}),
        ('{"a"', {}),
        ('{"a":', {}),
        ('{"a": {', {"a": {}}),
        ('{"a": {}, "b": [[]', {"a": {}, "b": [[]]}),
        ('"Os', "Os"),
        ('["\\ud83d\\ude00\\n\\/', ["\U0001f600\n/"]),
        ('["\\u00e9é', ["éé"]),
        ("[null ", [None]),
        ("null ", None),
        ("-12.5e3\n", -12500.0),
    ],
)
def test_what_is_certain_is_shown(text: str, value: object) -> None:
    """Open structures are closed; literals, numbers, keys and escapes wait for their end."""
    assert partial(text) == value
    assert partial(*text) == value


@pytest.mark.parametrize("text", ["", " \n", "12", "-", "nul"])
def test_nothing_is_told_from_null(text: str) -> None:
    reader = reader_of(text)

    assert (reader.version, reader.value) == (0, None)


def test_a_number_is_complete_at_the_end() -> None:
    reader = reader_of("1", "2")

    assert reader.end() is None
    assert (reader.version, reader.value) == (1, 12)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Hello", JsonFault("unexpected 'H'", 0)),
        ('{"a": 1}}', JsonFault("unexpected '}'", 8)),
        ('{"a" 1}', JsonFault("unexpected '1'", 5)),
        ("{1}", JsonFault("unexpected '1'", 1)),
        ('{"a":1,}', JsonFault("unexpected '}'", 7)),
        ("[1,]", JsonFault("unexpected ']'", 3)),
        ("[1}", JsonFault("unexpected '}'", 2)),
        ("[01]", JsonFault("unexpected '01'", 3)),
        ('["\\x"]', JsonFault("an invalid escape", 2)),
        ('["\n"]', JsonFault("a control character in a string", 2)),
        (
            '["\\ud800x"]',
            JsonFault("a string holds a lone surrogate, which has no UTF-8 form", 2),
        ),
        ('"\ud800"', JsonFault("a string holds a lone surrogate, which has no UTF-8 form")),
        (
            '["\\ud800\\n"]',
            JsonFault("a string holds a lone surrogate, which has no UTF-8 form", 2),
        ),
        (
            '["\\udc00"]',
            JsonFault("a string holds a lone surrogate, which has no UTF-8 form", 2),
        ),
        ('{"a":1,"a"', JsonFault("the key 'a' occurs twice in one object", 9)),
        (
            '{"__proto__"',
            JsonFault(
                "the key '__proto__' is refused: it changes objects of JavaScript clients", 11
            ),
        ),
        ("[1e999 ", JsonFault("the number 1e999 is too large for a 64-bit float", 6)),
        ("[1", JsonFault("the document is not complete", 2)),
        ("-", JsonFault("unexpected '-'", 1)),
        ("", JsonFault("the document is not complete", 0)),
    ],
)
def test_a_fault_says_where_it_is(text: str, fault: JsonFault) -> None:
    """It is found as early as it is certain, and what came before it stays."""
    assert reader_of(text).end() == fault
    if fault.position is not None:
        assert reader_of(*text).end() == fault


def test_after_a_fault_nothing_is_taken_in() -> None:
    reader = reader_of('{"a": [1, 2], x')
    seen = reader.value
    reader.feed('"b": 3}')

    assert reader.value is seen
    assert reader.end() is reader.fault is not None


def test_bounds_are_those_of_the_parser() -> None:
    deep = PartialJsonReader(JsonBounds(depth=2))
    deep.feed("[[[]]]")

    assert deep.fault == JsonFault("nested more than 2 deep", 2)
    long = PartialJsonReader(JsonBounds(length=3))
    long.feed("[1, 2]")

    assert long.fault == JsonFault("the document has over 3 characters, which is the most allowed")

    fitting = PartialJsonReader(JsonBounds(length=6))
    fitting.feed("[1, 2]")

    assert fitting.end() is None


def test_nesting_deeper_than_the_stack_is_refused_like_any_other() -> None:
    """Also where all of it comes at once."""
    reader = reader_of("[" * 1_020 + "]" * 1_020)

    assert reader.fault == JsonFault("nested more than 64 deep", 64)


def test_a_document_may_be_written_without_spaces() -> None:
    assert partial('{"a":12,"b":[3,4]}') == {"a": 12, "b": [3, 4]}


def test_what_begins_no_value_is_named_at_once() -> None:
    """Also a letter, of which some do begin one."""
    assert reader_of("x").fault == JsonFault("unexpected 'x'", 0)


def test_a_long_number_that_is_acceptable_is_exact() -> None:
    digits = "1" * 40

    assert partial(f"[{digits},") == [int(digits)]
    assert partial("[1e2,", "1e-400,") == [100.0, 0.0]


def test_items_are_those_of_a_member_that_is_an_array() -> None:
    assert reader_of('{"a": [1, [2]').items_of("a") == [1, [2]]
    assert reader_of('{"a": [1], "b": [').items_of("a") == [1]
    assert reader_of('{"a": [1]}').items_of("a") == [1]
    assert reader_of('{"a": {"b"').items_of("a") == ()
    assert reader_of("[[1]]").items_of("a") == ()
    assert reader_of("").items_of("a") == ()
    assert reader_of('{"a": [1], "b": "c').has("a")
    assert not reader_of('{"a": [1], "b": "c').has("b")


# --- the views --------------------------------------------------------------------------------


def test_a_view_is_a_sequence_or_a_mapping() -> None:
    value = partial('{"a": [1, {"b": []}, "op')

    assert isinstance(value, PartialObject)
    array = value["a"]
    assert isinstance(array, PartialArray)
    assert (array[0], array[-1]) == (1, "op")
    assert list(array[1:]) == [{"b": []}, "op"]
    assert list(array) == [1, {"b": []}, "op"]
    assert (
        repr(value)
        == "PartialObject({'a': PartialArray([1, PartialObject({'b': PartialArray([])}), 'op'])})"
    )
    assert JsonText.of(value) == JsonText('{"a":[1,{"b":[]},"op"]}')
    with pytest.raises(IndexError, match="expected an index below 3, got 3"):
        array[3]
    with pytest.raises(KeyError):
        value["b"]


def test_a_view_equals_what_holds_the_same() -> None:
    """Equal values have equal hashes."""
    array = partial('["a", {"b": ["c"')

    assert array == ["a", {"b": ["c"]}] == array
    assert array == ("a", JsonObject({"b": ("c",)}))
    assert array == partial('["a", {"b": ["c"')
    assert array != ["a"]
    assert (array == "a") is False
    assert array == ANY
    assert partial('{"a": "b') == partial('{"a": "b"}') == ANY
    assert partial('{"a": "b') != {"a": "c"}
    assert partial('{"a": "b') != {"b": "b"}
    assert partial('{"a": "b') != ["a"]
    assert hash(array) == hash(("a", JsonObject({"b": ("c",)})))


def test_a_view_stays_as_it_was_while_more_comes() -> None:
    reader = reader_of('{"a": "b", "c": "d')
    before = reader.value
    assert isinstance(before, PartialObject)
    keys = iter(before)
    first = next(keys)
    reader.feed('e", "f": ["g')
    later = reader.value

    assert before == {"a": "b", "c": "d"}
    assert [first, *keys] == ["a", "c"]
    assert "f" not in before
    assert later == {"a": "b", "c": "de", "f": ["g"]}


def test_a_view_shows_what_there_was_when_it_was_made_though_nobody_looked() -> None:
    reader = reader_of('[{"a": ["b", ')
    before = reader.value
    reader.feed('"c"], "d": "e"}, "f"]')

    assert before == [{"a": ["b"]}]


def test_what_has_not_changed_is_not_made_anew() -> None:
    reader = reader_of('["a", ')
    before = reader.value
    reader.feed(" ")

    assert reader.value is before


def test_only_json_is_shown() -> None:
    with pytest.raises(TypeError, match="expected a JSON value, got set"):
        shown({1})


# --- what it costs ----------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 100])
def test_the_cost_is_linear_in_the_document(size: int) -> None:
    """Twice the document costs twice as much, looked at after each delta."""

    def cost(count: int) -> int:
        objects = [{"id": n, "name": "Ada \u00e9", "tags": ["a", None]} for n in range(count)]
        return operations(pieces(json.dumps({"elements": objects}), size))

    assert cost(400) < 2.1 * cost(200)


def test_a_long_text_costs_no_more_for_each_delta() -> None:
    def cost(length: int) -> int:
        return operations(pieces(json.dumps({"elements": "a" * length}), 5))

    assert cost(4_000) < 2.1 * cost(2_000)


def test_ends_of_containers_are_not_searched_again_and_again() -> None:
    """Nesting that does not end in a delta costs what it is long."""

    def cost(count: int) -> int:
        return operations(pieces("[" + ",".join(["[[[{},[{}]]]]"] * count) + "]", 9))

    assert cost(400) < 2.1 * cost(200)


@pytest.mark.parametrize(
    ("around", "bounds"),
    [
        (("[", "]"), JsonBounds(depth=1)),
        (('{"elements":[', "]}"), JsonBounds(depth=2)),
        (("[[[[", "]]]]"), JsonBounds(depth=4)),
    ],
)
def test_a_container_that_comes_whole_is_taken_in_at_once(
    around: tuple[str, str], bounds: JsonBounds
) -> None:
    """However many items it has, up to the depth that is allowed."""

    def cost(count: int) -> int:
        return operations([",".join("1" * count).join(around)], bounds)

    assert cost(100) == cost(10)


def test_a_number_within_the_bounds_is_looked_at_once() -> None:
    """Also one of the most digits that are allowed."""

    def cost(number: str) -> int:
        return operations(("[", number, ",0]"), JsonBounds(digits=5))

    assert cost("12345") == cost("1")


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        (r'"\ud7ff"', True),
        (r'"\ue000"', True),
        (r'"\ud800\udc00"', True),
        (r'"\udbff\udfff"', True),
        (r'"\ud800"', False),
        (r'"\udc00"', False),
        (r'"\udfff"', False),
        (r'"\udbff\udbff"', False),
        (r'"\udc00\udc00"', False),
        (r'"\ud800\ue000"', False),
    ],
)
def test_halves_of_a_character_are_joined_or_refused_to_the_last(text: str, is_whole: bool) -> None:
    """However they come."""
    reader = reader_of(*text)

    assert (reader.end() is None) == is_whole
    assert not is_whole or reader.value == json.loads(text)
