from typing import Generic, Protocol, TypeVar, final
from attrs import frozen
from stepfold.ports import EmbeddingReply, EmbeddingRequest, RerankingReply, RerankingRequest
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import HttpCaller, WireCall
from stepfold.transport import HttpConnections
from stepfold.values import ModelErrorReason, Outcome

Q_contra = TypeVar("Q_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)
Q = TypeVar("Q")
R = TypeVar("R")

@final
@frozen(order=False, kw_only=True)
class EmbeddingDialect:
    provider: str = "openai-compatible"
    max_values_per_call: int | None = None
    dimensions_name: str = "dimensions"
    fetched_urls: tuple[tuple[str, str], ...] = ()

class EncodeCall(Protocol[Q_contra]):
    def __call__(self, request: Q_contra, endpoint: Endpoint[EmbeddingDialect]) -> WireCall: ...

class DecodeAnswer(Protocol[R_co]):
    def __call__(
        self,
        body: bytes,
        provider: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        secrets: tuple[str, ...] = (),
    ) -> Outcome[R_co, ModelErrorReason]: ...

@final
@frozen(eq=False)
class AnswerCodec(Generic[Q, R]):
    encode: EncodeCall[Q]
    decode: DecodeAnswer[R]

class _Answering(HttpCaller[EmbeddingDialect], Generic[Q, R]):
    def __init__(
        self,
        codec: AnswerCodec[Q, R],
        endpoint: Endpoint[EmbeddingDialect],
        connections: HttpConnections,
    ) -> None: ...

@final
class HttpEmbeddingModel(_Answering[EmbeddingRequest, EmbeddingReply]):
    @property
    def max_values_per_call(self) -> int | None: ...
    @property
    def supports_parallel_calls(self) -> bool: ...
    async def embed(self, request: EmbeddingRequest, /) -> EmbeddingReply: ...

@final
class HttpRerankingModel(_Answering[RerankingRequest, RerankingReply]):
    async def rerank(self, request: RerankingRequest, /) -> RerankingReply: ...
