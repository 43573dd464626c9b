from typing import TypeAlias
from typing_extensions import Unpack
from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_embedding import HttpEmbeddingModel, HttpRerankingModel
from stepfold.providers._http_model import HttpModel, WireCodec
from stepfold.providers.ai_gateway._options import GatewayDialect

GatewayModel: TypeAlias = HttpModel[GatewayDialect]
GATEWAY_CODEC: WireCodec[GatewayDialect] = ...

def gateway(
    model_id: str,
    *,
    team: str | None = None,
    dialect: GatewayDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> GatewayModel: ...
def gateway_embedding(
    model_id: str, *, team: str | None = None, **options: Unpack[ConnectionOptions]
) -> HttpEmbeddingModel: ...
def gateway_reranking(
    model_id: str, *, team: str | None = None, **options: Unpack[ConnectionOptions]
) -> HttpRerankingModel: ...
