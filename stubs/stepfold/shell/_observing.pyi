from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias, TypeVar, final, overload
from attrs import frozen
from stepfold.loop import LoopState, Program, Transition
from stepfold.loop.commands import CallKey, ModelCallKey
from stepfold.loop.events import Event, ModelFailed, ModelReplied, ToolReturned
from stepfold.loop.notes import Note
from stepfold.ports import EmbeddingReply, EmbeddingRequest, RerankingReply, RerankingRequest
from stepfold.shell._tool import ToolContext
from stepfold.shell._waiting import Waiting
from stepfold.values import Instant, ModelErrorReason, ModelRequest, ToolCall

@final
@frozen(order=False)
class RunTakenUp:
    run: str
    program: Program
    transition: Transition

@final
@frozen(order=False)
class ModelCallStarted:
    run: str
    key: ModelCallKey
    model: str
    request: ModelRequest
    at: Instant

@final
@frozen(order=False)
class ModelCallEnded:
    run: str
    key: ModelCallKey
    request: ModelRequest
    event: ModelReplied | ModelFailed

@final
@frozen(order=False)
class ToolExecutionStarted:
    run: str
    key: CallKey
    call: ToolCall
    context: ToolContext[object]
    at: Instant

@final
@frozen(order=False)
class ToolExecutionEnded:
    run: str
    key: CallKey
    call: ToolCall
    context: ToolContext[object]
    event: ToolReturned

@final
@frozen(order=False)
class EmbeddingCallStarted:
    run: str
    batch: int
    attempt: int
    model: str
    request: EmbeddingRequest
    at: Instant

@final
@frozen(order=False)
class EmbeddingCallEnded:
    run: str
    batch: int
    attempt: int
    model: str
    request: EmbeddingRequest
    outcome: EmbeddingReply | ModelErrorReason
    started: Instant
    at: Instant

@final
@frozen(order=False)
class RerankingCallStarted:
    run: str
    attempt: int
    model: str
    request: RerankingRequest
    at: Instant

@final
@frozen(order=False)
class RerankingCallEnded:
    run: str
    attempt: int
    model: str
    request: RerankingRequest
    outcome: RerankingReply | ModelErrorReason
    started: Instant
    at: Instant

@final
@frozen(order=False)
class EventHappened:
    run: str
    event: Event
    transition: Transition

Observation: TypeAlias = (
    RunTakenUp
    | ModelCallStarted
    | ModelCallEnded
    | ToolExecutionStarted
    | ToolExecutionEnded
    | EventHappened
    | EmbeddingCallStarted
    | EmbeddingCallEnded
    | RerankingCallStarted
    | RerankingCallEnded
)
Observer: TypeAlias = Callable[[Observation], Awaitable[None] | None]
N = TypeVar("N", bound=Note)
E = TypeVar("E", bound=Event)
S = TypeVar("S", bound=Observation)

@overload
def on(
    kind: type[N], function: Callable[[N, Transition], Awaitable[None] | None], /
) -> Observer: ...
@overload
def on(
    kind: type[E], function: Callable[[E, Transition], Awaitable[None] | None], /
) -> Observer: ...
@overload
def on(kind: type[S], function: Callable[[S], Awaitable[None] | None], /) -> Observer: ...

@final
class Watch:
    def __init__(
        self, program: Program, first: Transition, observers: Sequence[Observer], waiting: Waiting
    ) -> None: ...
    def happened(self, before: LoopState, event: Event, transition: Transition) -> None: ...
    async def begins(self, begun: ModelCallStarted | ToolExecutionStarted) -> None: ...
    async def tell(self) -> None: ...
