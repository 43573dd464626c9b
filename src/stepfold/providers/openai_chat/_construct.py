"""How a user names a chat-completions model."""

import os
from collections.abc import Mapping

from attrs import evolve

from stepfold.providers._keys import key_of
from stepfold.providers.openai_chat._model import OpenAIChatModel
from stepfold.providers.openai_chat._options import ChatDialect, ChatOptions, openai_dialect
from stepfold.transport import BlockingHttpClient, HttpClient, HttpLimits
from stepfold.values import UsageError

OPENAI_BASE_URL = "https://api.openai.com/v1"


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
) -> OpenAIChatModel:
    """A model of OpenAI, over chat completions.

    The key and the address are those given, else `OPENAI_API_KEY` and `OPENAI_BASE_URL` of the
    environment. A client that is given is used as it is and never closed; `blocking_client`
    serves runs without an event loop.

    Raises:
        UsageError: if there is no key.
    """
    key = key_of(
        api_key,
        model=f"openai/{model_id}",
        variable="OPENAI_API_KEY",
        made_at="https://platform.openai.com/api-keys",
    )
    own = {"openai-organization": organization, "openai-project": project}
    given = {name: value for name, value in own.items() if value} | dict(headers or {})
    options = ChatOptions(
        model_id=model_id,
        base_url=base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_BASE_URL,
        headers=_headers(key, given),
        dialect=dialect or openai_dialect(model_id),
    )
    return OpenAIChatModel(options, client=client, blocking_client=blocking_client, limits=limits)


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
) -> OpenAIChatModel:
    """A model of any server that speaks chat completions below `base_url`, `/v1` included.

    `provider` names it in states, journals and `provider_options`; `dialect` says what it does
    not understand. Nothing is read from the environment.

    Raises:
        UsageError: if the address is not one of http or https.
    """
    if not base_url.startswith(("http://", "https://")):
        raise UsageError(
            f"expected base_url to start with https:// or http://, got {base_url[:60]!r}"
        )
    options = ChatOptions(
        model_id=model_id,
        base_url=base_url,
        headers=_headers((api_key or "").strip(), headers or {}),
        dialect=evolve(dialect or ChatDialect(), provider=provider),
    )
    return OpenAIChatModel(options, client=client, blocking_client=blocking_client, limits=limits)


def _headers(key: str, given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    authorization = {"authorization": f"Bearer {key}"} if key else {}
    return tuple((authorization | {name.lower(): v for name, v in given.items()}).items())
