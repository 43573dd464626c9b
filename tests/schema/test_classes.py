"""What classes say about themselves, where it is easy to get wrong."""

import dataclasses
import json
import typing
from typing import Any, ClassVar

import attr
import attrs
import pytest

from stepfold.schema import bind, encode_result, form_of
from stepfold.values._errors import UsageError
from stepfold.values._json import JsonText
from stepfold.values._outcome import Success


@dataclasses.dataclass
class Undocumented:
    kept: int
    shared: ClassVar[int] = 0
    seed: dataclasses.InitVar[int] = 3
    computed: int = dataclasses.field(init=False, default=0)
    told: int = dataclasses.field(default=1, metadata={"description": "Told here."})


@dataclasses.dataclass
class Base:
    """A base.

    Attributes:
        first: From the base.
    """

    first: int


@dataclasses.dataclass
class Derived(Base):
    second: int = 0


@attrs.frozen
class Private:
    _hidden: int
    unseen: int = attrs.field(init=False, default=0)
    renamed: int = attrs.field(alias="other", default=1)
    computed: int = attrs.field(init=False, default=0)


@attr.s
class Old:  # type: ignore[no-untyped-def]
    typed = attr.ib(type=int)
    untyped = attr.ib()  # type: ignore[var-annotated]


@dataclasses.dataclass
class Seeded:
    seed: dataclasses.InitVar[int]


class Child(typing.TypedDict, total=False):
    name: "typing.Required[str]"
    age: "int"


def properties(cls: object) -> Any:
    return json.loads(form_of(cls, where="test").schema.text)["properties"]


def test_only_what_the_constructor_takes_and_the_object_keeps() -> None:
    assert properties(Undocumented) == {
        "kept": {"type": "integer"},
        "told": {"type": "integer", "description": "Told here.", "default": 1},
    }


def test_signature_that_python_writes_is_no_description() -> None:
    assert "description" not in json.loads(form_of(Undocumented, where="test").schema.text)


def test_words_about_inherited_fields_are_inherited() -> None:
    assert properties(Derived)["first"]["description"] == "From the base."
    assert "description" not in json.loads(form_of(Derived, where="test").schema.text)


def test_names_are_those_of_the_constructor() -> None:
    form = form_of(Private, where="test")

    assert bind(form, {"hidden": 1, "other": 2}) == Success(Private(1, 2))
    assert encode_result(Private(1, 2)) == Success(JsonText('{"hidden":1,"other":2}'))


def test_field_without_a_type_is_refused() -> None:
    with pytest.raises(UsageError, match="expected a type for each field, got 'untyped' without"):
        form_of(Old, where="test")


def test_init_var_without_a_default_is_refused() -> None:
    with pytest.raises(UsageError, match="got InitVar 'seed'"):
        form_of(Seeded, where="test")


def test_qualifiers_in_quotes_are_seen() -> None:
    form = form_of(Child, where="test")

    assert json.loads(form.schema.text)["required"] == ["name"]
