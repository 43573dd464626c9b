"""Google's `batchEmbedContents`, out and in: a request in the request for each text."""

from stepfold.ports import EmbeddingReply, EmbeddingRequest
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._google import google_name, google_path
from stepfold.providers._http_caller import WireCall
from stepfold.providers._http_embedding import EmbeddingDialect, posted, said, vectors_of
from stepfold.providers._json import array_of, count_of, object_of
from stepfold.providers._replies import reply_object
from stepfold.providers._requests import given_options
from stepfold.values import (
    Failure,
    ModelErrorReason,
    Outcome,
    ResponseInfo,
    Success,
    Usage,
)


def encode_embedding(request: EmbeddingRequest, endpoint: Endpoint[EmbeddingDialect]) -> WireCall:
    """Ask for a vector of each text; options of the provider hold for every one.

    Raises:
        UsageError: an option has no JSON form, or would set what the request itself says.
    """
    ours = {
        "model": google_name(endpoint.model_id),
        "content": None,
        "outputDimensionality": request.dimensions,
    }
    given = given_options(request, endpoint.dialect.provider, ours.keys())
    each = {**said(ours), **given}
    requests = [
        {**each, "content": {"parts": [{"text": value}], "role": "user"}}
        for value in request.values
    ]
    path = google_path(endpoint.model_id, "batchEmbedContents")
    return posted(request, endpoint, path, {"requests": requests})


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
    vectors = vectors_of(
        object_of(item).get("values") for item in array_of(answer.get("embeddings"))
    )
    if isinstance(vectors, Failure):
        return vectors
    tokens = count_of(object_of(answer.get("usageMetadata")).get("promptTokenCount"))
    return Success(
        EmbeddingReply(
            vectors.unwrap(), Usage(input_tokens=tokens), response=ResponseInfo(headers=headers)
        )
    )
