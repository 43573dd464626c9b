"""A growing set of ids that shares what it holds with the sets it grew from."""

from collections.abc import Container, Iterable
from typing import final

from attrs import frozen
from typing_extensions import override


@final
@frozen(order=False)
class IdSet(Container[str]):
    """Ids in frozen sets, each more than twice as large as the next.

    Adding costs O(log n) on average and membership O(log n), where copying one set at each step
    would make a long run quadratic.
    """

    _sets: tuple[frozenset[str], ...] = ()

    @override
    def __contains__(self, item: object, /) -> bool:
        for ids in self._sets:  # noqa: SIM110 - each step asks, and a generator costs more
            if item in ids:
                return True
        return False

    def adding(self, ids: Iterable[str]) -> "IdSet":
        """This set and these ids; the old set is unchanged."""
        newest = frozenset(ids)
        if not newest:
            return self
        kept = self._sets
        while kept and len(kept[-1]) <= 2 * len(newest):
            newest |= kept[-1]
            kept = kept[:-1]
        return IdSet((*kept, newest))


NO_IDS = IdSet()
