"""JSON becomes objects; what the user's code raises becomes a fault with a pointer."""

import dataclasses
import enum
import typing
from datetime import UTC, date, datetime
from typing import Any, NewType
from uuid import UUID

import attrs
import pytest
from typing_extensions import override

from stepfold.schema import (
    Form,
    JsonSchemaForm,
    SchemaFault,
    bind,
    binds_user_code,
    form_of,
    unbind,
)
from stepfold.values._errors import UsageError
from stepfold.values._json import JsonObject, JsonText, JsonValue
from stepfold.values._outcome import Failure, Success


def positive(_: object, __: object, value: int) -> None:
    if value <= 0:
        raise ValueError("not positive")


@attrs.frozen
class Strict:
    count: int = attrs.field(validator=positive)


@dataclasses.dataclass
class Holder:
    items: list[Strict]
    by_name: dict[str, tuple[str, Strict]] = dataclasses.field(default_factory=dict)


class Level(enum.IntEnum):
    LOW = 1


class Ordered(enum.Enum):
    A = "a"

    @classmethod
    @override
    def _missing_(cls, value: object) -> "Ordered":
        raise AssertionError("binding looks members up by itself")


class Told(typing.TypedDict):
    text: str


def made(annotation: object, value: object) -> Any:
    return bind(form_of(annotation, where="test"), value)


def test_value_is_checked_before_it_is_bound() -> None:
    assert made(int, "1") == Failure((SchemaFault("", 'expected an integer, got "1"'),))


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (int, 1.0, 1),
        (float, 1, 1.0),
        (float, 1.5, 1.5),
        (float, 10**400, 10**400),
        (float, 2**53 + 1, 2**53 + 1),
        (Level, 1.0, Level.LOW),
        (Ordered, "a", Ordered.A),
        (int | float, 1.0, 1),
        (str | int, 1, 1),
        (typing.Literal["a", 1], 1.0, 1),
        (list[str], ["a"], ["a"]),
        (list[float], [1], [1.0]),
        (tuple[str, ...], ["a"], ("a",)),
        (tuple[float, str], [1, "a"], (1.0, "a")),
        (set[int], [1, 2.0], {1, 2}),
        (dict[str, float], {"a": 1}, {"a": 1.0}),
        (dict[UUID, str], {str(UUID(int=1)): "a"}, {UUID(int=1): "a"}),
        (JsonText, {"a": [1]}, JsonText('{"a":[1]}')),
        (JsonObject, {"a": [1]}, JsonObject({"a": (1,)})),
        (JsonValue, [{"a": 1}], (JsonObject({"a": 1}),)),
        (object, [{"a": 1}], [{"a": 1}]),
    ],
    ids=str,
)
def test_json_becomes_the_value(annotation: object, value: object, expected: object) -> None:
    bound = made(annotation, value).unwrap()

    assert bound == expected
    assert type(bound) is type(expected)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (list[str], ["a"]),
        (dict[str, str], {"a": "b"}),
        (list[dict[str, bool]], [{"a": True}]),
        (Told, {"text": "a"}),
    ],
    ids=str,
)
def test_what_is_bound_to_itself_is_not_copied(annotation: object, value: object) -> None:
    assert made(annotation, value).unwrap() is value


def test_first_member_that_accepts_binds() -> None:
    assert made(date | str, "2024-01-01") == Success(date(2024, 1, 1))
    assert made(str | date, "2024-01-01") == Success("2024-01-01")
    assert made(datetime | date, "2024-01-01T00:00:00Z") == Success(
        datetime(2024, 1, 1, tzinfo=UTC)
    )


def test_exception_of_the_user_is_a_fault_with_its_place() -> None:
    assert made(Holder, {"items": [{"count": 1}, {"count": 0}]}) == Failure(
        (SchemaFault("/items/1", "ValueError: not positive"),)
    )
    assert made(Holder, {"items": [], "by_name": {"a/b": ["x", {"count": -1}]}}) == Failure(
        (SchemaFault("/by_name/a~1b/1", "ValueError: not positive"),)
    )


def test_exception_that_cannot_be_shown_is_a_fault_too() -> None:
    class UnshownError(Exception):
        @override
        def __str__(self) -> str:
            raise RuntimeError

    @attrs.frozen
    class Raising:
        def __attrs_post_init__(self) -> None:
            raise UnshownError

    assert made(Raising, {}) == Failure(
        (SchemaFault("", "UnshownError: (its text cannot be shown)"),)
    )


