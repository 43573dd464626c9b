"""Models that speak OpenAI's chat completions: OpenAI's own, and those of compatible servers.

The codec is pure: `encode_request` makes an `HttpRequest` of a `ModelRequest`, `decode_reply`
and `ChatStreamDecoder` make replies and stream parts of bytes. `OpenAIChatModel` puts a
transport between them.
"""

from stepfold.providers.openai_chat._construct import (
    openai,
    openai_compatible,
)
from stepfold.providers.openai_chat._encode import (
    ChatCall,
    encode_request,
)
from stepfold.providers.openai_chat._model import (
    OpenAIChatModel,
)
from stepfold.providers.openai_chat._options import (
    ChatDialect,
    ChatOptions,
    openai_dialect,
)
from stepfold.providers.openai_chat._reply import (
    decode_reply,
)
from stepfold.providers.openai_chat._stream import (
    ChatStreamDecoder,
)

__all__ = (
    "ChatCall",
    "ChatDialect",
    "ChatOptions",
    "ChatStreamDecoder",
    "OpenAIChatModel",
    "decode_reply",
    "encode_request",
    "openai",
    "openai_compatible",
    "openai_dialect",
)
