from stepfold.providers.anthropic_messages._construct import (
    MESSAGES_CODEC,
    MessagesModel,
    anthropic,
)
from stepfold.providers.anthropic_messages._encode import encode_request
from stepfold.providers.anthropic_messages._options import MessagesDialect, anthropic_dialect
from stepfold.providers.anthropic_messages._reply import decode_reply
from stepfold.providers.anthropic_messages._stream import messages_decoder

__all__ = (
    "MESSAGES_CODEC",
    "MessagesDialect",
    "MessagesModel",
    "anthropic",
    "anthropic_dialect",
    "decode_reply",
    "encode_request",
    "messages_decoder",
)
