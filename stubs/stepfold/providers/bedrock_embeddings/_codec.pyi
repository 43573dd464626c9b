from stepfold.ports import EmbeddingReply, EmbeddingRequest, RerankingRequest
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers._http_embedding import EmbeddingDialect
from stepfold.values import ModelErrorReason, Outcome

def encode_titan_embedding(
    request: EmbeddingRequest, endpoint: Endpoint[EmbeddingDialect]
) -> WireCall: ...
def decode_titan_embedding(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[EmbeddingReply, ModelErrorReason]: ...
def encode_cohere_embedding(
    request: EmbeddingRequest, endpoint: Endpoint[EmbeddingDialect]
) -> WireCall: ...
def decode_cohere_embedding(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[EmbeddingReply, ModelErrorReason]: ...
def encode_cohere_reranking(
    request: RerankingRequest, endpoint: Endpoint[EmbeddingDialect]
) -> WireCall: ...
