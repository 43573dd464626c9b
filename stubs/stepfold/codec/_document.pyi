from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, TypeVar
from typing_extensions import TypeForm
from stepfold.codec._encode import JsonTree
from stepfold.codec._faults import DecodeFault
from stepfold.values import JsonBounds, Outcome

T = TypeVar("T")
CURRENT_VERSION: Final = 1
Migration: TypeAlias = Callable[[JsonTree], Outcome[JsonTree, DecodeFault]]
MIGRATIONS: Final[Mapping[int, Migration]] = ...
DOCUMENT_BOUNDS: Final = JsonBounds(length=268435456, depth=96)

def to_json(value: object) -> JsonTree: ...
def encode_part(value: object) -> str: ...
def encode(value: object) -> bytes: ...
def decode(
    data: bytes | str, kind: TypeForm[T], *, bounds: JsonBounds = DOCUMENT_BOUNDS
) -> Outcome[T, DecodeFault]: ...
def from_json(tree: object, kind: TypeForm[T]) -> Outcome[T, DecodeFault]: ...
def migrate(
    tree: JsonTree,
    version: int,
    *,
    migrations: Mapping[int, Migration] = MIGRATIONS,
    current: int = CURRENT_VERSION,
) -> Outcome[JsonTree, DecodeFault]: ...
