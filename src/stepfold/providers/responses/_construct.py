"""How a user names a model of the Responses protocol."""

from typing import TypeAlias

from typing_extensions import Unpack

from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_caller import connections_of
from stepfold.providers._http_model import HttpModel, WireCodec
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
