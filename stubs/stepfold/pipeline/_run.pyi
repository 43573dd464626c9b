from typing import Generic, final
from attrs import field, frozen
from typing_extensions import TypeVar, override
from stepfold.pipeline._ends import PipelineEnd
from stepfold.values import StepfoldError

B_co = TypeVar("B_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)

@final
@frozen(eq=False)
class PipelineRun(Generic[B_co, E_co]):
    id: str
    end: PipelineEnd[B_co, E_co] = field(kw_only=True)

    @override
    def __repr__(self) -> str: ...

@final
class StageCrashed(StepfoldError):
    __module__ = "stepfold"

    def __init__(self, run: PipelineRun[object, object]) -> None: ...
    run: PipelineRun[object, object]

    @override
    def __reduce__(self) -> tuple[type["StageCrashed"], tuple[PipelineRun[object, object]]]: ...

@final
class PipelineCancelled(StepfoldError):
    __module__ = "stepfold"

    def __init__(self, run: PipelineRun[object, object]) -> None: ...
    run: PipelineRun[object, object]

    @override
    def __reduce__(
        self,
    ) -> tuple[type["PipelineCancelled"], tuple[PipelineRun[object, object]]]: ...
