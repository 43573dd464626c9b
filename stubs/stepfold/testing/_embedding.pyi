from collections.abc import Callable, Sequence
from typing import final
from stepfold.ports import EmbeddingReply, EmbeddingRequest, RerankingReply, RerankingRequest
from stepfold.values import ModelErrorReason

_DIMENSIONS = 16

def hashed_embedding(text: str, dimensions: int = _DIMENSIONS, /) -> tuple[float, ...]: ...

@final
class ScriptedEmbeddingModel:
    def __init__(
        self,
        embedding: Callable[[str], Sequence[float]] | None = None,
        /,
        *,
        failures: Sequence[ModelErrorReason | None] = (),
        max_values_per_call: int | None = None,
        supports_parallel_calls: bool = True,
        provider: str = "scripted",
        model_id: str = "embedding",
    ) -> None: ...
    max_values_per_call: int | None
    supports_parallel_calls: bool
    provider: str
    model_id: str

    @property
    def requests(self) -> tuple[EmbeddingRequest, ...]: ...
    async def embed(self, request: EmbeddingRequest, /) -> EmbeddingReply: ...

@final
class ScriptedRerankingModel:
    def __init__(
        self,
        score: Callable[[str, str], float] | None = None,
        /,
        *,
        failures: Sequence[ModelErrorReason | None] = (),
        provider: str = "scripted",
        model_id: str = "reranking",
    ) -> None: ...
    provider: str
    model_id: str

    @property
    def requests(self) -> tuple[RerankingRequest, ...]: ...
    async def rerank(self, request: RerankingRequest, /) -> RerankingReply: ...
