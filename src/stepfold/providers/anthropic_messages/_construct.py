"""How a user names a model of Anthropic."""

import os
from collections.abc import Mapping

from stepfold.providers._keys import key_of
from stepfold.providers.anthropic_messages._model import AnthropicModel
from stepfold.providers.anthropic_messages._options import (
    MessagesDialect,
    MessagesOptions,
    anthropic_dialect,
)
from stepfold.transport import BlockingHttpClient, HttpClient, HttpLimits
from stepfold.values import UsageError

ANTHROPIC_BASE_URL = "https://api.anthropic.com/v1"
ANTHROPIC_VERSION = "2023-06-01"


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
) -> AnthropicModel:
    """A model of Anthropic, or of a server that speaks its protocol.

    The key and the address are those given, else `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL` of
    the environment; an address without `/v1` at its end gets one. A client that is given is used
    as it is and never closed; `blocking_client` serves runs without an event loop.

    Raises:
        UsageError: if there is no key, or the address is not one of http or https.
    """
    key = key_of(
        api_key,
        model=f"anthropic/{model_id}",
        variable="ANTHROPIC_API_KEY",
        made_at="https://platform.claude.com",
    )
    address = base_url or (os.environ.get("ANTHROPIC_BASE_URL") or "").strip() or ANTHROPIC_BASE_URL
    if not address.startswith(("http://", "https://")):
        raise UsageError(
            f"expected base_url to start with https:// or http://, got {address[:60]!r}"
        )
    address = address.rstrip("/")
    own = {"x-api-key": key, "anthropic-version": ANTHROPIC_VERSION}
    options = MessagesOptions(
        model_id=model_id,
        base_url=address if address.endswith("/v1") else f"{address}/v1",
        headers=tuple((own | {name.lower(): v for name, v in (headers or {}).items()}).items()),
        dialect=dialect or anthropic_dialect(model_id),
    )
    return AnthropicModel(options, client=client, blocking_client=blocking_client, limits=limits)
