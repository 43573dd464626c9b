from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, Never, final, overload
from typing_extensions import TypeForm, TypeVar
from stepfold.pipeline._context import StageContext
from stepfold.pipeline._kept import Rested
from stepfold.pipeline._nodes import Node
from stepfold.pipeline._results import BoundReached
from stepfold.pipeline._stage import Cases, Stage
from stepfold.pipeline._works import AnyFunction
from stepfold.values import Outcome

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
E = TypeVar("E")
F = TypeVar("F")
G = TypeVar("G")
T = TypeVar("T")
S = TypeVar("S", default=Never)
X = TypeVar("X", default=Never)
A_contra = TypeVar("A_contra", contravariant=True)
B_co = TypeVar("B_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)

@overload
def stage(function: Callable[[A], Awaitable[Outcome[S, X]]], /) -> Stage[A, S, X]: ...
@overload
def stage(function: Callable[[A], Awaitable[B]], /) -> Stage[A, B, Never]: ...
@overload
def stage(function: Callable[[A], Outcome[S, X]], /) -> Stage[A, S, X]: ...
@overload
def stage(function: Callable[[A], B], /) -> Stage[A, B, Never]: ...
def pure(function: Callable[[A], B], /) -> Stage[A, B, Never]: ...
def fallible(function: Callable[[A], Outcome[S, X]], /) -> Stage[A, S, X]: ...
def identity() -> Stage[A, A, Never]: ...
def given(kind: type[A], /) -> Stage[A, A, Never]: ...
def sleep(seconds: float, /) -> Stage[A, A, Never]: ...
def contextual(
    name: str, function: Callable[[StageContext], Awaitable[Outcome[B, E] | Rested]], prompt: object
) -> Stage[Never, B, E]: ...
def chosen(
    name: str,
    chooser: Callable[[StageContext], Awaitable[Outcome[object, F] | Rested]],
    labels: tuple[str, ...],
    arms: tuple[Node, ...],
) -> Stage[Never, object, object]: ...
def await_input(
    form: TypeForm[T], /, *, name: str, ask: Callable[[A], str]
) -> Stage[A, T, Never]: ...
def await_input_with(
    form: TypeForm[T], /, *, name: str, ask: Callable[[A], str]
) -> Stage[A, tuple[A, T], Never]: ...
def orchestrate(
    plan: Stage[A, Sequence[T], E],
    worker: Stage[T, B, F],
    combine: Stage[tuple[B, ...], C, G],
    /,
    *,
    at_most: int,
) -> Stage[A, C, E | F | G | BoundReached[int]]: ...

@final
class Case(Generic[T]):
    def __init__(self, form: object) -> None: ...
    def then(self, stage: Stage[T, B, E], /) -> Cases[T, B, E]: ...

def case(form: TypeForm[T], /) -> Case[T]: ...

@final
class When(Generic[A_contra, B_co, E_co]):
    def __init__(self, tests: tuple[AnyFunction, ...], arms: tuple[Node, ...]) -> None: ...
    def when(
        self: "When[A, B, E]", holds: Callable[[A], bool], stage: Stage[A, C, F], /
    ) -> "When[A, B | C, E | F]": ...
    def otherwise(self: "When[A, B, E]", stage: Stage[A, C, F], /) -> Stage[A, B | C, E | F]: ...

def when(holds: Callable[[A], bool], stage: Stage[A, B, E], /) -> When[A, B, E]: ...
