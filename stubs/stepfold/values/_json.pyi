from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias, Union, final
from attrs import frozen
from typing_extensions import override
from stepfold.values._outcome import Outcome

JsonValue: TypeAlias = Union[bool, int, float, str, "tuple[JsonValue, ...]", "JsonObject", None]
JsonInput: TypeAlias = Union[
    bool, int, float, str, "Sequence[JsonInput]", "Mapping[str, JsonInput]", None
]

@final
class JsonObject(Mapping[str, JsonValue]):
    def __init__(self, members: Mapping[str, JsonValue]) -> None: ...
    @override
    def __getitem__(self, key: str) -> JsonValue: ...
    @override
    def __iter__(self) -> Iterator[str]: ...
    @override
    def __len__(self) -> int: ...
    @override
    def __eq__(self, other: object) -> bool: ...
    @override
    def __hash__(self) -> int: ...
    @override
    def __repr__(self) -> str: ...

@final
@frozen(order=False)
class JsonBounds:
    length: int = 1048576
    depth: int = 64
    digits: int = 4300

@final
@frozen(order=False)
class JsonFault:
    message: str
    position: int | None = None

DEFAULT_BOUNDS = JsonBounds()

@final
@frozen(order=False)
class JsonText:
    text: str

    @cached_property
    def value(self) -> JsonValue: ...
    @staticmethod
    def of(value: object) -> "JsonText": ...
    @staticmethod
    def parse(text: str, bounds: JsonBounds = DEFAULT_BOUNDS) -> "Outcome[JsonText, JsonFault]": ...
    def canonical(self) -> str: ...
    def digest(self) -> str: ...

EMPTY_OBJECT = JsonText("{}")
NULL = JsonText("null")

def frozen_json(value: object) -> JsonValue: ...
def dump_json(value: object) -> str: ...
def dump_tree(tree: object) -> str: ...
def parse_json(text: str, bounds: JsonBounds = DEFAULT_BOUNDS) -> Outcome[object, JsonFault]: ...
def without_lone_surrogates(text: str) -> str: ...
