from stepfold.providers.openai_embeddings._codec import decode_embedding, encode_embedding
from stepfold.providers.openai_embeddings._construct import (
    openai_compatible_embedding,
    openai_embedding,
)
from stepfold.providers.openai_embeddings._servers import embedding_model

__all__ = (
    "decode_embedding",
    "embedding_model",
    "encode_embedding",
    "openai_compatible_embedding",
    "openai_embedding",
)
