from stepfold.providers.cohere._codec import (
    decode_embedding,
    decode_reranking,
    encode_embedding,
    encode_reranking,
)
from stepfold.providers.cohere._construct import cohere_embedding, cohere_reranking

__all__ = (
    "cohere_embedding",
    "cohere_reranking",
    "decode_embedding",
    "decode_reranking",
    "encode_embedding",
    "encode_reranking",
)
