"""How a user names a model of Google."""

import os
from typing import TypeAlias

from typing_extensions import Unpack

from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_model import HttpModel, WireCodec, http_model
from stepfold.providers._keys import key_of
from stepfold.providers.google_generate._encode import encode_request
from stepfold.providers.google_generate._options import GoogleDialect, google_dialect
from stepfold.providers.google_generate._reply import decode_reply
from stepfold.providers.google_generate._stream import google_decoder

GoogleModel: TypeAlias = HttpModel[GoogleDialect]
"""A model that speaks Google's `generateContent`."""

GOOGLE_CODEC: WireCodec[GoogleDialect] = WireCodec(encode_request, decode_reply, google_decoder)
"""Google's `generateContent` and `streamGenerateContent`."""

GOOGLE_BASE_URL = "https://generativelanguage.googleapis.com/v1beta"


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
    given = options.get("api_key") or os.environ.get("GEMINI_API_KEY")
    headers = {name.lower() for name in options.get("headers") or {}}
    key = None
    if given or "authorization" not in headers:
        key = key_of(
            given or os.environ.get("GOOGLE_API_KEY"),
            model=f"google/{model_id}",
            variable="GEMINI_API_KEY",
            made_at="https://aistudio.google.com/apikey",
        )
    address = (os.environ.get("GOOGLE_GEMINI_BASE_URL") or "").strip()
    return http_model(
        GOOGLE_CODEC,
        model_id,
        dialect or google_dialect(model_id),
        base_url=options.get("base_url") or address or GOOGLE_BASE_URL,
        headers={"x-goog-api-key": key},
        options=options,
    )
