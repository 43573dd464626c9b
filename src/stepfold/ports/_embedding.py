"""The port to models that turn texts into vectors."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias, final

from attrs import field, frozen

from stepfold.values import NO_RESPONSE, NO_USAGE, JsonText, ModelWarning, ResponseInfo, Usage

Embedding: TypeAlias = tuple[float, ...]
"""A text as a vector: texts of like meaning have vectors of like direction."""


@final
@frozen(order=False)
class EmbeddingRequest:
    """What an embedding model is asked: texts, and how long a vector of each shall be.

    Nothing is sent for `dimensions` that are `None`. `headers` and `provider_options` are those of
    a `ModelRequest`.
    """

    values: tuple[str, ...]
    dimensions: int | None = field(default=None, kw_only=True)
    headers: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class EmbeddingReply:
    """The vectors of the texts, in their order; `usage` counts input tokens."""

    embeddings: tuple[Embedding, ...]
    usage: Usage = NO_USAGE
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)
    response: ResponseInfo = field(default=NO_RESPONSE, kw_only=True)
    provider_metadata: JsonText | None = field(default=None, kw_only=True)


class EmbeddingModel(Protocol):
    """A model that turns texts into vectors, real or scripted."""

    @property
    def provider(self) -> str:
        """Who runs the model, such as `openai`."""
        ...

    @property
    def model_id(self) -> str:
        """What the provider calls the model."""
        ...

    @property
    def max_values_per_call(self) -> int | None:
        """How many texts one call may hold; `None` is any number."""
        ...

    @property
    def supports_parallel_calls(self) -> bool:
        """Whether several calls may be in flight at once."""
        ...

    def embed(self, request: EmbeddingRequest, /) -> Awaitable[EmbeddingReply]:
        """Give a vector for each text; raises `ModelError`, and nothing else on purpose."""
        ...


EmbeddingMiddleware: TypeAlias = Callable[[EmbeddingModel], EmbeddingModel]
"""A function from embedding model to embedding model; first listed is outermost."""
