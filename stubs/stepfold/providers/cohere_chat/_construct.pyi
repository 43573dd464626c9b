from typing import TypeAlias
from typing_extensions import Unpack
from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_model import HttpModel, WireCodec
from stepfold.providers.cohere_chat._options import CohereDialect

CohereModel: TypeAlias = HttpModel[CohereDialect]
COHERE_CODEC: WireCodec[CohereDialect] = ...

def cohere(
    model_id: str, *, dialect: CohereDialect | None = None, **options: Unpack[ConnectionOptions]
) -> CohereModel: ...
