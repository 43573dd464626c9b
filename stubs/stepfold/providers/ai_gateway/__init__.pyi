from stepfold.providers.ai_gateway._construct import GATEWAY_CODEC, GatewayModel, gateway
from stepfold.providers.ai_gateway._encode import encode_request
from stepfold.providers.ai_gateway._options import GatewayDialect
from stepfold.providers.ai_gateway._reply import decode_reply
from stepfold.providers.ai_gateway._stream import gateway_decoder

__all__ = (
    "GATEWAY_CODEC",
    "GatewayDialect",
    "GatewayModel",
    "decode_reply",
    "encode_request",
    "gateway",
    "gateway_decoder",
)
