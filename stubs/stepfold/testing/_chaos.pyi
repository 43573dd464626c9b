from collections.abc import AsyncGenerator
from typing import final
from stepfold.ports import Clock, LanguageModel, streamed
from stepfold.testing._around import Around
from stepfold.values import ModelReply, ModelRequest, StreamPart

@final
class ChaosModel(Around):
    def __init__(
        self,
        model: LanguageModel,
        *,
        seed: int,
        rate_limits: float = 0.1,
        timeouts: float = 0.1,
        cuts: float = 0.1,
        malformed: float = 0.0,
        slow: float = 0.0,
        retry_after: float | None = 1.0,
        pause: float = 0.1,
        max_failures: int = 2,
        clock: Clock | None = None,
    ) -> None: ...
    async def generate(self, request: ModelRequest, /) -> ModelReply: ...
    @streamed
    def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]: ...
