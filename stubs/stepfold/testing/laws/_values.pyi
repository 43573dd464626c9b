from typing import TypeVar
from typing_extensions import TypeForm

T = TypeVar("T")

def value_survives(value: T, kind: TypeForm[T]) -> None: ...
