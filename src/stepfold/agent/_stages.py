"""Agents as stages of a pipeline."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, cast, overload

from typing_extensions import TypeVar

from stepfold.agent._configured import NO_DEPS
from stepfold.agent._options import Prompt
from stepfold.agent._run import RunFailed
from stepfold.values import UsageError

if TYPE_CHECKING:
    from stepfold.agent._asking import Asked
    from stepfold.pipeline import Stage

A = TypeVar("A")
Deps = TypeVar("Deps")
Out = TypeVar("Out")
Deps_contra = TypeVar("Deps_contra", contravariant=True, default=object)
Out_co = TypeVar("Out_co", covariant=True, default=str)


class AsStage(Generic[Deps_contra, Out_co]):
    """What an agent is to pipelines."""

    @overload
    def stage(
        self: "AsStage[object, Out]", prompt: Callable[[A], Prompt], /
    ) -> "Stage[A, Out, RunFailed]": ...
    @overload
    def stage(
        self, prompt: Callable[[A], Prompt], /, *, deps: Deps_contra
    ) -> "Stage[A, Out_co, RunFailed]": ...
    def stage(
        self: "AsStage[Deps, Out]", prompt: Callable[[A], Prompt], /, *, deps: object = NO_DEPS
    ) -> "Stage[A, Out, RunFailed]":
        """Make a stage of a pipeline: it asks the agent, and gives the output of the run.

        A run that failed, was stopped before it had an output, or is blocked is a failure. It is
        named after the pipeline's run and its place in it, takes its time from the same clock, and
        keeps within the limits of the pipeline, if that has any.

        Where the pipeline is kept in a journal, so is the run: after a crash it goes on where it
        was, and where it is blocked the pipeline is suspended, and resumed by the answers.

        Args:
            prompt: Makes the prompt of what the stage is given.
            deps: What the tools' contexts hold.

        Raises:
            UsageError: the prompt is no function.
        """
        from stepfold.agent._asking import Asking
        from stepfold.pipeline import contextual

        if not callable(prompt):
            raise UsageError(
                f"stage: expected a function that makes the prompt, got {prompt!r:.200}: "
                'write lambda given: f"…{given}"'
            )
        asking = Asking(cast("Asked", self), cast("Callable[[object], Prompt]", prompt), deps)
        return cast("Stage[A, Out, RunFailed]", contextual("agent", asking, prompt))
