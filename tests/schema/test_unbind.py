"""Anything a tool may return becomes JSON, or a fault that says where and why not."""

import collections
import dataclasses
import enum
import typing
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from uuid import UUID

import attrs
import pydantic
import pytest
from typing_extensions import override

from stepfold.schema import encode_result
from stepfold.values._json import JsonObject, JsonText
from stepfold.values._outcome import Success


class Colour(enum.Enum):
    RED = "red"


class Shape(enum.Enum):
    POINT = (0, 0)


class Weird(enum.Enum):
    NAN = float("nan")


class Mixed(enum.Enum):
    TEXT = "text"
    PAIR = (0, 0)


class Ratio(enum.Enum):
    HALF = 0.5


class Flags(enum.Flag):
    A = 1
    B = 2


class Level(enum.IntEnum):
    LOW = 1


class Text(str):
    __slots__ = ()


class Count(int):
    pass


@attrs.frozen
class Forecast:
    city: str
    _celsius: float = 0.5
    computed: int = attrs.field(init=False, default=1)


@dataclasses.dataclass
class Data:
    when: date
    many: list[Forecast] = dataclasses.field(default_factory=list)
    computed: int = dataclasses.field(init=False, default=1)


class Point(typing.NamedTuple):
    x: int
    y: int


class Model(pydantic.BaseModel):
    when: datetime


class Failing(pydantic.BaseModel):
    @pydantic.model_serializer
    def dump(self) -> dict[str, int]:
        raise ValueError("no dump")


class Raising(collections.UserDict[str, int]):
    @override
    def __getitem__(self, key: str) -> int:
        raise KeyError(key)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (2**100, str(2**100)),
        (1.5, "1.5"),
        ("é\ud800", '"é\ufffd"'),
        (Text("a"), '"a"'),
        (Count(3), "3"),
        (Level.LOW, "1"),
        (Colour.RED, '"red"'),
        (Shape.POINT, '"POINT"'),
        (Weird.NAN, '"NAN"'),
        (Mixed.TEXT, '"TEXT"'),
        (Ratio.HALF, "0.5"),
        (Flags.A, "1"),
        (b"hi", '"aGk="'),
        (bytearray(b"hi"), '"aGk="'),
        (date(2024, 2, 29), '"2024-02-29"'),
        (datetime(2024, 2, 29, 1, 2, 3, 4, UTC), '"2024-02-29T01:02:03.000004+00:00"'),
        (time(1, 2, 3), '"01:02:03"'),
        (timedelta(days=1, seconds=1), '"P1DT1S"'),
        (Decimal("1.50"), '"1.50"'),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        ([1, (2, [3])], "[1,[2,[3]]]"),
        (collections.deque([1]), "[1]"),
        ({3, 1, 2}, "[1,2,3]"),
        (frozenset({"b", "a"}), '["a","b"]'),
        ({10, 9, "a", None}, '["a",10,9,null]'),
        ({"a": 1, "b": None}, '{"a":1,"b":null}'),
        ({1: "a", Colour.RED: "b", date(1, 1, 1): "c"}, '{"1":"a","red":"b","0001-01-01":"c"}'),
        (MappingProxyType({"a": 1}), '{"a":1}'),
        (JsonText('{"a": [1]}'), '{"a":[1]}'),
        (JsonObject({"a": (1,)}), '{"a":[1]}'),
        (Forecast("Oslo"), '{"city":"Oslo","celsius":0.5}'),
        (
            Data(date(2024, 1, 1), [Forecast("Oslo")]),
            '{"when":"2024-01-01","many":[{"city":"Oslo","celsius":0.5}]}',
        ),
        (Point(1, 2), '{"x":1,"y":2}'),
        (Model(when=datetime(2024, 1, 1, tzinfo=UTC)), '{"when":"2024-01-01T00:00:00Z"}'),
        ([[1], [1]], "[[1],[1]]"),
    ],
    ids=str,
)
def test_value_becomes_json(value: object, text: str) -> None:
    assert encode_result(value) == Success(JsonText(text))


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def cyclic() -> object:
    value: dict[str, Any] = {"a": []}
    value["a"].append(value)
    return value


@pytest.mark.parametrize(
    ("value", "pointer", "words"),
    [
        (
            {"a": [object()]},
            "/a/0",
            "something with a JSON form, got object; return an attrs class",
        ),
        (float("nan"), "", "a finite number, got nan"),
        ([float("inf")], "/0", "a finite number, got inf"),
        (Decimal("Infinity"), "", "a Decimal with a JSON form, got Infinity"),
        (Decimal("1E+999999"), "", "a Decimal with a JSON form"),
        (timedelta.max, "", "a timedelta with a JSON form"),
        ({None: 1}, "", "keys of type str, got None"),
        ({True: 1}, "", "keys of type str, got True"),
        ({1.5: 1}, "", "keys of type str, got 1.5"),
        ({(1, 2): 1}, "", "keys of type str, got tuple"),
        ({1: "a", "1": "b"}, "", "keys that differ as text, got '1' twice"),
        (range(3), "", "got range"),
        (memoryview(b"a"), "", "got memoryview"),
        (Forecast, "", "got type"),
        (cyclic(), "/a/0", "no cycles, got a dict within itself"),
        (nested(65), "/0" * 64, "nesting of at most 64"),
        (Failing(), "", "a model that dumps itself, got"),
        (Raising({"a": 1}), "", "a JSON form, got KeyError: 'a'"),
        (10**5000, "", "a JSON form, got ValueError: Exceeds the limit"),
    ],
    ids=lambda it: it if isinstance(it, str) else type(it).__name__,
)
def test_what_has_no_json_form_is_a_fault(value: object, pointer: str, words: str) -> None:
    fault = encode_result(value).failure()

    assert fault.pointer == pointer
    assert fault.message.startswith("expected ")
    assert words in fault.message


class Dumping:
    def model_dump(self, *, mode: str) -> dict[str, int]:
        raise AssertionError(f"called with {mode}, although this is no model")


def test_what_only_looks_like_a_model_is_none() -> None:
    assert "got Dumping" in encode_result(Dumping()).failure().message


@attrs.frozen
class Nested:
    inner: object


@pytest.mark.parametrize(
    "within",
    [lambda it: [it], lambda it: {"a": it}, lambda it: frozenset({it}), Nested],
    ids=["list", "dict", "set", "attrs"],
)
def test_nesting_up_to_the_bound_is_fine(within: Callable[[object], object]) -> None:
    value: object = 1
    for _ in range(64):
        value = within(value)

    assert isinstance(encode_result(value), Success)
    assert "nesting of at most 64" in encode_result(within(value)).failure().message
