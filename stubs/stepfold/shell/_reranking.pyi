from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, final, overload
from attrs import field, frozen
from typing_extensions import Unpack
from stepfold.ports import RerankingModel
from stepfold.shell._asking import ModelCallOptions
from stepfold.values import (
    NO_RESPONSE,
    NO_USAGE,
    JsonText,
    ModelError,
    ModelWarning,
    Outcome,
    ResponseInfo,
    Usage,
)

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

@final
@frozen(order=False)
class RankedDocument(Generic[T_co]):
    document: T_co
    index: int
    score: float

@final
@frozen(order=False)
class Reranked(Generic[T_co]):
    query: str
    ranking: tuple[RankedDocument[T_co], ...]
    usage: Usage = NO_USAGE
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)
    response: ResponseInfo = field(default=NO_RESPONSE, kw_only=True)
    provider_metadata: JsonText | None = field(default=None, kw_only=True)

    @property
    def documents(self) -> tuple[T_co, ...]: ...

@overload
async def try_rerank(
    model: RerankingModel,
    query: str,
    documents: Sequence[str],
    /,
    *,
    text: None = None,
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Outcome[Reranked[str], ModelError]: ...
@overload
async def try_rerank(
    model: RerankingModel,
    query: str,
    documents: Sequence[T],
    /,
    *,
    text: Callable[[T], str],
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Outcome[Reranked[T], ModelError]: ...
@overload
async def rerank(
    model: RerankingModel,
    query: str,
    documents: Sequence[str],
    /,
    *,
    text: None = None,
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Reranked[str]: ...
@overload
async def rerank(
    model: RerankingModel,
    query: str,
    documents: Sequence[T],
    /,
    *,
    text: Callable[[T], str],
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Reranked[T]: ...
@overload
def rerank_sync(
    model: RerankingModel,
    query: str,
    documents: Sequence[str],
    /,
    *,
    text: None = None,
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Reranked[str]: ...
@overload
def rerank_sync(
    model: RerankingModel,
    query: str,
    documents: Sequence[T],
    /,
    *,
    text: Callable[[T], str],
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Reranked[T]: ...
