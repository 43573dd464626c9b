from collections.abc import Container, Iterable
from typing import final
from attrs import frozen
from typing_extensions import override

@final
@frozen(order=False)
class IdSet(Container[str]):
    _sets: tuple[frozenset[str], ...] = ()

    @override
    def __contains__(self, item: object, /) -> bool: ...
    def adding(self, ids: Iterable[str]) -> "IdSet": ...

NO_IDS = IdSet()
