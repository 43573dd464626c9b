"""The port to models that say which documents answer a query best."""

from collections.abc import Awaitable
from typing import Protocol, final

from attrs import field, frozen

from stepfold.values import NO_RESPONSE, NO_USAGE, JsonText, ModelWarning, ResponseInfo, Usage


@final
@frozen(order=False)
class RerankingRequest:
    """What a reranking model is asked: which of the documents fit the query best.

    Nothing is sent for `top_n` if it is `None`: every document is ranked. `headers` and
    `provider_options` are those of a `ModelRequest`.
    """

    query: str
    documents: tuple[str, ...]
    top_n: int | None = field(default=None, kw_only=True)
    headers: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class Ranked:
    """A document by its index in the request, and how well it fits: higher is better."""

    index: int
    score: float


@final
@frozen(order=False)
class RerankingReply:
    """The documents that fit best, best first."""

    ranking: tuple[Ranked, ...]
    usage: Usage = NO_USAGE
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)
    response: ResponseInfo = field(default=NO_RESPONSE, kw_only=True)
    provider_metadata: JsonText | None = field(default=None, kw_only=True)


class RerankingModel(Protocol):
    """A model that ranks documents by a query, real or scripted."""

    @property
    def provider(self) -> str:
        """Who runs the model, such as `cohere`."""
        ...

    @property
    def model_id(self) -> str:
        """What the provider calls the model."""
        ...

    def rerank(self, request: RerankingRequest, /) -> Awaitable[RerankingReply]:
        """Rank documents; raises `ModelError`, and nothing else on purpose."""
        ...
