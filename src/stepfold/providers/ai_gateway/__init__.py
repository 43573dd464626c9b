"""Models of every hosted provider over the AI Gateway, with one key.

The gateway speaks no provider's protocol but the AI SDK's specification of a language model (its
version 4), as JSON. The codec is pure: `encode_request` makes an `HttpRequest` of a
`ModelRequest`, `decode_reply` and `gateway_decoder` make replies and stream parts of bytes.
`HttpModel` puts a transport between them.
"""

from stepfold.providers.ai_gateway._construct import (
    GATEWAY_CODEC,
    GatewayModel,
    gateway,
    gateway_embedding,
    gateway_reranking,
)
from stepfold.providers.ai_gateway._embedding import (
    decode_embedding,
    decode_reranking,
    encode_embedding,
    encode_reranking,
)
from stepfold.providers.ai_gateway._encode import (
    encode_request,
)
from stepfold.providers.ai_gateway._options import (
    GatewayDialect,
)
from stepfold.providers.ai_gateway._reply import (
    decode_reply,
)
from stepfold.providers.ai_gateway._stream import (
    gateway_decoder,
)

__all__ = (
    "GATEWAY_CODEC",
    "GatewayDialect",
    "GatewayModel",
    "decode_embedding",
    "decode_reply",
    "decode_reranking",
    "encode_embedding",
    "encode_request",
    "encode_reranking",
    "gateway",
    "gateway_decoder",
    "gateway_embedding",
    "gateway_reranking",
)
