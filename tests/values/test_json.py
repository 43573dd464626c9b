"""JSON is kept as its text, and text from outside is taken in under bounds."""

import hashlib
import json
import sys
import time
from enum import IntEnum
from types import MappingProxyType
from typing import Any

import pytest

from stepfold.values import (
    DEFAULT_BOUNDS,
    Failure,
    JsonBounds,
    JsonFault,
    JsonObject,
    JsonText,
    Success,
    dump_json,
    frozen_json,
    parse_json,
    without_lone_surrogates,
)
from tests.lines import lines_of


class Level(IntEnum):
    LOW = 1


def refusal(text: str, bounds: JsonBounds = DEFAULT_BOUNDS) -> JsonFault:
    """Parse a text that must be refused, and tell why it was."""
    outcome = parse_json(text, bounds)

    assert isinstance(outcome, Failure)
    return outcome.failure()


# --- JsonText ---------------------------------------------------------------------------------


def test_equality_is_that_of_the_text() -> None:
    """Two spellings of one document are two values, so equal values have equal bytes (law 1)."""
    assert JsonText('{"a":1}') == JsonText.of({"a": 1})
    assert JsonText('{"a":1}') != JsonText('{"a": 1}')
    assert JsonText("0") != JsonText("false")


def test_a_document_is_read_through_frozen_values() -> None:
    """Nothing mutable is reachable from a value."""
    text = JsonText('{"a":[1,{"b":null}],"c":"d"}')

    assert JsonObject({"a": (1, JsonObject({"b": None})), "c": "d"}) == text.value
    assert text.value is text.value


def test_encoding_is_compact_and_keeps_the_order_of_keys() -> None:
    """`of` writes what was given, as it was given."""
    assert JsonText('{"b":[1,2.5],"a":"ü"}') == JsonText.of({"b": (1, 2.5), "a": "ü"})


def test_the_canonical_form_sorts_keys_and_keeps_integers_exact() -> None:
    """What is digested does not depend on white space or on the order of keys."""
    text = JsonText('{ "b" : 12345678901234567890123, "a" : "ü" }')

    assert text.canonical() == '{"a":"ü","b":12345678901234567890123}'


def test_the_digest_is_sha_256_of_the_canonical_form() -> None:
    """Spellings share a digest; documents that differ do not."""
    expected = hashlib.sha256(b'{"a":1,"b":2}').hexdigest()

    assert expected == JsonText('{"b": 2, "a": 1}').digest()
    assert expected != JsonText('{"b": 2, "a": 1.0}').digest()


def test_parsing_a_text_keeps_it_as_it_came() -> None:
    """An acceptable text is not rewritten: providers cache by its bytes."""
    assert Success(JsonText(' {"a": 1} ')) == JsonText.parse(' {"a": 1} ')


def test_parsing_a_text_that_is_no_document_is_a_failure() -> None:
    """`parse` is total: bad text is a value, not an exception."""
    outcome = JsonText.parse('{"a": 1')

    assert isinstance(outcome, Failure)


# --- JsonObject -------------------------------------------------------------------------------


def test_an_object_is_a_mapping_in_the_order_of_its_text() -> None:
    """Iteration keeps the order of the document; equality and hash do not depend on it."""
    left = JsonObject({"b": 1, "a": 2})
    right = JsonObject({"a": 2, "b": 1})

    assert list(left) == ["b", "a"]
    assert len(left) == 2
    assert left["b"] == 1
    assert left == right
    assert hash(left) == hash(right) == hash(left)
    assert repr(left) == "JsonObject({'b': 1, 'a': 2})"


def test_an_object_is_not_a_plain_mapping() -> None:
    """A dict, which may change later, is never equal to a frozen object."""
    assert JsonObject({"a": 1}) != {"a": 1}
    assert (JsonObject({}) == {}) is False


def test_an_object_does_not_follow_the_dict_it_was_made_from() -> None:
    """What is frozen stays as it was."""
    members: dict[str, Any] = {"a": 1}
    frozen = JsonObject(members)
    members["a"] = 2

    assert frozen["a"] == 1


# --- freezing and dumping ---------------------------------------------------------------------


