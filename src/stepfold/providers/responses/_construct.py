"""How a user names a model of the Responses protocol."""

import os
from typing import TypeAlias

from typing_extensions import Unpack

from stepfold.providers._endpoint import WEB, ConnectionOptions
from stepfold.providers._http_caller import connections_of, endpoint_of
from stepfold.providers._http_model import HttpModel, WireCodec
from stepfold.providers._keys import key_of
from stepfold.providers._openai import openai_endpoint
from stepfold.providers.responses._encode import encode_request
from stepfold.providers.responses._options import ResponsesDialect, responses_dialect
from stepfold.providers.responses._reply import decode_reply
from stepfold.providers.responses._stream import responses_decoder

ResponsesModel: TypeAlias = HttpModel[ResponsesDialect]
"""A model that speaks OpenAI's Responses protocol."""

RESPONSES_CODEC: WireCodec[ResponsesDialect] = WireCodec(
    encode_request, decode_reply, responses_decoder
)
"""OpenAI's Responses protocol."""

XAI_BASE_URL = "https://api.x.ai/v1"
XAI_DIALECT = ResponsesDialect(
    provider="xai",
    shows_results=False,
    reasons=True,
    efforts=("low", "medium", "high"),
    fetched_urls=(("image/*", WEB),),
)


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
    endpoint = openai_endpoint(
        model_id,
        dialect or responses_dialect(model_id),
        options,
        name="openai-responses",
        organization=organization,
        project=project,
    )
    return HttpModel(RESPONSES_CODEC, endpoint, connections_of(options))


def xai_responses(
    model_id: str,
    *,
    dialect: ResponsesDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> ResponsesModel:
    """A model of xAI, over the Responses protocol, where it has tools of its own.

    The key and the address are those given, else `XAI_API_KEY` and `XAI_BASE_URL` of the
    environment. Tools that xAI runs are made by `stepfold.providers.responses.xai_tools`.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    key = key_of(
        options.get("api_key"),
        model=f"xai-responses/{model_id}",
        variable="XAI_API_KEY",
        made_at="https://console.x.ai",
    )
    endpoint = endpoint_of(
        model_id,
        dialect or XAI_DIALECT,
        base_url=options.get("base_url") or os.environ.get("XAI_BASE_URL") or XAI_BASE_URL,
        headers={"authorization": f"Bearer {key}"},
        options=options,
        name="xai-responses",
    )
    return HttpModel(RESPONSES_CODEC, endpoint, connections_of(options))
