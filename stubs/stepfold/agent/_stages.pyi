from collections.abc import Callable
from typing import Generic, overload
from typing_extensions import TypeVar
from stepfold.agent._options import Prompt
from stepfold.agent._run import RunFailed
from stepfold.pipeline import Stage

A = TypeVar("A")
Out = TypeVar("Out")
Deps_contra = TypeVar("Deps_contra", contravariant=True, default=object)
Out_co = TypeVar("Out_co", covariant=True, default=str)

class AsStage(Generic[Deps_contra, Out_co]):
    @overload
    def stage(
        self: "AsStage[object, Out]", prompt: Callable[[A], Prompt], /
    ) -> "Stage[A, Out, RunFailed]": ...
    @overload
    def stage(
        self, prompt: Callable[[A], Prompt], /, *, deps: Deps_contra
    ) -> "Stage[A, Out_co, RunFailed]": ...
