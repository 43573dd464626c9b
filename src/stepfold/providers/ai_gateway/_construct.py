"""How a user names a model behind the gateway."""

import os
from typing import TypeAlias

from typing_extensions import Unpack

from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_model import HttpModel, WireCodec, http_model
from stepfold.providers._keys import key_of
from stepfold.providers.ai_gateway._encode import encode_request
from stepfold.providers.ai_gateway._options import GatewayDialect
from stepfold.providers.ai_gateway._reply import decode_reply
from stepfold.providers.ai_gateway._stream import gateway_decoder

GatewayModel: TypeAlias = HttpModel[GatewayDialect]
"""A model behind the AI Gateway."""

GATEWAY_CODEC: WireCodec[GatewayDialect] = WireCodec(encode_request, decode_reply, gateway_decoder)
"""The AI SDK's specification of a language model, as JSON over HTTP."""

GATEWAY_BASE_URL = "https://ai-gateway.vercel.sh/v4/ai"
GATEWAY_VERSION = "0.0.1"
_DIALECT = GatewayDialect()


def gateway(
    model_id: str,
    *,
    team: str | None = None,
    dialect: GatewayDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> GatewayModel:
    """A model of any hosted provider, such as `openai/gpt-5.4`, over the AI Gateway.

    The key and the address are those given, else `AI_GATEWAY_API_KEY` and `AI_GATEWAY_BASE_URL`
    of the environment. `team` is the id or the name of a team that shares the key's account.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    key = key_of(
        options.get("api_key"),
        model=f"gateway/{model_id}",
        variable="AI_GATEWAY_API_KEY",
        made_at="https://vercel.com/ai-gateway",
    )
    address = (os.environ.get("AI_GATEWAY_BASE_URL") or "").strip()
    return http_model(
        GATEWAY_CODEC,
        model_id,
        dialect or _DIALECT,
        base_url=options.get("base_url") or address or GATEWAY_BASE_URL,
        headers={
            "authorization": f"Bearer {key}",
            "ai-gateway-protocol-version": GATEWAY_VERSION,
            "ai-gateway-auth-method": "api-key",
            "x-vercel-ai-gateway-team": team or None,
        },
        options=options,
    )
