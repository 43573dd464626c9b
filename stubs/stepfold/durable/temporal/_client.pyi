from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Generic, TypeVar, final
from temporalio.client import Client, WorkflowHandle
from typing_extensions import TypedDict, Unpack
from stepfold.agent import Agent, AnyAnswer, Run
from stepfold.codec import JsonTree
from stepfold.durable._channel import StreamChannel, StreamedPart
from stepfold.durable.temporal._workflow import RunWorkflow
from stepfold.loop import LoopState
from stepfold.values import Message, UserMessage

D = TypeVar("D")
Out = TypeVar("Out")

class StartOptions(TypedDict, total=False):
    execution_timeout: float
    task_timeout: float
    start_delay: float
    memo: Mapping[str, object]

async def start(
    client: Client,
    workflow: type[RunWorkflow[D, Out]],
    prompt: str | Sequence[Message],
    /,
    *,
    id: str,
    task_queue: str,
    seed: int | None = None,
    runtime_context: Mapping[str, object] | None = None,
    **options: Unpack[StartOptions],
) -> "RunHandle[Out]": ...
def handle_of(
    client: Client, workflow: type[RunWorkflow[D, Out]], id: str, /
) -> "RunHandle[Out]": ...

@final
class RunHandle(Generic[Out]):
    def __init__(
        self, agent: Agent[D, Out], workflow: WorkflowHandle[object, JsonTree]
    ) -> None: ...
    workflow: WorkflowHandle[object, JsonTree]

    @property
    def id(self) -> str: ...
    async def result(self) -> Run[Out]: ...
    async def at_rest(self) -> Run[Out]: ...
    async def state(self) -> LoopState: ...
    async def answer(self, answers: Sequence[AnyAnswer]) -> None: ...
    async def steer(self, message: str | UserMessage, /, *, key: str | None = None) -> bool: ...
    async def queue(self, message: str | UserMessage, /, *, key: str | None = None) -> bool: ...
    async def cancel(self, reason: str = "cancelled", *, after_step: bool = False) -> None: ...
    @asynccontextmanager
    def stream(self, channel: StreamChannel) -> AsyncGenerator[AsyncIterator[StreamedPart]]: ...
