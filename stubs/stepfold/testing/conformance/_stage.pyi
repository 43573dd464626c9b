from collections.abc import Sequence
from typing import Final
from typing_extensions import TypeVar
from stepfold.pipeline import Stage

A = TypeVar("A")
B = TypeVar("B")
E = TypeVar("E")
_ASYNCIO: Final = ("asyncio",)

def check_stage(
    stage: Stage[A, B, E],
    *,
    given: Sequence[A] = (),
    is_pure: bool = True,
    is_kept: bool = False,
    backends: Sequence[str] = _ASYNCIO,
) -> None: ...