def test_hash_of_the_user_is_guarded() -> None:
    @attrs.frozen(eq=False)
    class Unhashable:
        @override
        def __hash__(self) -> int:
            raise ValueError("no hash")

    assert made(list[set[Unhashable]], [[{}]]) == Failure(
        (SchemaFault("/0", "ValueError: no hash"),)
    )


def test_ready_schema_binds_to_the_json_itself() -> None:
    form = JsonSchemaForm(JsonText('{"type":"object"}'))

    assert bind(form, {"a": 1}) == Success({"a": 1})
    assert not binds_user_code(form)


# --- which code runs ------------------------------------------------------------------------------


@attrs.define
class Plain:
    value: int
    many: list[int] = attrs.Factory(list)


@attrs.frozen
class PlainFrozen:
    value: int


@attrs.frozen
class PreInit:
    def __attrs_pre_init__(self) -> None:
        """Do nothing."""


@attrs.frozen
class ConvertingOne:
    plain: int
    value: int = attrs.field(converter=int)


@attrs.frozen
class Converting:
    value: int = attrs.field(converter=int)


@attrs.frozen
class Making:
    value: list[int] = attrs.Factory(lambda: [1])


@attrs.frozen
class PostInit:
    def __attrs_post_init__(self) -> None:
        """Do nothing."""


@attrs.define(init=False)
class OwnInit:
    value: int

    def __init__(self, value: int) -> None:
        self.value = value


@dataclasses.dataclass
class PlainData:
    value: int
    many: list[int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenData:
    value: int


@dataclasses.dataclass
class MakingData:
    value: list[int] = dataclasses.field(default_factory=lambda: [1])


@dataclasses.dataclass
class MakingOneData:
    plain: int
    value: list[int] = dataclasses.field(default_factory=lambda: [1])


@dataclasses.dataclass
class PostInitData:
    value: int

    def __post_init__(self) -> None:
        """Do nothing."""


@dataclasses.dataclass
class OwnInitData:
    value: int

    def __init__(self, value: int) -> None:
        self.value = value


@dataclasses.dataclass
class Setting:
    value: int

    @override
    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


class New(PlainData):
    def __new__(cls, value: int, many: list[int] | None = None) -> typing.Self:
        return super().__new__(cls)


class Meta(type):
    @override
    def __call__(cls, *args: object, **kwargs: object) -> object:
        return super().__call__(*args, **kwargs)


@dataclasses.dataclass
class Called(metaclass=Meta):
    value: int


class Named(typing.NamedTuple):
    value: int


class NamedWithNew(Named):
    def __new__(cls, value: int) -> typing.Self:
        return super().__new__(cls, value)


class Keyed(typing.TypedDict):
    value: int


Alias = NewType("Alias", int)


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (int, False),
        (Plain, False),
        (PlainFrozen, False),
        (list[Plain | None], False),
        (PreInit, True),
        (Converting, True),
        (ConvertingOne, True),
        (Strict, True),
        (list[Strict], True),
        (dict[str, Holder], True),
        (Making, True),
        (PostInit, True),
        (OwnInit, True),
        (PlainData, False),
        (FrozenData, False),
        (MakingData, True),
        (MakingOneData, True),
        (PostInitData, True),
        (OwnInitData, True),
        (Setting, True),
        (New, True),
        (Called, True),
        (Named, False),
        (NamedWithNew, True),
        (Keyed, False),
        (Ordered, False),
        (Alias, False),
        (frozenset[int], False),
        (frozenset[PlainFrozen], True),
        (set[PlainFrozen], True),
        (frozenset[tuple[PlainFrozen, ...]], True),
        (list[tuple[PlainFrozen, ...]], False),
    ],
    ids=str,
)
def test_code_of_the_user_is_recognised(annotation: object, expected: bool) -> None:
    form: Form = form_of(annotation, where="test")

    assert binds_user_code(form) is expected


# --- the way back ---------------------------------------------------------------------------------


def test_unbinding_is_checked_against_the_form() -> None:
    form = form_of(dict[str, int], where="test")

    assert unbind({"a": 1}, form) == {"a": 1}
    assert unbind({"a": "b"}) == {"a": "b"}
    with pytest.raises(UsageError, match=r"unbind.*at '/a': expected an integer"):
        unbind({"a": "b"}, form)
    with pytest.raises(UsageError, match="expected something with a JSON form, got object"):
        unbind([object()])
