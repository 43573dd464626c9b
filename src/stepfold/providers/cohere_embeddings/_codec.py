"""Cohere's `/v2/embed` and `/v2/rerank`, out and in.

A model of Cohere wants to know what its vectors are for: `input_type` is `search_document`, unless
`provider_options={"cohere": {"input_type": "search_query"}}` says otherwise.
"""

from stepfold.ports import (
    EmbeddingReply,
    EmbeddingRequest,
    RerankingReply,
    RerankingRequest,
)
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers._http_embedding import EmbeddingDialect, json_call, ranking_of, vectors_of
from stepfold.providers._json import array_of, count_of, is_object, object_of, text_of
from stepfold.providers._replies import kept_json, reply_object
from stepfold.values import (
    Failure,
    JsonText,
    ModelErrorReason,
    Outcome,
    ResponseInfo,
    Success,
    Usage,
)


def encode_embedding(request: EmbeddingRequest, endpoint: Endpoint[EmbeddingDialect]) -> WireCall:
    """Ask for vectors of floats.

    Raises:
        UsageError: an option has no JSON form, or would set what the request itself says.
    """
    body = {
        "model": endpoint.model_id,
        "texts": request.values,
        "output_dimension": request.dimensions,
        "embedding_types": ["float"],
    }
    return json_call(request, endpoint, "embed", body, {"input_type": "search_document"})


def decode_embedding(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[EmbeddingReply, ModelErrorReason]:
    """Read the vectors, in the order of the texts."""
    found = reply_object(body, secrets)
    if isinstance(found, Failure):
        return found
    answer = found.unwrap()
    vectors = vectors_of(array_of(object_of(answer.get("embeddings")).get("float")))
    if isinstance(vectors, Failure):
        return vectors
    return Success(
        EmbeddingReply(
            vectors.unwrap(),
            _usage(answer),
            response=ResponseInfo(text_of(answer.get("id")), headers=headers),
            provider_metadata=_billed(answer, provider),
        )
    )


def encode_reranking(request: RerankingRequest, endpoint: Endpoint[EmbeddingDialect]) -> WireCall:
    """Ask for a ranking.

    Raises:
        UsageError: an option has no JSON form, or would set what the request itself says.
    """
    body = {
        "model": endpoint.model_id,
        "query": request.query,
        "documents": request.documents,
        "top_n": request.top_n,
    }
    return json_call(request, endpoint, "rerank", body)


def decode_reranking(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[RerankingReply, ModelErrorReason]:
    """Read the ranking, best first."""
    found = reply_object(body, secrets)
    if isinstance(found, Failure):
        return found
    answer = found.unwrap()
    ranking = ranking_of(array_of(answer.get("results")), "relevance_score")
    if isinstance(ranking, Failure):
        return ranking
    return Success(
        RerankingReply(
            ranking.unwrap(),
            _usage(answer),
            response=ResponseInfo(text_of(answer.get("id")), headers=headers),
            provider_metadata=_billed(answer, provider),
        )
    )


def _usage(answer: dict[str, object]) -> Usage:
    billed = object_of(object_of(answer.get("meta")).get("billed_units"))
    return Usage(input_tokens=count_of(billed.get("input_tokens")))


def _billed(answer: dict[str, object], provider: str) -> JsonText | None:
    """What is charged for: tokens, or searches."""
    billed = object_of(answer.get("meta")).get("billed_units")
    return kept_json({provider: {"billed_units": billed}}) if is_object(billed) else None
