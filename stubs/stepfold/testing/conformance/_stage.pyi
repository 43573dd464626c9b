from collections.abc import Sequence
from typing import Final
from typing_extensions import TypeVar
from stepfold.pipeline import Stage
from hypothesis.strategies import SearchStrategy

A = TypeVar("A")
B = TypeVar("B")
E = TypeVar("E")
_ASYNCIO: Final = ("asyncio",)

def check_stage(
    stage: Stage[A, B, E],
    *,
    given: "Sequence[A] | SearchStrategy[A]" = (),
    execute: bool = False,
    examples: int = 25,
    is_pure: bool = True,
    is_kept: bool = False,
    backends: Sequence[str] = _ASYNCIO,
) -> None: ...
