from typing import TypeVar
from typing_extensions import TypeForm
from stepfold.codec import decode, encode
from stepfold.testing.laws._equal import Reader, Writer

T = TypeVar("T")

def value_survives(
    value: T, kind: TypeForm[T], *, write: Writer = encode, read: Reader = decode
) -> None: ...
