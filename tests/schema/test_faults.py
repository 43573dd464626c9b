"""Faults show values and names briefly, and find the name that was meant."""

import pytest

from stepfold.schema._faults import nearest, shortened, shown


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("é" * 60, f'"{"é" * 60}"'),
        ("é" * 61, f'"{"é" * 60}…"'),
        (2**256 - 1, str(2**256 - 1)),
        (2**256, "an integer of 257 bits"),
        (True, "true"),
        ({"a": 1}, "an object of 1 property"),
        ([], "an array of 0 items"),
        (object(), "a value of type object"),
    ],
    ids=repr,
)
def test_value_is_shown_in_few_characters(value: object, expected: str) -> None:
    assert shown(value) == expected


def test_text_is_cut_where_it_is_too_long_and_only_there() -> None:
    assert shortened("abcde", 5) == "abcde"
    assert shortened("abcdef", 5) == "abcd…"


def test_name_that_was_meant_is_looked_for_in_its_first_characters() -> None:
    # Comparing takes time that grows with the square of the length.
    assert nearest("Nmae", ["age", "name"]) == "name"
    assert nearest("k" * 60 + "x" * 600, ["k" * 60]) == "k" * 60
    assert nearest("k" * 60, ["k" * 60 + "x" * 600]) == "k" * 60 + "x" * 600
    assert nearest("size", ["age", "name"]) is None
