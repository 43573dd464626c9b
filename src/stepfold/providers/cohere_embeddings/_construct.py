"""How a user names a model of Cohere."""

import os
from typing import TypeVar

from typing_extensions import Unpack

from stepfold.ports import EmbeddingReply, EmbeddingRequest, RerankingReply, RerankingRequest
from stepfold.providers._endpoint import ConnectionOptions, Dialect, Endpoint
from stepfold.providers._http_caller import connections_of, endpoint_of
from stepfold.providers._http_embedding import (
    AnswerCodec,
    EmbeddingDialect,
    HttpEmbeddingModel,
    HttpRerankingModel,
)
from stepfold.providers._keys import key_of
from stepfold.providers.cohere_embeddings._codec import (
    decode_embedding,
    decode_reranking,
    encode_embedding,
    encode_reranking,
)

D = TypeVar("D", bound=Dialect)

_EMBEDDING: AnswerCodec[EmbeddingRequest, EmbeddingReply] = AnswerCodec(
    encode_embedding, decode_embedding
)
_RERANKING: AnswerCodec[RerankingRequest, RerankingReply] = AnswerCodec(
    encode_reranking, decode_reranking
)
_COHERE = EmbeddingDialect(provider="cohere", max_values_per_call=96)
_BASE_URL = "https://api.cohere.com/v2"


def cohere_embedding(model_id: str, **options: Unpack[ConnectionOptions]) -> HttpEmbeddingModel:
    """An embedding model of Cohere, such as `embed-v4.0`.

    The key and the address are those given, else `COHERE_API_KEY` and `COHERE_BASE_URL` of the
    environment. Vectors are made to be searched among; for those of queries, give
    `provider_options={"cohere": {"input_type": "search_query"}}`.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    return HttpEmbeddingModel(
        _EMBEDDING, cohere_endpoint(model_id, _COHERE, options), connections_of(options)
    )


def cohere_reranking(model_id: str, **options: Unpack[ConnectionOptions]) -> HttpRerankingModel:
    """A reranking model of Cohere, such as `rerank-v3.5`.

    The key and the address are those given, else `COHERE_API_KEY` and `COHERE_BASE_URL` of the
    environment. Any server with Cohere's `/rerank` below `base_url` will do.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    return HttpRerankingModel(
        _RERANKING, cohere_endpoint(model_id, _COHERE, options), connections_of(options)
    )


def cohere_endpoint(model_id: str, dialect: D, options: ConnectionOptions) -> Endpoint[D]:
    """A model of Cohere, by the key and the address that are given, else by the environment's.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    key = key_of(
        options.get("api_key"),
        model=f"cohere/{model_id}",
        variable="COHERE_API_KEY",
        made_at="https://dashboard.cohere.com/api-keys",
    )
    return endpoint_of(
        model_id,
        dialect,
        base_url=options.get("base_url") or os.environ.get("COHERE_BASE_URL") or _BASE_URL,
        headers={"authorization": f"Bearer {key}"},
        options=options,
    )
