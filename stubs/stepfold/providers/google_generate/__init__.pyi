from stepfold.providers.google_generate._construct import GOOGLE_CODEC, GoogleModel, google
from stepfold.providers.google_generate._encode import encode_request
from stepfold.providers.google_generate._options import GoogleDialect, google_dialect
from stepfold.providers.google_generate._reply import decode_reply
from stepfold.providers.google_generate._stream import google_decoder

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
