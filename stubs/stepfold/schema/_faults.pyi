from collections.abc import Iterable
from typing import TypeAlias, final
from attrs import frozen

@final
@frozen(order=False)
class SchemaFault:
    pointer: str
    message: str

Faults: TypeAlias = tuple[SchemaFault, ...]

def nearest(name: str, names: Iterable[str]) -> str | None: ...
