"""JSON that is still coming, as read-only views over what has come.

What is complete is kept once, in lists and dicts that only grow. A view shows how much of them
there was when it was made, and after that the one item that was still open. So a view costs the
same however long the document is, and it never changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias, Union, final, overload

from typing_extensions import TypeIs, override

PartialJson: TypeAlias = Union[bool, int, float, str, "PartialArray", "PartialObject", None]
"""A JSON document as far as it has come, read-only."""


@final
class OpenText:
    """A string as far as it has come: so many chunks of a list, joined when somebody looks."""

    __slots__ = ("_chunks", "_count", "_joined")

    def __init__(self, chunks: list[str]) -> None:
        self._chunks = chunks
        self._count = len(chunks)
        self._joined: str | None = None

    def joined(self) -> str:
        """The text."""
        if self._joined is None:
            self._joined = "".join(self._chunks[: self._count])
        return self._joined


Tail: TypeAlias = Union["PartialArray", "PartialObject", OpenText, None]
"""The item that is still open, if there is one."""


@final
class PartialArray(Sequence[PartialJson]):
    """An array as far as it has come; equal to any list or tuple of the same items.

    Read-only. `JsonText.of` gives its JSON.
    """

    __slots__ = ("_items", "_length", "_tail")

    def __init__(self, items: list[object], tail: Tail = None) -> None:
        """Show the items there are now, and the open one after them, if there is a `tail`.

        The list may grow afterwards, and must not change otherwise.
        """
        self._items = items
        self._length = len(items)
        self._tail = tail

    @override
    def __len__(self) -> int:
        return self._length + (self._tail is not None)

    @overload
    def __getitem__(self, index: int) -> PartialJson: ...
    @overload
    def __getitem__(
        self, index: "slice[int | None, int | None, int | None]"
    ) -> tuple[PartialJson, ...]: ...
    @override
    def __getitem__(
        self, index: "int | slice[int | None, int | None, int | None]"
    ) -> "PartialJson | tuple[PartialJson, ...]":
        if isinstance(index, slice):
            return tuple(self._at(place) for place in range(*index.indices(len(self))))
        size = len(self)
        place = index + size if index < 0 else index
        if not 0 <= place < size:
            raise IndexError(f"expected an index below {size}, got {index}")
        return self._at(place)

    def _at(self, place: int) -> PartialJson:
        if place == self._length:
            return _looked_at(self._tail)
        return shown(self._items[place])

    @override
    def __iter__(self) -> Iterator[PartialJson]:
        yield from map(shown, islice(self._items, self._length))
        if self._tail is not None:
            yield _looked_at(self._tail)

    @override
    def __eq__(self, other: object) -> bool:
        if not _is_items(other):
            return NotImplemented
        return len(self) == len(other) and all(map(_equal, self, other))

    @override
    def __hash__(self) -> int:
        return hash(tuple(self))

    @override
    def __repr__(self) -> str:
        return f"PartialArray({list(self)!r})"


@final
class PartialObject(Mapping[str, PartialJson]):
    """An object as far as it has come; equal to any mapping of the same members.

    A member is there as soon as its value has begun. Read-only. `JsonText.of` gives its JSON.
    """

    __slots__ = ("_key", "_length", "_members", "_tail")

    def __init__(
        self,
        members: dict[str, object],
        key: str = "",
        tail: Tail = None,
    ) -> None:
        """Show the members there are now, and the open one after them, if there is a `tail`.

        The dict may grow afterwards, and must not change otherwise.
        """
        self._members = members
        self._length = len(members)
        self._key = key
        self._tail = tail

    def _shown(self) -> dict[str, object]:
        """The complete members; the dict that they were taken from may have grown since."""
        if len(self._members) != self._length:
            self._members = dict(islice(self._members.items(), self._length))
        return self._members

    @override
    def __len__(self) -> int:
        return self._length + (self._tail is not None)

    @override
    def __getitem__(self, key: str) -> PartialJson:
        if self._tail is not None and key == self._key:
            return _looked_at(self._tail)
        return shown(self._shown()[key])

    @override
    def __iter__(self) -> Iterator[str]:
        yield from tuple(self._shown())  # a dict that grows cannot be walked through
        if self._tail is not None:
            yield self._key

    @override
    def __eq__(self, other: object) -> bool:
        if not _is_mapping(other):
            return NotImplemented
        return len(self) == len(other) and all(
            key in other and _equal(self[key], other[key]) for key in self
        )

    @override
    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    @override
    def __repr__(self) -> str:
        return f"PartialObject({dict(self)!r})"


def _looked_at(tail: Tail) -> PartialJson:
    return tail.joined() if isinstance(tail, OpenText) else tail


def _equal(one: object, other: object) -> bool:
    return one == other


def _is_items(value: object) -> TypeIs[PartialArray | list[object] | tuple[object, ...]]:
    return isinstance(value, PartialArray | list | tuple)


def _is_mapping(value: object) -> TypeIs[Mapping[object, object]]:
    return isinstance(value, Mapping)


def is_array(value: object) -> TypeIs[list[object]]:
    """Tell whether this is a JSON array as the `json` module makes it."""
    return type(value) is list


def is_object(value: object) -> TypeIs[dict[str, object]]:
    """Tell whether this is a JSON object as the `json` module makes it."""
    return type(value) is dict


def shown(value: object) -> PartialJson:
    """Show complete JSON, as the `json` module gives it, read-only."""
    if value is None or isinstance(value, int | float | str):
        return value
    if is_array(value):
        return PartialArray(value)
    if is_object(value):
        return PartialObject(value)
    raise TypeError(f"expected a JSON value, got {type(value).__name__}")
