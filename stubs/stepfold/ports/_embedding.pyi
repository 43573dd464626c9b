from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias, final
from attrs import field, frozen
from stepfold.values import NO_RESPONSE, NO_USAGE, JsonText, ModelWarning, ResponseInfo, Usage

Embedding: TypeAlias = tuple[float, ...]

@final
@frozen(order=False)
class EmbeddingRequest:
    values: tuple[str, ...]
    dimensions: int | None = field(default=None, kw_only=True)
    headers: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class EmbeddingReply:
    embeddings: tuple[Embedding, ...]
    usage: Usage = NO_USAGE
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)
    response: ResponseInfo = field(default=NO_RESPONSE, kw_only=True)
    provider_metadata: JsonText | None = field(default=None, kw_only=True)

class EmbeddingModel(Protocol):
    @property
    def provider(self) -> str: ...
    @property
    def model_id(self) -> str: ...
    @property
    def max_values_per_call(self) -> int | None: ...
    @property
    def supports_parallel_calls(self) -> bool: ...
    def embed(self, request: EmbeddingRequest, /) -> Awaitable[EmbeddingReply]: ...

EmbeddingMiddleware: TypeAlias = Callable[[EmbeddingModel], EmbeddingModel]
