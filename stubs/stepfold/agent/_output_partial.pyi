from collections.abc import Callable, Sequence
from typing import Protocol
from stepfold.values import PartialJson

class PartialOutput(Protocol):
    @property
    def version(self) -> int: ...
    @property
    def value(self) -> PartialJson: ...
    @property
    def elements(self) -> Sequence[object]: ...
    def feed(self, delta: str) -> None: ...

PartialMaker = Callable[[], PartialOutput]
