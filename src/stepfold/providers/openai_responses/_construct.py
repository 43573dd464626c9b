"""How a user names a model of the Responses protocol."""

import os
from collections.abc import Mapping

from stepfold.providers._keys import key_of
from stepfold.providers.openai_responses._model import OpenAIResponsesModel
from stepfold.providers.openai_responses._options import (
    ResponsesDialect,
    ResponsesOptions,
    responses_dialect,
)
from stepfold.transport import BlockingHttpClient, HttpClient, HttpLimits

OPENAI_BASE_URL = "https://api.openai.com/v1"


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
) -> OpenAIResponsesModel:
    """A model of OpenAI, over the Responses protocol; the server keeps nothing.

    The key and the address are those given, else `OPENAI_API_KEY` and `OPENAI_BASE_URL` of the
    environment. A client that is given is used as it is and never closed; `blocking_client`
    serves runs without an event loop.

    Raises:
        UsageError: if there is no key.
    """
    key = key_of(
        api_key,
        model=f"openai-responses/{model_id}",
        variable="OPENAI_API_KEY",
        made_at="https://platform.openai.com/api-keys",
    )
    own = {
        "authorization": f"Bearer {key}",
        "openai-organization": organization,
        "openai-project": project,
    }
    given = {name.lower(): value for name, value in (headers or {}).items()}
    options = ResponsesOptions(
        model_id=model_id,
        base_url=base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_BASE_URL,
        headers=tuple(({n: v for n, v in own.items() if v} | given).items()),
        dialect=dialect or responses_dialect(model_id),
    )
    return OpenAIResponsesModel(
        options, client=client, blocking_client=blocking_client, limits=limits
    )
