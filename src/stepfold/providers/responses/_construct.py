"""How a user names a model of the Responses protocol."""

import os
from typing import TypeAlias

from typing_extensions import Unpack

from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_model import HttpModel, WireCodec, http_model
from stepfold.providers._keys import key_of
from stepfold.providers.responses._encode import encode_request
from stepfold.providers.responses._options import ResponsesDialect, responses_dialect
from stepfold.providers.responses._reply import decode_reply
from stepfold.providers.responses._stream import ResponsesStreamDecoder

ResponsesModel: TypeAlias = HttpModel[ResponsesDialect]
"""A model that speaks OpenAI's Responses protocol."""

RESPONSES_CODEC: WireCodec[ResponsesDialect] = WireCodec(
    encode_request, decode_reply, ResponsesStreamDecoder
)
"""OpenAI's Responses protocol."""

OPENAI_BASE_URL = "https://api.openai.com/v1"


def openai_responses(
    model_id: str,
    *,
    organization: str | None = None,
    project: str | None = None,
    dialect: ResponsesDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> ResponsesModel:
    """A model of OpenAI, over the Responses protocol; the server keeps nothing.

    The key and the address are those given, else `OPENAI_API_KEY` and `OPENAI_BASE_URL` of the
    environment.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    key = key_of(
        options.get("api_key"),
        model=f"openai-responses/{model_id}",
        variable="OPENAI_API_KEY",
        made_at="https://platform.openai.com/api-keys",
    )
    return http_model(
        RESPONSES_CODEC,
        model_id,
        dialect or responses_dialect(model_id),
        base_url=options.get("base_url") or os.environ.get("OPENAI_BASE_URL") or OPENAI_BASE_URL,
        headers={
            "authorization": f"Bearer {key}",
            "openai-organization": organization or None,
            "openai-project": project or None,
        },
        options=options,
    )
