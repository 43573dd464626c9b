from stepfold.providers.cohere_chat._construct import COHERE_CODEC, CohereModel, cohere
from stepfold.providers.cohere_chat._encode import encode_request
from stepfold.providers.cohere_chat._options import CohereDialect, cohere_dialect
from stepfold.providers.cohere_chat._reply import decode_reply
from stepfold.providers.cohere_chat._stream import cohere_decoder

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
