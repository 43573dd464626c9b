from typing import TypeAlias
from typing_extensions import Unpack
from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_model import HttpModel, WireCodec
from stepfold.providers.responses._options import ResponsesDialect

ResponsesModel: TypeAlias = HttpModel[ResponsesDialect]
RESPONSES_CODEC: WireCodec[ResponsesDialect] = ...

def openai_responses(
    model_id: str,
    *,
    organization: str | None = None,
    project: str | None = None,
    dialect: ResponsesDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> ResponsesModel: ...
def xai_responses(
    model_id: str, *, dialect: ResponsesDialect | None = None, **options: Unpack[ConnectionOptions]
) -> ResponsesModel: ...
