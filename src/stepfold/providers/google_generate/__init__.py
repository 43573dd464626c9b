"""Models of Google: the Gemini API, and Vertex AI at its own address.

The codec is pure: `encode_request` makes an `HttpRequest` of a `ModelRequest`, `decode_reply`
and `google_decoder` make replies and stream parts of bytes. `HttpModel` puts a transport
between them.
"""

from stepfold.providers.google_generate._construct import (
    GOOGLE_CODEC,
    GoogleModel,
    google,
)
from stepfold.providers.google_generate._encode import (
    encode_request,
)
from stepfold.providers.google_generate._options import (
    GoogleDialect,
    google_dialect,
)
from stepfold.providers.google_generate._reply import (
    decode_reply,
)
from stepfold.providers.google_generate._stream import (
    google_decoder,
)

__all__ = (
    "GOOGLE_CODEC",
    "GoogleDialect",
    "GoogleModel",
    "decode_reply",
    "encode_request",
    "google",
    "google_decoder",
    "google_dialect",
)
