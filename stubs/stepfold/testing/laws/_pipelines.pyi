from collections.abc import Callable
from typing import TypeVar
from stepfold.pipeline import Stage
from stepfold.values import Outcome

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
G = TypeVar("G")

async def stages_compose(
    first: Stage[A, B, E], second: Stage[B, C, F], third: Stage[C, D, G], given: A
) -> None: ...
async def mapping_fuses(
    stage: Stage[A, B, E], first: Callable[[B], C], second: Callable[[C], D], given: A
) -> None: ...
async def failures_skip(stage: Stage[A, B, E], given: A) -> None: ...
def pipeline_keeps_its_laws(
    stage: Stage[A, B, E], given: A, choose: Callable[[int], int]
) -> Outcome[object, object]: ...
