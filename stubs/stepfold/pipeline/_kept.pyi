from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeAlias, final, runtime_checkable
from attrs import frozen
from stepfold.loop import Diverged, JournalEntry, JournalHeader, LoopState, Program, Transition
from stepfold.pipeline.events import StageKey
from stepfold.values import JsonText, OpenRequest, Outcome

Write: TypeAlias = Callable[[Mapping[str, object], int], Awaitable[None]]

@final
@frozen(order=False)
class Rested:
    asked: tuple[OpenRequest, ...]

@final
class Kept:
    def __init__(self, header: JournalHeader) -> None: ...
    header: JournalHeader

    def add(self, entry: JournalEntry) -> None: ...
    def folded(self, program: Program) -> Outcome[LoopState, Diverged]: ...

@runtime_checkable
class AsksAgent(Protocol):
    def reached(self, kept: Kept, /) -> Outcome[LoopState, Diverged]: ...
    def value_of(self, output: JsonText, /) -> Outcome[object, str]: ...
    def error_of(self, state: LoopState, /) -> object: ...
    def check(self, state: LoopState, answers: Sequence[object], /) -> None: ...

@final
class KeptAgent:
    def __init__(self, key: StageKey, write: Write) -> None: ...
    state: LoopState | None
    answers: tuple[object, ...]

    async def begin(self, header: JournalHeader, /) -> None: ...
    async def append(self, entry: JournalEntry, /) -> None: ...
    async def advance(self, entry: JournalEntry, transition: Transition, /) -> None: ...
