"""The snapshot keeps what type checkers look at and leaves out the rest."""

import ast

from tests.contracts.snapshot import stub
from tests.contracts.source import Module, modules

SOURCE = '''
"""Docstring."""
from __future__ import annotations
from typing import TYPE_CHECKING, Final, TypeAlias, overload
from elsewhere import Passed, Unused
if TYPE_CHECKING:
    from attrs import field, frozen
LIMIT: Final = 3
TABLE: dict[str, int] = _computed()
Name: TypeAlias = "Box | None"

@final
@frozen(order=False)
class Box(Generic[T]):
    """Docstring."""
    __slots__ = ("_size",)
    _size: int = field(alias="size", validator=_positive, default=0)
    """Docstring."""
    @overload
    def get(self: Box[int], /) -> int: ...
    @overload
    def get(self, default: T, /) -> T: ...
    def get(self, default: object = None, /) -> object:
        """Docstring."""
        return default
    def _private(self) -> None:
        pass
    @property
    def size(self) -> int:
        return self._size

class Plain:
    def __init__(self, name: str) -> None:
        self.name: str = name
        self._hidden: int = 0

@overload
def read(of: int) -> int: ...
@overload
def read(of: str) -> str: ...
def read(of: object) -> object:
    return of

async def wait(*, seconds: float = 1.0) -> None:
    await sleep(seconds)

async def count() -> AsyncIterator[int]:
    for number in range(3):
        yield number

def unreached() -> None: ...
'''

STUB = """
from typing import Final, TypeAlias, overload
from elsewhere import Passed as Passed
from attrs import field, frozen
LIMIT: Final = 3
TABLE: dict[str, int] = ...
Name: TypeAlias = 'Box | None'

@final
@frozen(order=False)
class Box(Generic[T]):
    _size: int = field(alias='size', default=0)

    @overload
    def get(self: Box[int], /) -> int:
        ...

    @overload
    def get(self, default: T, /) -> T:
        ...

    @property
    def size(self) -> int:
        ...

class Plain:

    def __init__(self, name: str) -> None:
        ...
    name: str

@overload
def read(of: int) -> int:
    ...

@overload
def read(of: str) -> str:
    ...

async def wait(*, seconds: float=1.0) -> None:
    ...

def count() -> AsyncIterator[int]:
    ...
"""


def test_stub_keeps_what_types_depend_on() -> None:
    module = Module("stepfold._probe", modules()["stepfold"].path, ast.parse(SOURCE))
    kept = module.definitions.keys() | module.imports.keys()
    kept -= {"TYPE_CHECKING", "Unused", "unreached"}

    assert stub(module, kept, passed_on={"Passed"}).strip() == STUB.strip()
