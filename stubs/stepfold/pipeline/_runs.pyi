from functools import cached_property
from typing import Generic, Never
from typing_extensions import TypeVar, Unpack
from stepfold.loop import Diverged
from stepfold.pipeline._durable import Answers
from stepfold.pipeline._execute import PipelineOptions, StartOptions
from stepfold.pipeline._fork import UNCHANGED, Unchanged
from stepfold.pipeline._nodes import Node
from stepfold.pipeline._run import PipelineRun
from stepfold.pipeline._state import PipelineState
from stepfold.pipeline._wiring import Wiring
from stepfold.ports import JournalStore
from stepfold.values import Outcome

A = TypeVar("A")
B = TypeVar("B")
A_contra = TypeVar("A_contra", contravariant=True)
B_co = TypeVar("B_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)

class Runs(Generic[A_contra, B_co, E_co]):
    def __init__(self, node: Node) -> None: ...
    @property
    def node(self) -> Node: ...
    @cached_property
    def wiring(self) -> Wiring: ...
    async def run(
        self, given: A_contra, /, **options: Unpack[PipelineOptions]
    ) -> Outcome[B_co, E_co]: ...
    async def value(
        self: "Runs[A, B, Never]", given: A, /, **options: Unpack[PipelineOptions]
    ) -> B: ...
    def run_sync(
        self, given: A_contra, /, **options: Unpack[PipelineOptions]
    ) -> Outcome[B_co, E_co]: ...
    async def start(
        self,
        given: A_contra,
        /,
        *,
        journal: JournalStore,
        run_id: str,
        **options: Unpack[StartOptions],
    ) -> PipelineRun[B_co, E_co]: ...
    async def resume(
        self,
        run_id: str,
        answers: Answers | None = None,
        /,
        *,
        journal: JournalStore,
        **options: Unpack[StartOptions],
    ) -> PipelineRun[B_co, E_co]: ...
    async def replay(
        self, run_id: str, /, *, journal: JournalStore
    ) -> Outcome[PipelineState, Diverged]: ...
    async def fork(
        self,
        run_id: str,
        new: str,
        /,
        *,
        journal: JournalStore,
        at: int | str,
        given: object | Unchanged = UNCHANGED,
    ) -> PipelineState: ...
