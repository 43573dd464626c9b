"""Embedding and reranking models behind Amazon Bedrock, over `InvokeModel`.

The codecs are pure: each family of models, Amazon's Titan and Cohere's, has its own words for the
body of a request.
"""

from stepfold.providers.bedrock_embeddings._codec import (
    decode_cohere_embedding,
    decode_titan_embedding,
    encode_cohere_embedding,
    encode_cohere_reranking,
    encode_titan_embedding,
)
from stepfold.providers.bedrock_embeddings._construct import (
    BedrockEmbeddingFamily,
    bedrock_embedding,
    bedrock_reranking,
)

__all__ = (
    "BedrockEmbeddingFamily",
    "bedrock_embedding",
    "bedrock_reranking",
    "decode_cohere_embedding",
    "decode_titan_embedding",
    "encode_cohere_embedding",
    "encode_cohere_reranking",
    "encode_titan_embedding",
)
