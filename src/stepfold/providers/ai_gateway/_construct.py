"""How a user names a model behind the gateway."""

import os
from typing import TypeAlias, TypeVar

from typing_extensions import Unpack

from stepfold.ports import EmbeddingReply, EmbeddingRequest, RerankingReply, RerankingRequest
from stepfold.providers._endpoint import ConnectionOptions, Dialect, Endpoint
from stepfold.providers._http_caller import connections_of, endpoint_of
from stepfold.providers._http_embedding import (
    AnswerCodec,
    EmbeddingDialect,
    HttpEmbeddingModel,
    HttpRerankingModel,
)
from stepfold.providers._http_model import HttpModel, WireCodec
from stepfold.providers._keys import key_of
from stepfold.providers.ai_gateway._embedding import (
    decode_embedding,
    decode_reranking,
    encode_embedding,
    encode_reranking,
)
from stepfold.providers.ai_gateway._encode import encode_request
from stepfold.providers.ai_gateway._options import GatewayDialect
from stepfold.providers.ai_gateway._reply import decode_reply
from stepfold.providers.ai_gateway._stream import gateway_decoder

D = TypeVar("D", bound=Dialect)

GatewayModel: TypeAlias = HttpModel[GatewayDialect]
"""A model behind the AI Gateway."""

GATEWAY_CODEC: WireCodec[GatewayDialect] = WireCodec(encode_request, decode_reply, gateway_decoder)
"""The AI SDK's specification of a language model, as JSON over HTTP."""

GATEWAY_BASE_URL = "https://ai-gateway.vercel.sh/v4/ai"
GATEWAY_VERSION = "0.0.1"
_DIALECT = GatewayDialect()
_VECTORS = EmbeddingDialect(provider="gateway", max_values_per_call=2048)
_EMBEDDING: AnswerCodec[EmbeddingRequest, EmbeddingReply] = AnswerCodec(
    encode_embedding, decode_embedding
)
_RERANKING: AnswerCodec[RerankingRequest, RerankingReply] = AnswerCodec(
    encode_reranking, decode_reranking
)


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
    endpoint = _gateway_endpoint(model_id, dialect or _DIALECT, options, team)
    return HttpModel(GATEWAY_CODEC, endpoint, connections_of(options))


def gateway_embedding(
    model_id: str, *, team: str | None = None, **options: Unpack[ConnectionOptions]
) -> HttpEmbeddingModel:
    """An embedding model of any hosted provider, such as `openai/text-embedding-3-small`.

    It is asked over the AI Gateway; key, address and `team` are those of `gateway`.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    endpoint = _gateway_endpoint(model_id, _VECTORS, options, team)
    return HttpEmbeddingModel(_EMBEDDING, endpoint, connections_of(options))


def gateway_reranking(
    model_id: str, *, team: str | None = None, **options: Unpack[ConnectionOptions]
) -> HttpRerankingModel:
    """A reranking model of any hosted provider, such as `cohere/rerank-v3.5`.

    It is asked over the AI Gateway; key, address and `team` are those of `gateway`.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    endpoint = _gateway_endpoint(model_id, _VECTORS, options, team)
    return HttpRerankingModel(_RERANKING, endpoint, connections_of(options))


def _gateway_endpoint(
    model_id: str, dialect: D, options: ConnectionOptions, team: str | None
) -> Endpoint[D]:
    key = key_of(
        options.get("api_key"),
        model=f"gateway/{model_id}",
        variable="AI_GATEWAY_API_KEY",
        made_at="https://vercel.com/ai-gateway",
    )
    address = (os.environ.get("AI_GATEWAY_BASE_URL") or "").strip()
    return endpoint_of(
        model_id,
        dialect,
        base_url=options.get("base_url") or address or GATEWAY_BASE_URL,
        headers={
            "authorization": f"Bearer {key}",
            "ai-gateway-protocol-version": GATEWAY_VERSION,
            "ai-gateway-auth-method": "api-key",
            "x-vercel-ai-gateway-team": team or None,
        },
        options=options,
    )
