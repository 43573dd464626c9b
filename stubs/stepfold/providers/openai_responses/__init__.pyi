from stepfold.providers.openai_responses._construct import openai_responses
from stepfold.providers.openai_responses._encode import ResponsesCall, encode_request
from stepfold.providers.openai_responses._model import OpenAIResponsesModel
from stepfold.providers.openai_responses._options import (
    ResponsesDialect,
    ResponsesOptions,
    responses_dialect,
)
from stepfold.providers.openai_responses._reply import decode_reply
from stepfold.providers.openai_responses._stream import ResponsesStreamDecoder

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
