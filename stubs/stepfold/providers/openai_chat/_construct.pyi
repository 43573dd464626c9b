from collections.abc import Mapping
from stepfold.providers.openai_chat._model import OpenAIChatModel
from stepfold.providers.openai_chat._options import ChatDialect
from stepfold.transport import BlockingHttpClient, HttpClient, HttpLimits

def openai(
    model_id: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    organization: str | None = None,
    project: str | None = None,
    headers: Mapping[str, str] | None = None,
    dialect: ChatDialect | None = None,
    client: HttpClient | None = None,
    blocking_client: BlockingHttpClient | None = None,
    limits: HttpLimits | None = None,
) -> OpenAIChatModel: ...
def openai_compatible(
    model_id: str,
    *,
    base_url: str,
    api_key: str | None = None,
    provider: str = "openai-compatible",
    headers: Mapping[str, str] | None = None,
    dialect: ChatDialect | None = None,
    client: HttpClient | None = None,
    blocking_client: BlockingHttpClient | None = None,
    limits: HttpLimits | None = None,
) -> OpenAIChatModel: ...
