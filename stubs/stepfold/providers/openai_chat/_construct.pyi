from typing import TypeAlias
from typing_extensions import Unpack
from stepfold.providers._endpoint import ClientOptions, ConnectionOptions
from stepfold.providers._http_model import HttpModel, WireCodec
from stepfold.providers.openai_chat._options import ChatDialect

ChatModel: TypeAlias = HttpModel[ChatDialect]
CHAT_CODEC: WireCodec[ChatDialect] = ...

def openai(
    model_id: str,
    *,
    organization: str | None = None,
    project: str | None = None,
    dialect: ChatDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> ChatModel: ...
def openai_compatible(
    model_id: str,
    *,
    base_url: str,
    provider: str = "openai-compatible",
    dialect: ChatDialect | None = None,
    **options: Unpack[ClientOptions],
) -> ChatModel: ...
