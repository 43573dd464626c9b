"""How a user names a chat model of Cohere."""

from typing import TypeAlias

from typing_extensions import Unpack

from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_caller import connections_of
from stepfold.providers._http_model import HttpModel, WireCodec
from stepfold.providers.cohere_chat._encode import encode_request
from stepfold.providers.cohere_chat._options import CohereDialect, cohere_dialect
from stepfold.providers.cohere_chat._reply import decode_reply
from stepfold.providers.cohere_chat._stream import cohere_decoder
from stepfold.providers.cohere_embeddings import cohere_endpoint

CohereModel: TypeAlias = HttpModel[CohereDialect]
"""A model that speaks version 2 of Cohere's chat."""

COHERE_CODEC: WireCodec[CohereDialect] = WireCodec(encode_request, decode_reply, cohere_decoder)
"""Cohere's chat, version 2."""


def cohere(
    model_id: str,
    *,
    dialect: CohereDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> CohereModel:
    """A chat model of Cohere, such as `command-a-03-2025`.

    The key and the address are those given, else `COHERE_API_KEY` and `COHERE_BASE_URL` of the
    environment. Texts in files of the prompt are documents, which the reply may cite.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    endpoint = cohere_endpoint(model_id, dialect or cohere_dialect(model_id), options)
    return HttpModel(COHERE_CODEC, endpoint, connections_of(options))
