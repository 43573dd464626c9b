from stepfold.providers.responses._construct import (
    RESPONSES_CODEC,
    ResponsesModel,
    openai_responses,
    xai_responses,
)
from stepfold.providers.responses._encode import encode_request
from stepfold.providers.responses._options import ResponsesDialect, responses_dialect
from stepfold.providers.responses._reply import decode_reply
from stepfold.providers.responses._stream import responses_decoder

__all__ = (
    "RESPONSES_CODEC",
    "ResponsesDialect",
    "ResponsesModel",
    "decode_reply",
    "encode_request",
    "openai_responses",
    "responses_decoder",
    "responses_dialect",
    "xai_responses",
)
