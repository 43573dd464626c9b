from collections.abc import AsyncGenerator
from typing import final
from stepfold.ports import LanguageModel, streamed
from stepfold.testing._around import Around
from stepfold.testing._exchange import Exchange
from stepfold.values import ModelReply, ModelRequest, StreamPart

@final
class ScriptRecorder(Around):
    def __init__(self, model: LanguageModel) -> None: ...
    @property
    def script(self) -> tuple[Exchange, ...]: ...
    async def generate(self, request: ModelRequest, /) -> ModelReply: ...
    @streamed
    def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]: ...
