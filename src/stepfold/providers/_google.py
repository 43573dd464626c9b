"""Where Google is and how a caller is known there, the same for all of its models."""

import os
from typing import Final, TypeVar
from urllib.parse import quote

from stepfold.providers._endpoint import ConnectionOptions, Dialect, Endpoint
from stepfold.providers._http_caller import endpoint_of
from stepfold.providers._keys import key_of

D = TypeVar("D", bound=Dialect)

_BASE_URL: Final = "https://generativelanguage.googleapis.com/v1beta"


def google_endpoint(model_id: str, dialect: D, options: ConnectionOptions) -> Endpoint[D]:
    """A model of Google, by the key and the address that are given, else by the environment's.

    An `authorization` among the headers stands for a key.

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
    return endpoint_of(
        model_id,
        dialect,
        base_url=options.get("base_url") or address or _BASE_URL,
        headers={"x-goog-api-key": key},
        options=options,
    )


def google_name(model_id: str) -> str:
    """The path of a model; an id with a slash (`tunedModels/mine`) is one of its own."""
    return model_id if "/" in model_id else f"models/{model_id}"


def google_path(model_id: str, method: str) -> str:
    """Where a model is asked."""
    return f"{quote(google_name(model_id))}:{method}"
