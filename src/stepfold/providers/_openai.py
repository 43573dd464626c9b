"""Where OpenAI is and how a caller is known there, the same for all of its protocols."""

import os
from typing import TypeVar

from stepfold.providers._endpoint import ConnectionOptions, Dialect, Endpoint
from stepfold.providers._http_caller import endpoint_of
from stepfold.providers._keys import key_of

D = TypeVar("D", bound=Dialect)

_BASE_URL = "https://api.openai.com/v1"


def openai_endpoint(
    model_id: str,
    dialect: D,
    options: ConnectionOptions,
    *,
    name: str = "openai",
    organization: str | None,
    project: str | None,
) -> Endpoint[D]:
    """A model of OpenAI, by the key and the address that are given, else by the environment's.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    key = key_of(
        options.get("api_key"),
        model=f"{name}/{model_id}",
        variable="OPENAI_API_KEY",
        made_at="https://platform.openai.com/api-keys",
    )
    return endpoint_of(
        model_id,
        dialect,
        base_url=options.get("base_url") or os.environ.get("OPENAI_BASE_URL") or _BASE_URL,
        headers={
            "authorization": f"Bearer {key}",
            "openai-organization": organization or None,
            "openai-project": project or None,
        },
        options=options,
        name=name,
    )
