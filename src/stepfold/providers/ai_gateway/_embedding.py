"""Vectors and rankings over the gateway, out and in, as the AI SDK specifies such models."""

from stepfold.ports import (
    EmbeddingReply,
    EmbeddingRequest,
    RerankingReply,
    RerankingRequest,
)
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._failures import reason_of_error
from stepfold.providers._http_caller import WireCall
from stepfold.providers._http_embedding import (
    EmbeddingDialect,
    posted,
    ranking_of,
    said,
    vectors_of,
)
from stepfold.providers._json import array_of, count_of, object_of
from stepfold.providers._replies import reply_object
from stepfold.providers.ai_gateway._options import passed_options
from stepfold.providers.ai_gateway._parts import options_of_part, warnings_in
from stepfold.values import (
    Failure,
    ModelErrorReason,
    Outcome,
    ResponseInfo,
    Success,
    Usage,
)

_SPECIFICATION = "4"


def encode_embedding(request: EmbeddingRequest, endpoint: Endpoint[EmbeddingDialect]) -> WireCall:
    """Ask for vectors. Options are passed on as they are, for the gateway and the provider.

    Raises:
        UsageError: the options of the request are no object.
    """
    body = {
        **said({"values": request.values, "dimensions": request.dimensions}),
        **passed_options(request.provider_options),
    }
    headers = {
        "ai-embedding-model-specification-version": _SPECIFICATION,
        "ai-model-id": endpoint.model_id,
    }
    return posted(request, endpoint, "embedding-model", body, headers)


def decode_embedding(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[EmbeddingReply, ModelErrorReason]:
    """Read the vectors, in the order of the texts; `provider` keys nothing."""
    found = _answer(body, secrets)
    if isinstance(found, Failure):
        return found
    answer = found.unwrap()
    vectors = vectors_of(array_of(answer.get("embeddings")))
    if isinstance(vectors, Failure):
        return vectors
    return Success(
        EmbeddingReply(
            vectors.unwrap(),
            Usage(input_tokens=count_of(object_of(answer.get("usage")).get("tokens"))),
            warnings=warnings_in(answer.get("warnings")),
            response=ResponseInfo(headers=headers),
            provider_metadata=options_of_part(answer),
        )
    )


def encode_reranking(request: RerankingRequest, endpoint: Endpoint[EmbeddingDialect]) -> WireCall:
    """Ask for a ranking. Options are passed on as they are, for the gateway and the provider.

    Raises:
        UsageError: the options of the request are no object.
    """
    body = {
        "documents": {"type": "text", "values": request.documents},
        "query": request.query,
        **said({"topN": request.top_n}),
        **passed_options(request.provider_options),
    }
    headers = {
        "ai-reranking-model-specification-version": _SPECIFICATION,
        "ai-model-id": endpoint.model_id,
    }
    return posted(request, endpoint, "reranking-model", body, headers)


def decode_reranking(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[RerankingReply, ModelErrorReason]:
    """Read the ranking, best first; `provider` keys nothing."""
    found = _answer(body, secrets)
    if isinstance(found, Failure):
        return found
    answer = found.unwrap()
    ranking = ranking_of(array_of(answer.get("ranking")), "relevanceScore")
    if isinstance(ranking, Failure):
        return ranking
    return Success(
        RerankingReply(
            ranking.unwrap(),
            warnings=warnings_in(answer.get("warnings")),
            response=ResponseInfo(headers=headers),
            provider_metadata=options_of_part(answer),
        )
    )


def _answer(body: bytes, secrets: tuple[str, ...]) -> Outcome[dict[str, object], ModelErrorReason]:
    found = reply_object(body, secrets)
    if isinstance(found, Success) and found.unwrap().get("error"):
        return Failure(reason_of_error(found.unwrap(), secrets=secrets))
    return found
