"""Models that speak OpenAI's Responses protocol, without state on the server.

The codec is pure: `encode_request` makes an `HttpRequest` of a `ModelRequest`, `decode_reply`
and `ResponsesStreamDecoder` make replies and stream parts of bytes. `OpenAIResponsesModel` puts
a transport between them.
"""

from stepfold.providers.openai_responses._construct import (
    openai_responses,
)
from stepfold.providers.openai_responses._encode import (
    ResponsesCall,
    encode_request,
)
from stepfold.providers.openai_responses._model import (
    OpenAIResponsesModel,
)
from stepfold.providers.openai_responses._options import (
    ResponsesDialect,
    ResponsesOptions,
    responses_dialect,
)
from stepfold.providers.openai_responses._reply import (
    decode_reply,
)
from stepfold.providers.openai_responses._stream import (
    ResponsesStreamDecoder,
)

__all__ = (
    "OpenAIResponsesModel",
    "ResponsesCall",
    "ResponsesDialect",
    "ResponsesOptions",
    "ResponsesStreamDecoder",
    "decode_reply",
    "encode_request",
    "openai_responses",
    "responses_dialect",
)
