"""Arguments of a call that come in pieces, each with the path of the value that it is a part of.

The paths are simple JSON paths: `$.recipe.steps[0]`, `$['a b']`. Pieces of a string with one path
are joined; another kind of value comes whole.
"""

import re
from itertools import pairwise
from typing import final

from stepfold.providers._json import array_of, is_array, is_object, object_of, text_of

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")\]")
# An index beyond this is a mistake: arrays come from their beginning.
_LONGEST = 100_000
_KINDS = ("numberValue", "boolValue", "nullValue")


class ArgumentsFault(Exception):
    """The pieces make no document."""


@final
class Arguments:
    """The arguments of one call, as far as they have come."""

    def __init__(self) -> None:
        self._root: dict[str, object] = {}

    def add(self, pieces: object) -> None:
        """Take the pieces of one chunk.

        Raises:
            ArgumentsFault: a path is none, or leads through a value that holds no others.
        """
        for piece in map(object_of, array_of(pieces)):
            path = text_of(piece.get("jsonPath"))
            if path is None:
                raise ArgumentsFault("a piece of the arguments has no path")
            steps = _steps(path)
            text = text_of(piece.get("stringValue"))
            if text is not None:
                self._put(steps, text, path)
            for kind in _KINDS:
                if kind in piece:
                    self._put(steps, None if kind == "nullValue" else piece[kind], path)

    def document(self) -> dict[str, object]:
        """The arguments so far."""
        return self._root

    def _put(self, steps: list[str | int], value: object, path: str) -> None:
        holder: object = self._root
        for step, following in pairwise(steps):
            found = _peek(holder, step, path)
            if found is None:
                found = _empty(following)
                _set(holder, step, found)
            holder = found
        before = _peek(holder, steps[-1], path)
        is_more = isinstance(before, str) and isinstance(value, str)
        _set(holder, steps[-1], f"{before}{value}" if is_more else value)


def _steps(path: str) -> list[str | int]:
    rest = path.removeprefix("$")
    steps: list[str | int] = []
    at = 0
    while at < len(rest):
        match = _STEP.match(rest, at)
        if match is None:
            break
        name = match[1] or match[3] or match[4]
        steps.append(int(match[2]) if match[2] is not None else re.sub(r"\\(.)", r"\1", name or ""))
        at = match.end()
    if at != len(rest) or not steps or not path.startswith("$"):
        raise ArgumentsFault(f"{path[:100]!r} is no path into arguments")
    return steps


def _peek(holder: object, step: str | int, path: str) -> object:
    """What is at a step, with room made for it in an array."""
    if is_object(holder) and isinstance(step, str):
        return holder.get(step)
    if is_array(holder) and isinstance(step, int):
        if step > len(holder) + _LONGEST:
            raise ArgumentsFault(f"{path[:100]!r} leaves a gap in an array")
        holder.extend([None] * (step + 1 - len(holder)))
        return holder[step]
    raise ArgumentsFault(f"{path[:100]!r} leads through a value that holds no others")


def _empty(step: str | int) -> object:
    """What has room for this step."""
    members: dict[str, object] = {}
    items: list[object] = []
    return members if isinstance(step, str) else items


def _set(holder: object, step: str | int, value: object) -> None:
    if is_array(holder) and isinstance(step, int):
        holder[step] = value
    elif is_object(holder):
        holder[str(step)] = value
