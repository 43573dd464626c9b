"""What a prepare function may know of the step that is about to begin."""

from typing import Generic, TypeVar, final

from attrs import frozen

from stepfold.loop import LoopState, Program
from stepfold.values import (
    AssistantMessage,
    JsonObject,
    Message,
    StepResult,
    ToolMessage,
    Usage,
    UserMessage,
)

D = TypeVar("D")
D_co = TypeVar("D_co", covariant=True)


@final
@frozen(order=False, kw_only=True)
class StepContext(Generic[D_co]):
    """What a prepare function may know of the step that is about to begin.

    `model` is the one that is asked unless the plan says otherwise. `messages` is the prompt of the
    step: the history, or what an earlier plan put in its place and all that was said since. Its
    `instructions` and its `runtime_context` are those that hold now, too; `initial_instructions`
    are the program's. `history` is all that was said, its first `initial_count` messages before the
    run began. `steering_messages` came in just now, and are the last of `messages`.
    """

    deps: D_co
    step: int
    model: str
    steps: tuple[StepResult, ...]
    messages: tuple[Message, ...]
    history: tuple[Message, ...]
    initial_count: int
    steering_messages: tuple[UserMessage, ...]
    instructions: str
    initial_instructions: str
    runtime_context: JsonObject
    usage: Usage

    @property
    def initial_messages(self) -> tuple[Message, ...]:
        """What the run began with, up to calls that were still open."""
        return self.history[: self.initial_count]

    @property
    def response_messages(self) -> tuple[Message, ...]:
        """What models and tools have said in this run."""
        return tuple(
            message
            for message in self.history[self.initial_count :]
            if isinstance(message, AssistantMessage | ToolMessage)
        )


def step_context(program: Program, state: LoopState, step: int, deps: D) -> StepContext[D]:
    """Tell of a step; what costs more than a look is made when it is asked for."""
    said = state.transcript
    return StepContext(
        deps=deps,
        step=step,
        model=program.models[0],
        steps=said.steps,
        messages=state.prompt,
        history=said.messages,
        initial_count=said.initial,
        steering_messages=tuple(one for one in said.late if isinstance(one, UserMessage)),
        instructions=program.instructions if said.instructions is None else said.instructions,
        initial_instructions=program.instructions,
        runtime_context=state.runtime_context,
        usage=state.usage,
    )
