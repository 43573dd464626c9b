from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar, final
from attrs import frozen

T = TypeVar("T")

@final
@frozen(order=False)
class Row(Generic[T]):
    size: int
    depth: int
    tree: tuple[object, ...]

    def get(self, place: int) -> T: ...
    def put(self, place: int, value: T) -> "Row[T]": ...
    def filled(self, place: int, values: Sequence[T]) -> "Row[T]": ...
    def __iter__(self) -> Iterator[T]: ...
