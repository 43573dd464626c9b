"""Embedding models of Google, over the Gemini API.

The codec is pure: `encode_embedding` makes an `HttpRequest` of an `EmbeddingRequest`,
`decode_embedding` a reply of bytes.
"""

from stepfold.providers.google_embeddings._codec import decode_embedding, encode_embedding
from stepfold.providers.google_embeddings._construct import google_embedding

__all__ = ("decode_embedding", "encode_embedding", "google_embedding")
