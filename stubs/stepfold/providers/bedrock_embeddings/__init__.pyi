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
