from collections.abc import Callable, Sequence
from typing import TypeAlias, final
from attrs import frozen
from typing_extensions import override
from stepfold.loop import Program, step
from stepfold.loop.events import Event
from stepfold.testing._simulation import Trace
from stepfold.testing.exploration._alphabet import Alphabet
from stepfold.testing.exploration._graph import Edge
from stepfold.testing.laws import Reducer
from stepfold.values import Message

Law: TypeAlias = Callable[[Trace], None]

@final
@frozen(order=False)
class Violation:
    law: str
    path: tuple[Event, ...]

    @override
    def __str__(self) -> str: ...

@final
@frozen(order=False)
class Exploration:
    states: int
    transitions: int
    endings: tuple[tuple[str, int], ...]
    edges: tuple[tuple[Edge, int], ...]
    longest: int
    bound: str | None = None
    violation: Violation | None = None

    @property
    def is_exhaustive(self) -> bool: ...
    def require_lawful(self) -> None: ...
    def mermaid(self) -> str: ...
    @override
    def __str__(self) -> str: ...

def explore(
    program: Program,
    prompt: str | Sequence[Message] = "Begin.",
    *,
    alphabet: Alphabet,
    laws: Sequence[Law] = (),
    reducer: Reducer = step,
    max_states: int = 100000,
    max_seconds: float | None = None,
    on_progress: Callable[[int, int], object] | None = None,
) -> Exploration: ...
