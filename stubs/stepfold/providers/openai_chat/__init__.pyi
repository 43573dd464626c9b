from stepfold.providers.openai_chat._construct import openai, openai_compatible
from stepfold.providers.openai_chat._encode import ChatCall, encode_request
from stepfold.providers.openai_chat._model import OpenAIChatModel
from stepfold.providers.openai_chat._options import ChatDialect, ChatOptions, openai_dialect
from stepfold.providers.openai_chat._reply import decode_reply
from stepfold.providers.openai_chat._stream import ChatStreamDecoder

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
