from collections.abc import Callable
from typing import Generic, final
from typing_extensions import TypeVar
from stepfold.pipeline import Node, NotRouted, Stage
from stepfold.ports import LanguageModel

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
E = TypeVar("E")
F = TypeVar("F")
A_contra = TypeVar("A_contra", contravariant=True)
B_co = TypeVar("B_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)

@final
class Routes(Generic[A_contra, B_co, E_co]):
    def __init__(self, told: tuple[tuple[str, str], ...], nodes: tuple[Node, ...]) -> None: ...
    @property
    def told(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def nodes(self) -> tuple[Node, ...]: ...
    def __or__(
        self: "Routes[A, B, E]", other: "Routes[A, C, F]", /
    ) -> "Routes[A, B | C, E | F]": ...

def to(name: str, description: str, stage: Stage[A, B, E], /) -> Routes[A, B, E]: ...
def route(
    routes: Routes[A, B, E], /, *, model: str | LanguageModel, prompt: Callable[[A], str]
) -> Stage[A, B, E | NotRouted]: ...
