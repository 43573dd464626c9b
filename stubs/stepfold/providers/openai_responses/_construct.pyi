from collections.abc import Mapping
from stepfold.providers.openai_responses._model import OpenAIResponsesModel
from stepfold.providers.openai_responses._options import ResponsesDialect
from stepfold.transport import BlockingHttpClient, HttpClient, HttpLimits

def openai_responses(
    model_id: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    organization: str | None = None,
    project: str | None = None,
    headers: Mapping[str, str] | None = None,
    dialect: ResponsesDialect | None = None,
    client: HttpClient | None = None,
    blocking_client: BlockingHttpClient | None = None,
    limits: HttpLimits | None = None,
) -> OpenAIResponsesModel: ...