def test_freezing_turns_lists_into_tuples_and_dicts_into_objects() -> None:
    """Freezing copies all the way down, and leaves alone what is frozen."""
    inner = JsonObject({"x": 1})

    assert (1, 0.5, "a", None, True, inner) == frozen_json([1, 0.5, "a", None, True, inner])
    assert JsonObject({"a": (1,)}) == frozen_json({"a": [1]})


@pytest.mark.parametrize("value", [{1, 2}, b"ab", bytearray(b"ab"), object()])
def test_what_is_no_json_is_not_frozen(value: object) -> None:
    """Bytes are a sequence of numbers to Python, but no JSON."""
    with pytest.raises(TypeError, match=f"expected a JSON value, got {type(value).__name__}"):
        frozen_json(value)


def test_the_key_of_an_object_is_a_string() -> None:
    """A number as a key would come back as a string."""
    with pytest.raises(TypeError, match="expected a string as the key of a JSON object, got int"):
        frozen_json({1: 2})


def test_dumping_takes_frozen_and_plain_values_alike() -> None:
    """Frozen or not, the same document has the same text."""
    assert dump_json(JsonObject({"a": (1, JsonObject({"b": "c"}))})) == '{"a":[1,{"b":"c"}]}'
    assert dump_json({"a": [1, {"b": "c"}]}) == '{"a":[1,{"b":"c"}]}'
    assert dump_json([Level.LOW]) == "[1]"


def test_dumping_reads_any_mapping() -> None:
    """A read-only mapping is as good as a dict."""
    assert dump_json(MappingProxyType({"a": 1})) == '{"a":1}'
    with pytest.raises(TypeError, match="expected a string as the key of a JSON object, got int"):
        dump_json(MappingProxyType({1: 1}))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({1: 2}, "int"),
        ({"a": [({None: 2},)]}, "NoneType"),
        ([{True: 2}, "a"], "bool"),
        ({1.5: 2}, "float"),
    ],
)
def test_a_key_that_is_no_string_is_not_dumped(value: object, kind: str) -> None:
    """Python's encoder would make a string of it, and it would come back as one."""
    told = f"expected a string as the key of a JSON object, got {kind}"
    with pytest.raises(TypeError, match=told):
        dump_json(value)
    with pytest.raises(TypeError, match=told):
        JsonText.of(value)


def test_values_of_the_program_itself_have_no_bounds() -> None:
    """What is refused from outside may well be a result of one's own."""
    deep: object = "bottom"
    for _ in range(100):
        deep = [deep]

    assert (
        JsonText.of({"__proto__": deep}).text == f'{{"__proto__":{"[" * 100}"bottom"{"]" * 100}}}'
    )
    assert isinstance(JsonText.parse(JsonText.of(deep).text), Failure)
    assert isinstance(JsonText.parse('{"__proto__":1}'), Failure)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_has_no_utf_8_json_form_is_not_dumped(value: object) -> None:
    """NaN, infinities and lone surrogates would make text that nobody can read back."""
    with pytest.raises(ValueError, match=r"."):
        dump_json({"a": value})


@pytest.mark.parametrize("value", [{1}, b"a", bytearray(b"a"), memoryview(b"a")])
def test_what_json_has_no_form_for_is_not_dumped(value: object) -> None:
    """The type is named."""
    with pytest.raises(TypeError, match=f"{type(value).__name__} has no JSON form"):
        dump_json({"a": value})


# --- text from outside ------------------------------------------------------------------------


def test_an_acceptable_document_becomes_plain_values() -> None:
    """The result is the caller's own, made of dicts and lists."""
    assert Success({"a": [1, 2.5, None, "é😀"]}) == parse_json(
        '{"a":[1,2.5,null,"é\\ud83d\\ude00"]}'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("{", "Expecting property name enclosed in double quotes"),
        ('{"a":1} x', "Extra data"),
        ('"a\nb"', "Invalid control character at"),
        ("NaN", "NaN is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ("1e999", "the number 1e999 is too large for a 64-bit float"),
        ('{"a":1,"b":2,"a":3}', "the key 'a' occurs twice in one object"),
        (
            '[{"__proto__":{}}]',
            "the key '__proto__' is refused: it changes objects of JavaScript clients",
        ),
        ('"\ud800"', "a string holds a lone surrogate, which has no UTF-8 form"),
        ('"\\ud800"', "a string holds a lone surrogate, which has no UTF-8 form"),
        ('{"\\uDC00":1}', "a string holds a lone surrogate, which has no UTF-8 form"),
    ],
)
def test_hostile_text_is_refused_and_told_why(text: str, message: str) -> None:
    """Whatever the text, parsing it gives a fault and never raises (law 3)."""
    assert message == refusal(text).message


