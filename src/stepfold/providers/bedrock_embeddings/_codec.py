"""The bodies of `InvokeModel`, out and in, for models of Amazon and of Cohere."""

from urllib.parse import quote

from stepfold.ports import EmbeddingReply, EmbeddingRequest, RerankingRequest
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers._http_embedding import EmbeddingDialect, json_call, vectors_of
from stepfold.providers._json import array_of, count_of, is_object, text_of
from stepfold.providers._replies import reply_object
from stepfold.values import (
    Failure,
    ModelErrorReason,
    Outcome,
    ResponseInfo,
    Success,
    Usage,
    UsageError,
)

_COUNT = "x-amzn-bedrock-input-token-count"
_LONGEST_COUNT = 15


def encode_titan_embedding(
    request: EmbeddingRequest, endpoint: Endpoint[EmbeddingDialect]
) -> WireCall:
    """Ask a model of Amazon for the vector of one text.

    Raises:
        UsageError: there is another number of texts, an option has no JSON form, or one would set
            what the request itself says.
    """
    if len(request.values) != 1:
        raise UsageError(
            f"{endpoint.model_id} takes one text in a call, got {len(request.values)}; "
            f"embed_many makes a call for each"
        )
    body = {"inputText": request.values[0], "dimensions": request.dimensions}
    return json_call(request, endpoint, _path(endpoint), body)


def decode_titan_embedding(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[EmbeddingReply, ModelErrorReason]:
    """Read the vector of a text."""
    found = reply_object(body, secrets)
    if isinstance(found, Failure):
        return found
    answer = found.unwrap()
    vectors = vectors_of((answer.get("embedding"),))
    if isinstance(vectors, Failure):
        return vectors
    tokens = count_of(answer.get("inputTextTokenCount"))
    return Success(
        EmbeddingReply(
            vectors.unwrap(),
            Usage(input_tokens=_counted(headers) if tokens is None else tokens),
            response=ResponseInfo(headers=headers),
        )
    )


def encode_cohere_embedding(
    request: EmbeddingRequest, endpoint: Endpoint[EmbeddingDialect]
) -> WireCall:
    """Ask a model of Cohere for vectors of floats.

    Raises:
        UsageError: an option has no JSON form, or would set what the request itself says.
    """
    body = {
        "texts": request.values,
        "output_dimension": request.dimensions,
        "embedding_types": ["float"],
    }
    return json_call(request, endpoint, _path(endpoint), body, {"input_type": "search_document"})


def decode_cohere_embedding(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[EmbeddingReply, ModelErrorReason]:
    """Read the vectors, in the order of the texts; they come by their type, or by themselves."""
    found = reply_object(body, secrets)
    if isinstance(found, Failure):
        return found
    answer = found.unwrap()
    given = answer.get("embeddings")
    vectors = vectors_of(array_of(given.get("float") if is_object(given) else given))
    if isinstance(vectors, Failure):
        return vectors
    return Success(
        EmbeddingReply(
            vectors.unwrap(),
            Usage(input_tokens=_counted(headers)),
            response=ResponseInfo(text_of(answer.get("id")), headers=headers),
        )
    )


def encode_cohere_reranking(
    request: RerankingRequest, endpoint: Endpoint[EmbeddingDialect]
) -> WireCall:
    """Ask a model of Cohere for a ranking.

    Raises:
        UsageError: an option has no JSON form, or would set what the request itself says.
    """
    body = {"query": request.query, "documents": request.documents, "top_n": request.top_n}
    return json_call(request, endpoint, _path(endpoint), body, {"api_version": 2})


def _path(endpoint: Endpoint[EmbeddingDialect]) -> str:
    return f"model/{quote(endpoint.model_id, safe='')}/invoke"


def _counted(headers: tuple[tuple[str, str], ...]) -> int | None:
    """The tokens that Bedrock has counted, as a header says."""
    told = dict(headers).get(_COUNT, "").strip()
    is_count = told.isascii() and told.isdecimal() and len(told) <= _LONGEST_COUNT
    return int(told) if is_count else None
