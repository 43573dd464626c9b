"""A row of values that shares what it holds with the rows it came from.

It is a tree of tuples of 32, so a row of a thousand is replaced in one place by copying two short
tuples, where copying the whole row for each of its thousand changes would be quadratic.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Generic, TypeVar, cast, final

from attrs import frozen

T = TypeVar("T")

_BITS: Final = 5
_WIDTH: Final = 1 << _BITS


@final
@frozen(order=False)
class Row(Generic[T]):
    """Values by their places, from 0; `depth` is how many levels of tuples lie over them."""

    size: int
    depth: int
    tree: tuple[object, ...]

    def get(self, place: int) -> T:
        """The value at a place."""
        found: tuple[object, ...] = self.tree
        for level in range(self.depth, 0, -1):
            found = cast("tuple[object, ...]", found[(place >> _BITS * level) % _WIDTH])
        return cast("T", found[place % _WIDTH])

    def put(self, place: int, value: T) -> "Row[T]":
        """The row with another value at a place; this one is unchanged."""
        return Row(self.size, self.depth, _put(self.tree, self.depth, place, value))

    def filled(self, place: int, values: Sequence[T]) -> "Row[T]":
        """The row with other values from a place on."""
        if values and not place:
            rest = list(self)[len(values) :] if len(values) < self.size else []
            return row_of([*values, *rest])
        row = self
        for offset, value in enumerate(values):
            row = row.put(place + offset, value)
        return row

    def __iter__(self) -> Iterator[T]:
        """The values, in order."""
        level: Sequence[object] = self.tree
        for _ in range(self.depth):
            level = [one for part in level for one in cast("tuple[object, ...]", part)]
        return iter(cast("Sequence[T]", level))


def _put(tree: tuple[object, ...], depth: int, place: int, value: object) -> tuple[object, ...]:
    at = (place >> _BITS * depth) % _WIDTH
    if depth:
        value = _put(cast("tuple[object, ...]", tree[at]), depth - 1, place, value)
    members = list(tree)  # changed in one place: quicker than joining slices
    members[at] = value
    return tuple(members)


def row_of(values: Sequence[T]) -> Row[T]:
    """A row of these values."""
    level: list[object] = list(values)
    depth = 0
    while len(level) > _WIDTH:
        level = [tuple(level[at : at + _WIDTH]) for at in range(0, len(level), _WIDTH)]
        depth += 1
    return Row(len(values), depth, tuple(level))
