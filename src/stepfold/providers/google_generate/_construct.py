"""How a user names a model of Google."""

from typing import TypeAlias

from typing_extensions import Unpack

from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._google import google_endpoint
from stepfold.providers._http_caller import connections_of
from stepfold.providers._http_model import HttpModel, WireCodec
from stepfold.providers.google_generate._encode import encode_request
from stepfold.providers.google_generate._options import GoogleDialect, google_dialect
from stepfold.providers.google_generate._reply import decode_reply
from stepfold.providers.google_generate._stream import google_decoder

GoogleModel: TypeAlias = HttpModel[GoogleDialect]
"""A model that speaks Google's `generateContent`."""

GOOGLE_CODEC: WireCodec[GoogleDialect] = WireCodec(encode_request, decode_reply, google_decoder)
"""Google's `generateContent` and `streamGenerateContent`."""


def google(
    model_id: str,
    *,
    dialect: GoogleDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> GoogleModel:
    """A model of Google, over the Gemini API.

    The key and the address are those given, else `GEMINI_API_KEY`, or `GOOGLE_API_KEY`, and
    `GOOGLE_GEMINI_BASE_URL` of the environment. An address is given with its version, such as
    `…/v1beta`; that of Vertex AI ends with `/publishers/google`, and takes an `authorization`
    among the `headers`.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    endpoint = google_endpoint(model_id, dialect or google_dialect(model_id), options)
    return HttpModel(GOOGLE_CODEC, endpoint, connections_of(options))