def test_a_fault_of_syntax_tells_its_place() -> None:
    """The position is a character index."""
    assert JsonFault("Expecting value", 5) == refusal('{"a":}')


def test_a_document_over_the_length_is_refused_unread() -> None:
    """Length is counted in characters."""
    bounds = JsonBounds(length=10)

    assert Success("12345678") == parse_json('"12345678"', bounds)
    assert (
        refusal('"123456789"', bounds).message
        == "the document has 11 characters, at most 10 allowed"
    )


def test_nesting_is_bounded_without_parsing() -> None:
    """Acceptance depends on the text alone, never on the depth of the caller's stack."""
    bounds = JsonBounds(depth=3)

    assert Success([[[]], [[]]]) == parse_json("[[[]],[[]]]", bounds)
    assert JsonFault("nested more than 3 deep", 3) == refusal("[[[[]]]]", bounds)
    assert JsonFault("nested more than 3 deep", 9) == refusal("[[],[],[[[]]]]", bounds)
    assert JsonFault("nested more than 64 deep", 64) == refusal("[" * 100_000)


def test_brackets_within_strings_are_no_nesting() -> None:
    """Only structure counts, also after an escaped quote."""
    bounds = JsonBounds(depth=1)

    assert Success(['[{"[[']) == parse_json('["[{\\"[["]', bounds)


def test_the_digits_of_a_number_are_bounded() -> None:
    """One number of a million digits would cost more than the rest of the document."""
    bounds = JsonBounds(digits=10)

    assert Success([1234567890, "x" * 50]) == parse_json(f'[1234567890,"{"x" * 50}"]', bounds)
    assert JsonFault("a number of more than 10 digits", 1) == refusal("[12345678901]", bounds)


def test_what_cannot_be_out_of_bounds_is_not_walked_through() -> None:
    """So few brackets cannot nest too deeply, and so short a text holds no number too long."""

    def cost(items: int) -> int:
        text = f"[{','.join('1' * items)}]"
        return lines_of(lambda: parse_json(text, JsonBounds(depth=1, digits=len(text))))

    assert cost(100) == cost(10)


def test_digits_within_strings_are_no_number() -> None:
    """Only numbers are bounded by digits."""
    assert Success("1" * 50) == parse_json(f'"{"1" * 50}"', JsonBounds(digits=10))


def test_a_process_that_allows_fewer_digits_refuses_without_raising() -> None:
    """Even where the bounds are wider than the interpreter's own limit, parsing is total."""
    limit = sys.get_int_max_str_digits()
    wide = JsonBounds(digits=100_000)

    fault = refusal("1" * (limit + 1), wide)

    assert fault.message.startswith("a number is not acceptable: ")


def test_a_depth_bound_beyond_the_stack_refuses_without_raising() -> None:
    """Even where the bounds are wider than the stack, parsing is total."""
    wide = JsonBounds(depth=1_000_000)

    assert isinstance(parse_json("[" * 200_000, wide), Failure)


def test_finding_a_key_that_occurs_twice_takes_linear_time() -> None:
    """A model cannot stop a run by a long object whose last key occurs twice."""
    count = 60_000
    members = ",".join(f'"{number}":1' for number in range(count))
    text = f'{{{members},"{count - 1}":2}}'

    before = time.process_time()
    fault = refusal(text)

    assert f"the key '{count - 1}' occurs twice in one object" == fault.message
    assert time.process_time() - before < 5


def test_surrogate_pairs_are_text() -> None:
    """Only lone surrogates are refused; an escaped pair is one character."""
    assert Success("😀") == parse_json(json.dumps("😀"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("plain", "plain"), ("ümlaut 😀", "ümlaut 😀"), ("a\ud800b\udfff", "a\ufffdb\ufffd")],
)
def test_lone_surrogates_are_replaced(text: str, expected: str) -> None:
    """What a model says always has a UTF-8 form; other text is the same object."""
    assert expected == without_lone_surrogates(text)
