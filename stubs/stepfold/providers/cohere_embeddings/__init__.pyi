from stepfold.providers.cohere_embeddings._codec import (
    decode_embedding,
    decode_reranking,
    encode_embedding,
    encode_reranking,
)
from stepfold.providers.cohere_embeddings._construct import (
    cohere_embedding,
    cohere_endpoint,
    cohere_reranking,
)

__all__ = (
    "cohere_embedding",
    "cohere_endpoint",
    "cohere_reranking",
    "decode_embedding",
    "decode_reranking",
    "encode_embedding",
    "encode_reranking",
)
