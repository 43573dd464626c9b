from typing import Generic, TypeVar, final
from attrs import frozen
from stepfold.values import JsonObject, Message, StepResult, Usage, UserMessage

D_co = TypeVar("D_co", covariant=True)

@final
@frozen(order=False, kw_only=True)
class StepContext(Generic[D_co]):
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
    def initial_messages(self) -> tuple[Message, ...]: ...
    @property
    def response_messages(self) -> tuple[Message, ...]: ...
