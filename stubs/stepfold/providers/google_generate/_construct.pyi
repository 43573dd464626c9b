from typing import TypeAlias
from typing_extensions import Unpack
from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_model import HttpModel, WireCodec
from stepfold.providers.google_generate._options import GoogleDialect

GoogleModel: TypeAlias = HttpModel[GoogleDialect]
GOOGLE_CODEC: WireCodec[GoogleDialect] = ...

def google(
    model_id: str, *, dialect: GoogleDialect | None = None, **options: Unpack[ConnectionOptions]
) -> GoogleModel: ...
