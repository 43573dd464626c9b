"""Agents as stages of a pipeline."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, Protocol, TypeAlias, cast, final, overload

from attrs import field, frozen
from typing_extensions import TypeVar, Unpack

from stepfold.agent._configured import NO_DEPS
from stepfold.agent._options import RunOptions
from stepfold.agent._run import Run, RunFailed
from stepfold.pipeline import Stage, StageContext, contextual
from stepfold.pipeline.notes import AgentTold
from stepfold.shell import Observation
from stepfold.values import Failure, Message, Outcome, Success, UsageError

A = TypeVar("A")
Deps = TypeVar("Deps")
Out = TypeVar("Out")
Deps_contra = TypeVar("Deps_contra", contravariant=True, default=object)
Out_co = TypeVar("Out_co", covariant=True, default=str)

Prompt: TypeAlias = str | Sequence[Message]
"""Text, or the messages of a conversation."""


class Asked(Protocol):
    """What an agent is to its stages."""

    def try_generate(
        self, prompt: Prompt, /, *, deps: object, **options: Unpack[RunOptions]
    ) -> Awaitable[Outcome[Run[object], RunFailed]]:
        """Run it."""
        ...


class AsStage(Generic[Deps_contra, Out_co]):
    """What an agent is to pipelines."""

    @overload
    def stage(
        self: "AsStage[object, Out]", prompt: Callable[[A], Prompt], /
    ) -> Stage[A, Out, RunFailed]: ...
    @overload
    def stage(
        self, prompt: Callable[[A], Prompt], /, *, deps: Deps_contra
    ) -> Stage[A, Out_co, RunFailed]: ...
    def stage(
        self: "AsStage[Deps, Out]", prompt: Callable[[A], Prompt], /, *, deps: object = NO_DEPS
    ) -> Stage[A, Out, RunFailed]:
        """Make a stage of a pipeline: it asks the agent, and gives the output of the run.

        A run that failed, was stopped before it had an output, or is blocked is a failure. It is
        named after the pipeline's run and its place in it, takes its time from the same clock, and
        keeps within the limits of the pipeline, if that has any.

        Args:
            prompt: Makes the prompt of what the stage is given.
            deps: What the tools' contexts hold.

        Raises:
            UsageError: the prompt is no function.
        """
        if not callable(prompt):
            raise UsageError(
                f"stage: expected a function that makes the prompt, got {prompt!r:.200}: "
                'write lambda given: f"…{given}"'
            )
        asking = _Asking(cast("Asked", self), cast("Callable[[object], Prompt]", prompt), deps)
        return cast("Stage[A, Out, RunFailed]", contextual("agent", asking, prompt))


@final
@frozen(order=False)
class _Asking:
    """Asks an agent; a value, so that stages can be compared."""

    agent: Asked
    prompt: Callable[[object], Prompt]
    deps: object = field(eq=id)

    async def __call__(self, context: StageContext) -> Outcome[object, RunFailed]:
        """Run the agent within a pipeline."""
        return await asked(self.agent, self.prompt(context.given), self.deps, context)


async def asked(
    agent: Asked, prompt: Prompt, deps: object, context: StageContext
) -> Outcome[object, RunFailed]:
    """Run an agent within a pipeline, and give its output."""
    options = RunOptions(run_id=context.run_id, clock=context.clock, parent=context)
    if context.tell is not None:
        options["observers"] = [_Telling(context)]
    match await agent.try_generate(prompt, deps=deps, **options):
        case Success(run):
            return _output_of(run)
        case Failure(failed):
            return Failure(failed)


def _output_of(run: Run[Out]) -> Outcome[Out, RunFailed]:
    try:
        return Success(run.unwrap())
    except RunFailed as failed:
        return Failure(failed)


@final
@frozen(order=False, eq=False)
class _Telling:
    """Tells those who watch a pipeline what an agent within it does."""

    context: StageContext

    def __call__(self, seen: Observation) -> None:
        """Tell one thing."""
        context = self.context
        if context.tell is not None:
            context.tell(AgentTold(context.key, context.stage, seen))
