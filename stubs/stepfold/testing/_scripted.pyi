from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self, TypeAlias, final
from stepfold.ports import SupportedUrls, streamed
from stepfold.testing._divergence import Divergence
from stepfold.testing._exchange import Exchange
from stepfold.values import (
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamPart,
    UsageError,
)

Answer: TypeAlias = ModelReply | ModelError | ModelErrorReason | Sequence[StreamPart]
AnswerFunction: TypeAlias = Callable[[ModelRequest], Answer | Awaitable[Answer]]
Scripted: TypeAlias = Answer | AnswerFunction | Exchange

@final
class ScriptDiverged(UsageError):
    __module__ = "stepfold.testing"

    def __init__(self, message: str, place: int, divergence: Divergence | None) -> None: ...
    place: int
    divergence: Divergence | None

@final
class ScriptedModel:
    def __init__(
        self,
        replies: Sequence[Scripted],
        *,
        provider: str = "scripted",
        model_id: str = "model",
        chunk_size: int | None = None,
        by_step: bool = False,
        supported_urls: SupportedUrls | None = None,
    ) -> None: ...
    @property
    def provider(self) -> str: ...
    @property
    def model_id(self) -> str: ...
    @property
    def supported_urls(self) -> SupportedUrls | None: ...
    @property
    def requests(self) -> tuple[ModelRequest, ...]: ...
    @property
    def unused(self) -> tuple[Scripted, ...]: ...
    def assert_exhausted(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    async def generate(self, request: ModelRequest, /) -> ModelReply: ...
    @streamed
    def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]: ...
