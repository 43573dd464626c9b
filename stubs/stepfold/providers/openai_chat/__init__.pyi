from stepfold.providers.openai_chat._construct import (
    CHAT_CODEC,
    ChatModel,
    openai,
    openai_compatible,
)
from stepfold.providers.openai_chat._encode import encode_request
from stepfold.providers.openai_chat._options import ChatDialect, openai_dialect
from stepfold.providers.openai_chat._reply import decode_reply
from stepfold.providers.openai_chat._stream import chat_decoder

__all__ = (
    "CHAT_CODEC",
    "ChatDialect",
    "ChatModel",
    "chat_decoder",
    "decode_reply",
    "encode_request",
    "openai",
    "openai_compatible",
    "openai_dialect",
)
