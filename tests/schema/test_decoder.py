"""Text of arguments is parsed under bounds and checked, without any code of the user's."""

import pytest

from stepfold.schema import Decoder, JsonSchemaForm, SchemaFault, check_text, decoder_of, form_of
from stepfold.values._json import JsonBounds, JsonText
from stepfold.values._outcome import Failure, Success

OBJECT = JsonText('{"type":"object","properties":{"a":{"type":"integer"}}}')
decoder = Decoder(OBJECT, where="test")


@pytest.mark.parametrize("text", ["", "  \n\t", "{}"])
def test_blank_text_counts_as_an_empty_object(text: str) -> None:
    assert check_text(decoder, text) == Success({})


def test_value_is_plain_json_and_the_callers_own() -> None:
    first, second = check_text(decoder, '{"a":1}').unwrap(), check_text(decoder, '{"a":1}').unwrap()

    assert first == {"a": 1}
    assert first is not second


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a":', "expected one complete JSON document, got text that is none: Expecting value"),
        ('{"a":1,"a":2}', "expected one complete JSON document, got text that is none: the key"),
        ('{"a":"x"}', 'expected an integer, got "x"'),
    ],
)
def test_what_is_wrong_is_told(text: str, message: str) -> None:
    [fault] = check_text(decoder, text).failure()

    assert fault.message.startswith(message)


def test_bounds_are_held() -> None:
    assert isinstance(check_text(decoder, '{"b":[[1]]}', JsonBounds(depth=2)), Failure)
    assert isinstance(check_text(decoder, '{"b":[[1]]}', JsonBounds(depth=3)), Success)


def test_place_of_a_syntax_error_is_told() -> None:
    [fault] = check_text(decoder, '{"a" 1}').failure()

    assert fault.message.endswith("at character 5")


def test_decoders_of_one_schema_are_equal() -> None:
    same = decoder_of(JsonSchemaForm(OBJECT))

    assert decoder == same
    assert hash(decoder) == hash(same)
    assert decoder != Decoder(JsonText("true"), where="test")
    assert decoder != OBJECT
    assert repr(decoder).startswith('Decoder({"type":"object"')


def test_values_that_are_no_json_are_faults() -> None:
    assert form_of(int, where="t").decoder.check((1,)) == (
        SchemaFault("", "expected an integer, got a value of type tuple"),
    )
    assert form_of(int, where="t").decoder.check(2.5j)[0].message.endswith("of type complex")


def test_huge_integers_are_told_by_their_size() -> None:
    [fault] = form_of(str, where="t").decoder.check(10**5000)

    assert fault.message == "expected a string, got an integer of 16610 bits"
