from stepfold.providers.google_embeddings._codec import decode_embedding, encode_embedding
from stepfold.providers.google_embeddings._construct import google_embedding

__all__ = ("decode_embedding", "encode_embedding", "google_embedding")
