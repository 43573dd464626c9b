from collections.abc import Awaitable
from typing import Protocol, final
from attrs import field, frozen
from stepfold.values import NO_RESPONSE, NO_USAGE, JsonText, ModelWarning, ResponseInfo, Usage

@final
@frozen(order=False)
class RerankingRequest:
    query: str
    documents: tuple[str, ...]
    top_n: int | None = field(default=None, kw_only=True)
    headers: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    provider_options: JsonText | None = field(default=None, kw_only=True)

@final
@frozen(order=False)
class Ranked:
    index: int
    score: float

@final
@frozen(order=False)
class RerankingReply:
    ranking: tuple[Ranked, ...]
    usage: Usage = NO_USAGE
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)
    response: ResponseInfo = field(default=NO_RESPONSE, kw_only=True)
    provider_metadata: JsonText | None = field(default=None, kw_only=True)

class RerankingModel(Protocol):
    @property
    def provider(self) -> str: ...
    @property
    def model_id(self) -> str: ...
    def rerank(self, request: RerankingRequest, /) -> Awaitable[RerankingReply]: ...
