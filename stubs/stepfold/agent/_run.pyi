from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping
from functools import cached_property
from typing import Generic, Never, final, overload
from attrs import field, frozen
from typing_extensions import TypeVar, override
from stepfold.agent._output import Output
from stepfold.loop import LoopState
from stepfold.shell import AnyTool
from stepfold.values import (
    JsonText,
    Message,
    ModelWarning,
    NoOutput,
    OpenApproval,
    Outcome,
    RunEnd,
    RunError,
    StepfoldError,
    StepResult,
    Usage,
)

Out_co = TypeVar("Out_co", covariant=True)
S = TypeVar("S", default=Never)
X = TypeVar("X", default=Never)
T = TypeVar("T")

class RunFailed(StepfoldError):
    __module__ = "stepfold"

    def __init__(self, run: "Run[object]", message: str, error: RunError | None = None) -> None: ...
    run: Run[object]
    error: RunError | None

    @override
    def __reduce__(
        self,
    ) -> tuple[type["RunFailed"], tuple["Run[object]", str, RunError | None]]: ...

@final
@frozen(eq=False, repr=False)
class Run(Generic[Out_co]):
    state: LoopState
    _output: Output[Out_co] = field(alias="output")
    _made: Mapping[JsonText, object] = field(alias="made", factory=dict[JsonText, object])

    @override
    def __repr__(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def steps(self) -> tuple[StepResult, ...]: ...
    @property
    def messages(self) -> tuple[Message, ...]: ...
    @property
    def usage(self) -> Usage: ...
    @property
    def cost(self) -> int | None: ...
    @property
    def warnings(self) -> tuple[ModelWarning, ...]: ...
    @property
    def text(self) -> str: ...
    @cached_property
    def output(self) -> Outcome[Out_co, NoOutput]: ...
    @cached_property
    def end(self) -> RunEnd[Out_co]: ...
    @property
    def open_approvals(self) -> tuple[OpenApproval, ...]: ...
    def unwrap(self) -> Out_co: ...
    @overload
    def results_of(self, tool: AnyTool[Never, AsyncIterator[T]], /) -> tuple[T, ...]: ...
    @overload
    def results_of(self, tool: AnyTool[Never, Iterator[T]], /) -> tuple[T, ...]: ...
    @overload
    def results_of(self, tool: AnyTool[Never, Awaitable[Outcome[S, X]]], /) -> tuple[S, ...]: ...
    @overload
    def results_of(self, tool: AnyTool[Never, Awaitable[T]], /) -> tuple[T, ...]: ...
    @overload
    def results_of(self, tool: AnyTool[Never, Outcome[S, X]], /) -> tuple[S, ...]: ...
    @overload
    def results_of(self, tool: AnyTool[Never, T], /) -> tuple[T, ...]: ...
