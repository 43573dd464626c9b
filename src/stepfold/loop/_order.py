"""Which of some tools a model is told of, and in which order."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def offered(
    tools: Mapping[str, T], active: Collection[str] | None, order: Sequence[str] | None
) -> Mapping[str, T]:
    """The active ones of some tools; `None` is all of them, and the order in which they are.

    With an order, those that it lists come first, then the others, sorted by the UTF-16 code units
    of their names.
    """
    if active is None and order is None:
        return tools
    names = [name for name in tools if active is None or name in active]
    if order is not None:
        listed = [name for name in dict.fromkeys(order) if name in names]
        names = listed + sorted((name for name in names if name not in listed), key=code_units)
    return {name: tools[name] for name in names}


def code_units(text: str) -> bytes:
    """What JavaScript compares texts by: their UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")
