"""`PipelineRun`: where one run of a pipeline stands; and the error that carries one."""

from typing import Generic, final

from attrs import field, frozen
from typing_extensions import TypeVar, override

from stepfold.pipeline._ends import Crashed, PipelineEnd
from stepfold.values import Cancelled, StepfoldError

B_co = TypeVar("B_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)


@final
@frozen(eq=False)
class PipelineRun(Generic[B_co, E_co]):
    """A run of a pipeline that has ended, or that rests."""

    id: str
    end: PipelineEnd[B_co, E_co] = field(kw_only=True)

    @override
    def __repr__(self) -> str:
        return f"<PipelineRun {self.id}: {type(self.end).__name__.lower()}>"


@final
class StageCrashed(StepfoldError):
    """A stage raised, which is a defect: failures are returned. `run` holds how it ended.

    The exception of the stage is the cause of this one (`__cause__`).
    """

    __module__ = "stepfold"  # as all exceptions: see `stepfold.values`

    def __init__(self, run: PipelineRun[object, object]) -> None:
        end = run.end
        text = f"{run!r}"
        if isinstance(end, Crashed):
            text = (
                f"the stage {end.stage} raised {end.exception}: {end.message:.500}; "
                "return a Failure for what is expected to go wrong"
            )
        super().__init__(text)
        self.run: PipelineRun[object, object] = run

    @override
    def __reduce__(self) -> tuple[type["StageCrashed"], tuple[PipelineRun[object, object]]]:
        return (StageCrashed, (self.run,))


@final
class PipelineCancelled(StepfoldError):
    """A run in memory was ended from beside it, or its time was up; `run` holds how it ended."""

    __module__ = "stepfold"

    def __init__(self, run: PipelineRun[object, object]) -> None:
        end = run.end
        super().__init__(f"cancelled: {end.reason}" if isinstance(end, Cancelled) else f"{run!r}")
        self.run: PipelineRun[object, object] = run

    @override
    def __reduce__(self) -> tuple[type["PipelineCancelled"], tuple[PipelineRun[object, object]]]:
        return (PipelineCancelled, (self.run,))
