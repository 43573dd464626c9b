"""The figures that a user gives: checked, and those of tools kept by name."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

from stepfold.loop._stop import Named
from stepfold.values import UsageError

N_co = TypeVar("N_co", covariant=True)
N = TypeVar("N")


def not_negative(name: str, value: float | None) -> None:
    """Refuse a figure below zero, or none at all.

    Raises:
        UsageError: it is negative or not finite; the text names it.
    """
    if value is not None and not 0 <= value < math.inf:
        msg = f"{name}: expected a finite number that is not negative, got {value!r}"
        raise UsageError(msg)


def positive(name: str, value: float | None) -> None:
    """Refuse a figure that is not above zero.

    Raises:
        UsageError: it is zero, negative or not finite; the text names it.
    """
    if value is not None and not 0 < value < math.inf:
        msg = f"{name}: expected a finite number above zero, got {value!r}"
        raise UsageError(msg)


@runtime_checkable
class _Table(Protocol[N_co]):
    """A mapping that a variable holds: type checkers take the type of its keys as it is."""

    def items(self) -> Iterable[tuple[str | Named, N_co]]: ...


OfTools: TypeAlias = Mapping[str | Named, N] | _Table[N] | Sequence[tuple[str | Named, N]]
"""A figure for each of some tools: by tool or name, or as pairs."""


def by_name(
    name: str, given: OfTools[N], check: Callable[[str, N], None]
) -> tuple[tuple[str, N], ...]:
    """The figures of tools, as pairs sorted by name.

    Raises:
        UsageError: a figure does not pass the check, or there are two for one tool.
    """
    figures: dict[str, N] = {}
    for tool, figure in given.items() if isinstance(given, _Table) else given:
        key = tool if isinstance(tool, str) else tool.name
        check(f"{name}[{key!r}]", figure)
        if key in figures:
            msg = f"{name}: expected each tool once, got {key!r} twice"
            raise UsageError(msg)
        figures[key] = figure
    return tuple(sorted(figures.items()))
