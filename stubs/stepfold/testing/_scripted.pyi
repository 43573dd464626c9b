from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TypeAlias, final
from stepfold.ports import SupportedUrls, streamed
from stepfold.values import ModelError, ModelErrorReason, ModelReply, ModelRequest, StreamPart

Answer: TypeAlias = ModelReply | ModelError | ModelErrorReason | Sequence[StreamPart]
AnswerFunction: TypeAlias = Callable[[ModelRequest], Answer | Awaitable[Answer]]
Scripted: TypeAlias = Answer | AnswerFunction

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
    async def generate(self, request: ModelRequest, /) -> ModelReply: ...
    @streamed
    def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]: ...
