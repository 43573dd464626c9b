from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable
from stepfold.loop._stop import Named

N_co = TypeVar("N_co", covariant=True)
N = TypeVar("N")

@runtime_checkable
class _Table(Protocol[N_co]):
    def items(self) -> Iterable[tuple[str | Named, N_co]]: ...

OfTools: TypeAlias = Mapping[str | Named, N] | _Table[N] | Sequence[tuple[str | Named, N]]
