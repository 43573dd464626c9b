"""Where two requests part: the path of the first difference, with what is on either side."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, takewhile, zip_longest
from typing import Final, TypeAlias, cast, final

from attrs import field, frozen
from typing_extensions import override

from stepfold.codec import to_json
from stepfold.values import ModelRequest

_SHOWN: Final = 100
_BEFORE: Final = 20
_LOOKED_AT: Final = 1_000


@final
@frozen(order=False)
class Divergence:
    """The first difference between two requests: where, what was expected and what came.

    `path` names it as in Python (`messages[2].content[0].output.value.city`), JSON documents
    included. `expected` and `got` are JSON, cut short around the difference, or `nothing`.
    """

    path: str
    expected: str
    got: str

    @override
    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, got {self.got}"


@final
@frozen(order=False)
class Distance:
    """How far two requests are from each other, and where they part; smaller is closer."""

    common_messages: int
    differences: int
    first: Divergence | None = field(default=None)

    @property
    def rank(self) -> tuple[int, int]:
        """What to compare: many common messages first, then few differences."""
        return (-self.common_messages, self.differences)


_Difference: TypeAlias = tuple[str, object, object]


def distance_between(expected: ModelRequest, got: ModelRequest) -> Distance:
    """Compare two requests, both in their standard form."""
    pairs = zip(expected.messages, got.messages, strict=False)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    found = list(islice(_differences("", to_json(expected), to_json(got)), _LOOKED_AT))
    if not found:
        return Distance(common, 0)
    path, one, other = found[0]
    return Distance(common, len(found), Divergence(path, *_shown(one, other)))


def closest_of(recorded: Sequence[str], given: str) -> Divergence | None:
    """Where JSON parts from the closest of several; `None` if there is none to compare with."""
    closest: list[_Difference] | None = None
    for text in recorded:
        found = list(islice(_differences("", text, given), _LOOKED_AT))
        if found and (closest is None or len(found) < len(closest)):
            closest = found
    if closest is None:
        return None
    path, one, other = closest[0]
    return Divergence(path or "the arguments", *_shown(one, other))


def _differences(path: str, one: object, other: object) -> Iterator[_Difference]:
    """Give the differences in the order of the document; equal values have none."""
    if one == other and type(one) is type(other):
        return
    if isinstance(one, str) and isinstance(other, str):
        one, other = _documents(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        yield from _in_members(
            path, cast("Mapping[str, object]", one), cast("Mapping[str, object]", other)
        )
    elif isinstance(one, list) and isinstance(other, list):
        pairs = zip_longest(
            cast("Sequence[object]", one), cast("Sequence[object]", other), fillvalue=_NOTHING
        )
        for index, (left, right) in enumerate(pairs):
            yield from _differences(f"{path}[{index}]", left, right)
    else:
        yield path, one, other


def _in_members(
    path: str, one: Mapping[str, object], other: Mapping[str, object]
) -> Iterator[_Difference]:
    for name in {**one, **other}:
        inner = f"[{json.dumps(name)}]" if not name.isidentifier() else f".{name}"
        inner = f"{path}{inner}" if path else name
        yield from _differences(inner, one.get(name, _NOTHING), other.get(name, _NOTHING))


def _documents(one: str, other: str) -> tuple[object, object]:
    """Two texts that are JSON objects or arrays as such, so that the path goes on inside."""
    try:
        pair: tuple[object, object] = (json.loads(one), json.loads(other))
    except (ValueError, RecursionError):
        return one, other
    if pair[0] != pair[1] and all(isinstance(side, dict | list) for side in pair):
        return pair
    return one, other


@final
class _Nothing:
    """Stands for a member that is not there; encoded by `_json`."""


_NOTHING: Final = _Nothing()


def _shown(one: object, other: object) -> tuple[str, str]:
    if isinstance(one, str) and isinstance(other, str):
        pairs = zip(one, other, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        start = max(0, same - _BEFORE) if max(len(one), len(other)) > _SHOWN else 0
        return _cut(one, start), _cut(other, start)
    return _json(one), _json(other)


def _cut(text: str, start: int) -> str:
    piece = text[start : start + _SHOWN]
    before = "…" if start else ""
    after = "…" if start + _SHOWN < len(text) else ""
    return json.dumps(f"{before}{piece}{after}", ensure_ascii=False)


def _json(value: object) -> str:
    if isinstance(value, str):
        return _cut(value, 0)
    if value is _NOTHING:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
