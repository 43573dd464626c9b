"""Embedding and reranking models of Cohere, over version 2 of its protocol.

The codec is pure: `encode_embedding` and `encode_reranking` make an `HttpRequest` of a request,
`decode_embedding` and `decode_reranking` a reply of bytes.
"""

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
