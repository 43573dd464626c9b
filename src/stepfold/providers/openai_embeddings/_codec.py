"""OpenAI's `/embeddings`, out and in."""

from stepfold.ports import Embedding, EmbeddingReply, EmbeddingRequest
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import WireCall
from stepfold.providers._http_embedding import EmbeddingDialect, json_call, vector_of
from stepfold.providers._json import array_of, count_of, object_of, text_of
from stepfold.providers._replies import reply_object, violation
from stepfold.values import (
    Failure,
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
        "input": request.values,
        endpoint.dialect.dimensions_name: request.dimensions,
        "encoding_format": "float",
    }
    return json_call(request, endpoint, "embeddings", body)


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
    vectors: dict[int, Embedding] = {}
    for place, item in enumerate(array_of(answer.get("data"))):
        entry = object_of(item)
        vector, index = vector_of(entry.get("embedding")), count_of(entry.get("index"))
        if vector is None:
            return Failure(violation(f"the embedding {place} is no array of numbers"))
        vectors[place if index is None else index] = vector
    if sorted(vectors) != list(range(len(array_of(answer.get("data"))))):
        return Failure(violation(f"the embeddings have the indices {sorted(vectors)}"))
    tokens = count_of(object_of(answer.get("usage")).get("prompt_tokens"))
    return Success(
        EmbeddingReply(
            tuple(vectors[index] for index in sorted(vectors)),
            Usage(input_tokens=tokens),
            response=ResponseInfo(
                text_of(answer.get("id")), text_of(answer.get("model")), headers=headers
            ),
        )
    )
