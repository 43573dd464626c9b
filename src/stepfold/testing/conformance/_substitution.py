"""Changing one member of the JSON object inside of some bytes, whatever frames it."""

import json
from collections.abc import Iterator
from typing import TypeAlias

from typing_extensions import TypeIs

JsonPath: TypeAlias = tuple[str | int, ...]


def members_of(data: bytes) -> Iterator[tuple[JsonPath, object]]:
    """Each member of the object, at any depth, outermost first; none where there is no object."""
    tree = _object_in(data)
    if tree is not None:
        yield from _walk((), tree)


def with_member(data: bytes, path: JsonPath, value: object) -> bytes:
    """The same bytes, with another value for one member."""
    start, end = _place(data)
    return data[:start] + json.dumps(_with(_object_in(data), path, value)).encode() + data[end:]


def name_of(path: JsonPath) -> str:
    """A path for a reader."""
    return ".".join(map(str, path)) or "the whole object"


def _place(data: bytes) -> tuple[int, int]:
    return data.find(b"{"), data.rfind(b"}") + 1


def _object_in(data: bytes) -> object:
    start, end = _place(data)
    try:
        tree: object = json.loads(data[start:end])
    except ValueError:
        return None
    return tree


def _walk(path: JsonPath, tree: object) -> Iterator[tuple[JsonPath, object]]:
    yield path, tree
    for key, value in _items(tree):
        yield from _walk((*path, key), value)


def _with(tree: object, path: JsonPath, value: object) -> object:
    if not path:
        return value
    key, rest = path[0], path[1:]
    changed = {k: _with(v, rest, value) if k == key else v for k, v in _items(tree)}
    return list(changed.values()) if _is_list(tree) else changed


def _items(tree: object) -> list[tuple[str | int, object]]:
    if _is_list(tree):
        return list(enumerate(tree))
    return list(tree.items()) if _is_object(tree) else []


def _is_object(tree: object) -> TypeIs[dict[str, object]]:
    return isinstance(tree, dict)


def _is_list(tree: object) -> TypeIs[list[object]]:
    return isinstance(tree, list)
