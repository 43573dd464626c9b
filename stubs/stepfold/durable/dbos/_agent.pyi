from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, Generic, TypeVar, final, overload
from stepfold.agent import Agent, AnyAnswer, Run
from stepfold.durable._channel import StreamedPart
from stepfold.durable._recording import Recording
from stepfold.loop import LoopState
from stepfold.values import Message, UserMessage

D = TypeVar("D")
Out = TypeVar("Out")

@final
class DbosAgent(Generic[Out]):
    @overload
    def __init__(
        self,
        agent: Agent[object, Out],
        *,
        name: str,
        stream: bool = False,
        polling_seconds: float = 1.0,
        allow_other_program: bool = False,
    ) -> None: ...
    @overload
    def __init__(
        self,
        agent: Agent[D, Out],
        *,
        name: str,
        deps: D,
        stream: bool = False,
        polling_seconds: float = 1.0,
        allow_other_program: bool = False,
    ) -> None: ...
    name: Final[str]

    async def start(
        self,
        prompt: str | Sequence[Message],
        /,
        *,
        run_id: str | None = None,
        queue: str | None = None,
        seed: int | None = None,
        runtime_context: Mapping[str, object] | None = None,
    ) -> "RunHandle[Out]": ...
    def handle_of(self, run_id: str, /) -> "RunHandle[Out]": ...
    async def take_over(self, executor_id: str, /) -> tuple[str, ...]: ...

@final
class RunHandle(Generic[Out]):
    def __init__(self, agent: Agent[object, Out], run: str, polling: float) -> None: ...
    id: Final[str]

    async def result(self) -> Run[Out]: ...
    async def at_rest(self) -> Run[Out]: ...
    async def state(self) -> LoopState: ...
    async def recording(self) -> Recording: ...
    async def answer(self, answers: Sequence[AnyAnswer], /) -> None: ...
    async def steer(self, message: str | UserMessage, /) -> None: ...
    async def queue(self, message: str | UserMessage, /) -> None: ...
    async def cancel(self, reason: str = "cancelled", *, after_step: bool = False) -> None: ...
    @asynccontextmanager
    def stream(self) -> AsyncGenerator[AsyncIterator[StreamedPart]]: ...
