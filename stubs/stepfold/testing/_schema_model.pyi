from collections.abc import AsyncGenerator
from typing import Protocol, TypeVar, final
from stepfold.ports import streamed
from stepfold.values import ModelReply, ModelRequest, StreamPart
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

class Draw(Protocol):
    def __call__(self, strategy: "SearchStrategy[T]", /) -> T: ...

@final
class SchemaModel:
    def __init__(
        self,
        draw: Draw | None = None,
        *,
        seed: int = 0,
        max_calls: int = 2,
        max_steps: int = 3,
        provider: str = "schema",
        model_id: str = "model",
    ) -> None: ...
    @property
    def provider(self) -> str: ...
    @property
    def model_id(self) -> str: ...
    async def generate(self, request: ModelRequest, /) -> ModelReply: ...
    @streamed
    def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]: ...
