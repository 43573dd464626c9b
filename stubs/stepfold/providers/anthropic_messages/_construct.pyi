from typing import TypeAlias
from typing_extensions import Unpack
from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_model import HttpModel, WireCodec
from stepfold.providers.anthropic_messages._options import MessagesDialect

MessagesModel: TypeAlias = HttpModel[MessagesDialect]
MESSAGES_CODEC: WireCodec[MessagesDialect] = ...

def anthropic(
    model_id: str, *, dialect: MessagesDialect | None = None, **options: Unpack[ConnectionOptions]
) -> MessagesModel: ...
