"""Law 18 for JSON: where a document is cut is of no account, and what is shown of it is certain."""

import json
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from hypothesis import example, given
from hypothesis import strategies as st

from stepfold.values import Failure, JsonBounds, JsonText, PartialJsonReader, Success, parse_json

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

texts = st.text(max_size=6) | st.sampled_from(["", '"', "\\", "\n", "\U0001f600", "é", "]}", "a,b"])
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
trees: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(texts.filter(lambda key: key != "__proto__"), inner, max_size=4)
    ),
    max_leaves=12,
)
indents = st.sampled_from([None, 1, "\t"])
limits = st.sampled_from([JsonBounds(), JsonBounds(40, 2, 3), JsonBounds(40, 2, 12)])
sizes = st.lists(st.integers(0, 7), min_size=1, max_size=8)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Acceptable documents, written in several ways."""
    tree = draw(trees)
    text = json.dumps(
        tree,
        ensure_ascii=draw(st.booleans()),
        indent=draw(indents),
        separators=draw(st.sampled_from([None, (",", ":")])),
    )
    return draw(st.sampled_from(["", " ", "\r\n\t"])) + text + draw(st.sampled_from(["", "\n "]))


@st.composite
def broken(draw: st.DrawFn) -> str:
    """Documents that were cut, or in which something was put."""
    text = draw(documents())
    place = draw(st.integers(0, len(text)))
    put = st.sampled_from(list('[]{},:"\\u 01-.eE\ntfn\ud800') + ["\\ud83d", "\\ude00", "1e999"])
    return text[:place] + draw(put | st.just("")) + text[place + draw(st.integers(0, 3)) :]


def cut(text: str, sizes: Sequence[int]) -> Iterator[str]:
    """Cut a text into pieces of these sizes, again and again; empty ones among them."""
    place = turn = 0
    while place < len(text):
        size = sizes[turn % len(sizes)] if any(sizes) else 1
        yield text[place : place + size]
        place, turn = place + size, turn + 1


# --- the reference: read all that has come, anew each time ---------------------------------------


class Cut(Exception):
    """The text ends here; `args` hold what is certain of the value that was being read."""


def certain(text: str) -> tuple[()] | tuple[object]:
    """What is certain of a document of which this has come."""
    try:
        return (read(text, skip(text, 0))[0],)
    except Cut as end:
        return end.args or ()


def skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\n\r":
        place += 1
    return place


def read(text: str, place: int) -> tuple[object, int]:
    """Read a value; a number is certain once something follows it."""
    match text[place : place + 1]:
        case "":
            raise Cut
        case '"':
            return read_text(text, place + 1)
        case "[":
            return read_array(text, place)
        case "{":
            return read_object(text, place)
        case _:
            end = place
            while end < len(text) and text[end] not in " \t\n\r,]}":
                end += 1
            if end == len(text):
                raise Cut
            return json.loads(text[place:end]), end


def read_text(text: str, place: int) -> tuple[str, int]:
    end = place
    while end < len(text) and text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    if end < len(text):
        return str(json.loads(text[place - 1 : end + 1])), end + 1
    for end in range(len(text), place - 1, -1):  # the longest beginning that can be read
        parsed = parse_json(f'"{text[place:end]}"')
        if isinstance(parsed, Success):
            raise Cut(parsed.unwrap())
    raise AssertionError(text)


def read_array(text: str, place: int) -> tuple[object, int]:
    items: list[object] = []
    place = skip(text, place + 1)
    while text[place : place + 1] != "]":
        try:
            item, place = read(text, place)
        except Cut as end:
            raise Cut([*items, *end.args]) from None
        items.append(item)
        place = skip(text, place)
        if text[place : place + 1] == ",":
            place = skip(text, place + 1)
    return items, place + 1


def read_object(text: str, place: int) -> tuple[object, int]:
    members: dict[str, object] = {}
    place = skip(text, place + 1)
    while text[place : place + 1] != "}":
        if place == len(text):
            raise Cut(members)
        try:
            key, place = read_text(text, place + 1)
        except Cut:
            raise Cut(members) from None
        place = skip(text, place)
        if place == len(text):
            raise Cut(members)
        try:
            members[key], place = read(text, skip(text, place + 1))
        except Cut as end:
            raise Cut(members | dict.fromkeys([key][: len(end.args)], *end.args)) from None
        place = skip(text, place)
        if text[place : place + 1] == ",":
            place = skip(text, place + 1)
    return members, place + 1


# --- the properties -------------------------------------------------------------------------------


@given(documents(), sizes)
@example('{"a":"\\ud83d\\ude00\\n"}', [1])
@example('[{"a":[]},{"a":[1]}]', [3])
@example('{"a":12}', [4])
@example("[11,[2]]", [2, 6])
def test_the_last_partial_is_the_document_however_it_was_cut(text: str, sizes: list[int]) -> None:
    reader = PartialJsonReader()
    for delta in cut(text, sizes):
        reader.feed(delta)

    assert reader.end() is None
    assert reader.value == json.loads(text)
    assert json.loads(JsonText.of(reader.value).text) == json.loads(text)


@given(documents(), sizes)
def test_each_partial_is_what_is_certain_of_all_that_has_come(text: str, sizes: list[int]) -> None:
    reader = PartialJsonReader()
    come = ""
    for delta in cut(text, sizes):
        reader.feed(delta)
        come += delta
        expected = certain(come)

        assert (reader.version > 0) == bool(expected)
        assert not expected or reader.value == expected[0]


@given(documents(), sizes)
def test_a_partial_never_changes_and_has_a_version_of_its_own(text: str, sizes: list[int]) -> None:
    reader = PartialJsonReader()
    seen: list[tuple[int, object, str]] = []
    for delta in cut(text, sizes):
        reader.feed(delta)
        seen.append((reader.version, reader.value, JsonText.of(reader.value).text))

    for version, value, told in seen:
        assert JsonText.of(value).text == told
        assert all(
            (version == other) == (told == text) for other, _, text in seen if other > 0 < version
        )


@given(documents())
def test_each_change_of_the_value_is_a_version(text: str) -> None:
    """Read character by character; what comes at once may be one change."""
    reader = PartialJsonReader()
    told = [""]
    for character in text:
        reader.feed(character)
        now = JsonText.of(reader.value).text if reader.version else ""
        told += [now] if now != told[-1] else []

        assert reader.version == len(told) - 1


@given(documents() | broken(), sizes, limits)
@example('["\\ud800\\u0041"]', [3], JsonBounds())
@example('"\\ude00"', [2], JsonBounds())
@example("[1e999]", [2], JsonBounds())
@example('{"a":1,"a":2}', [4], JsonBounds())
@example('{"__proto__":1}', [4], JsonBounds())
@example("[[[]]]", [6], JsonBounds(40, 2, 3))
@example('{"a":{"a":[]}}', [14], JsonBounds(40, 2, 12))
@example("[[[]]]", [1, 5], JsonBounds(40, 2, 12))
@example("[12345]", [7], JsonBounds(40, 2, 3))
def test_what_the_parser_refuses_is_refused(
    text: str, sizes: list[int], bounds: JsonBounds
) -> None:
    reader = PartialJsonReader(bounds)
    for delta in cut(text, sizes):
        reader.feed(delta)
    fault = reader.end()

    match parse_json(text, bounds):
        case Success(value):
            assert fault is None
            assert reader.value == value
        case Failure(_):
            assert fault is not None


@given(st.lists(trees, max_size=5), sizes)
def test_items_are_given_when_they_are_complete(items: list[Json], sizes: list[int]) -> None:
    text = json.dumps({"elements": items, "more": []})
    reader = PartialJsonReader()
    given_before = 0
    for delta in cut(text, sizes):
        reader.feed(delta)
        complete = reader.items_of("elements")

        assert len(complete) >= given_before
        assert list(complete) == items[: len(complete)]
        given_before = len(complete)
    assert given_before == len(items)
