"""How a user names a model of Anthropic."""

import os
from typing import TypeAlias

from typing_extensions import Unpack

from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_model import HttpModel, WireCodec, http_model
from stepfold.providers._keys import key_of
from stepfold.providers.anthropic_messages._encode import encode_request
from stepfold.providers.anthropic_messages._options import MessagesDialect, anthropic_dialect
from stepfold.providers.anthropic_messages._reply import decode_reply
from stepfold.providers.anthropic_messages._stream import messages_decoder

MessagesModel: TypeAlias = HttpModel[MessagesDialect]
"""A model that speaks Anthropic's Messages."""

MESSAGES_CODEC: WireCodec[MessagesDialect] = WireCodec(
    encode_request, decode_reply, messages_decoder
)
"""Anthropic's Messages."""

ANTHROPIC_BASE_URL = "https://api.anthropic.com/v1"
ANTHROPIC_VERSION = "2023-06-01"


def anthropic(
    model_id: str,
    *,
    dialect: MessagesDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> MessagesModel:
    """A model of Anthropic, or of a server that speaks its protocol.

    The key and the address are those given, else `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL` of
    the environment; an address without `/v1` at its end gets one.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    key = key_of(
        options.get("api_key"),
        model=f"anthropic/{model_id}",
        variable="ANTHROPIC_API_KEY",
        made_at="https://platform.claude.com",
    )
    given = options.get("base_url") or (os.environ.get("ANTHROPIC_BASE_URL") or "").strip()
    address = (given or ANTHROPIC_BASE_URL).rstrip("/")
    return http_model(
        MESSAGES_CODEC,
        model_id,
        dialect or anthropic_dialect(model_id),
        base_url=address if address.endswith("/v1") else f"{address}/v1",
        headers={"x-api-key": key, "anthropic-version": ANTHROPIC_VERSION},
        options=options,
    )
