from typing import Protocol, TypeVar
from typing_extensions import TypeForm
from stepfold.values import Outcome

U = TypeVar("U")

class Writer(Protocol):
    def __call__(self, value: object, /) -> bytes: ...

class Reader(Protocol):
    def __call__(self, data: bytes, kind: TypeForm[U], /) -> Outcome[U, object]: ...
