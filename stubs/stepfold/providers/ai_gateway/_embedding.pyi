from stepfold.ports import EmbeddingReply, EmbeddingRequest, RerankingReply, RerankingRequest
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers._http_embedding import EmbeddingDialect
from stepfold.values import ModelErrorReason, Outcome

def encode_embedding(
    request: EmbeddingRequest, endpoint: Endpoint[EmbeddingDialect]
) -> WireCall: ...
def decode_embedding(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[EmbeddingReply, ModelErrorReason]: ...
def encode_reranking(
    request: RerankingRequest, endpoint: Endpoint[EmbeddingDialect]
) -> WireCall: ...
def decode_reranking(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[RerankingReply, ModelErrorReason]: ...
