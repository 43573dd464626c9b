from collections.abc import Mapping
from stepfold.providers.anthropic_messages._model import AnthropicModel
from stepfold.providers.anthropic_messages._options import MessagesDialect
from stepfold.transport import BlockingHttpClient, HttpClient, HttpLimits

def anthropic(
    model_id: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    headers: Mapping[str, str] | None = None,
    dialect: MessagesDialect | None = None,
    client: HttpClient | None = None,
    blocking_client: BlockingHttpClient | None = None,
    limits: HttpLimits | None = None,
) -> AnthropicModel: ...
