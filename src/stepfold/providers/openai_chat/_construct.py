"""How a user names a chat-completions model."""

from typing import TypeAlias

from attrs import evolve
from typing_extensions import Unpack

from stepfold.providers._endpoint import ClientOptions, ConnectionOptions
from stepfold.providers._http_caller import connections_of
from stepfold.providers._http_model import HttpModel, WireCodec, http_model
from stepfold.providers._openai import openai_endpoint
from stepfold.providers.openai_chat._encode import encode_request
from stepfold.providers.openai_chat._options import ChatDialect, openai_dialect
from stepfold.providers.openai_chat._reply import decode_reply
from stepfold.providers.openai_chat._stream import chat_decoder

ChatModel: TypeAlias = HttpModel[ChatDialect]
"""A model that speaks OpenAI's chat completions."""

CHAT_CODEC: WireCodec[ChatDialect] = WireCodec(encode_request, decode_reply, chat_decoder)
"""OpenAI's chat completions."""


def openai(
    model_id: str,
    *,
    organization: str | None = None,
    project: str | None = None,
    dialect: ChatDialect | None = None,
    **options: Unpack[ConnectionOptions],
) -> ChatModel:
    """A model of OpenAI, over chat completions.

    The key and the address are those given, else `OPENAI_API_KEY` and `OPENAI_BASE_URL` of the
    environment.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    endpoint = openai_endpoint(
        model_id,
        dialect or openai_dialect(model_id),
        options,
        organization=organization,
        project=project,
    )
    return HttpModel(CHAT_CODEC, endpoint, connections_of(options))


def openai_compatible(
    model_id: str,
    *,
    base_url: str,
    provider: str = "openai-compatible",
    dialect: ChatDialect | None = None,
    **options: Unpack[ClientOptions],
) -> ChatModel:
    """A model of any server that speaks chat completions below `base_url`, `/v1` included.

    `provider` names it in states, journals and `provider_options`; `dialect` says what it does
    not understand. Nothing is read from the environment.

    Raises:
        UsageError: the address is not one of http or https.
    """
    key = (options.get("api_key") or "").strip()
    return http_model(
        CHAT_CODEC,
        model_id,
        evolve(dialect or ChatDialect(), provider=provider),
        base_url=base_url,
        headers={"authorization": f"Bearer {key}" if key else None},
        options=options,
    )
