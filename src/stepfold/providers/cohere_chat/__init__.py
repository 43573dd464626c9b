"""Chat models of Cohere, over version 2 of its protocol.

The codec is pure: `encode_request` makes an `HttpRequest` of a `ModelRequest`, `decode_reply`
and `cohere_decoder` make replies and stream parts of bytes. `HttpModel` puts a transport between
them.
"""

from stepfold.providers.cohere_chat._construct import (
    COHERE_CODEC,
    CohereModel,
    cohere,
)
from stepfold.providers.cohere_chat._encode import (
    encode_request,
)
from stepfold.providers.cohere_chat._options import (
    CohereDialect,
    cohere_dialect,
)
from stepfold.providers.cohere_chat._reply import (
    decode_reply,
)
from stepfold.providers.cohere_chat._stream import (
    cohere_decoder,
)

__all__ = (
    "COHERE_CODEC",
    "CohereDialect",
    "CohereModel",
    "cohere",
    "cohere_decoder",
    "cohere_dialect",
    "decode_reply",
    "encode_request",
)
