from typing import Final, final
from attrs import frozen
from typing_extensions import Unpack
from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_embedding import EmbeddingDialect
from stepfold.providers.openai_chat import ChatDialect, ChatModel

_USUAL: Final = ChatDialect()

@final
@frozen(order=False, kw_only=True)
class ChatServer:
    name: str
    summary: str
    base_url: str
    key_variable: str | None = None
    made_at: str = ""
    needs_key: bool = True
    key_header: str = "authorization"
    dialect: ChatDialect = _USUAL
    embedding: EmbeddingDialect | None = None

    @property
    def base_url_variable(self) -> str: ...

CHAT_SERVERS: Final[tuple[ChatServer, ...]] = ...

def chat_model(
    server: str,
    model_id: str,
    *,
    dialect: ChatDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> ChatModel: ...
