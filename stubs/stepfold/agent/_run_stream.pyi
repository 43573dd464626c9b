from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Generic, Protocol, Self, final
from typing_extensions import TypeVar
from stepfold.agent._output import Output
from stepfold.agent._run import Run
from stepfold.loop import JournalHeader, LoopState
from stepfold.ports import Journal
from stepfold.shell import RunPart
from stepfold.values import JsonText, PartialJson

Out_co = TypeVar("Out_co", covariant=True)
T = TypeVar("T")

class _Pulled(Protocol):
    @property
    def state(self) -> LoopState: ...
    @property
    def at_rest(self) -> bool: ...
    @property
    def outputs(self) -> Mapping[JsonText, object]: ...
    async def pull(self) -> RunPart: ...
    async def __aenter__(self) -> object: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> bool | None: ...

@final
class RunStream(Generic[Out_co]):
    def __init__(
        self,
        driver: _Pulled,
        output: Output[Out_co],
        journal: Journal | None,
        header: JournalHeader,
    ) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> bool | None: ...
    def __aiter__(self) -> Self: ...
    async def __anext__(self) -> RunPart: ...
    def text(self) -> AsyncIterator[str]: ...
    def partial_output(self) -> AsyncIterator[PartialJson]: ...
    def elements(self: "RunStream[tuple[T, ...]]") -> AsyncIterator[T]: ...
    async def run(self) -> Run[Out_co]: ...
