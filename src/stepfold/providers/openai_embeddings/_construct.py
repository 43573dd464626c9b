"""How a user names an embedding model of OpenAI or of a compatible server."""

from typing_extensions import Unpack

from stepfold.ports import EmbeddingReply, EmbeddingRequest
from stepfold.providers._endpoint import ClientOptions, ConnectionOptions
from stepfold.providers._http_caller import connections_of, endpoint_of
from stepfold.providers._http_embedding import AnswerCodec, EmbeddingDialect, HttpEmbeddingModel
from stepfold.providers._openai import openai_endpoint
from stepfold.providers.openai_embeddings._codec import decode_embedding, encode_embedding

EMBEDDING_CODEC: AnswerCodec[EmbeddingRequest, EmbeddingReply] = AnswerCodec(
    encode_embedding, decode_embedding
)
"""OpenAI's `/embeddings`."""

_OPENAI = EmbeddingDialect(provider="openai", max_values_per_call=2048)


def openai_embedding(
    model_id: str,
    *,
    organization: str | None = None,
    project: str | None = None,
    **options: Unpack[ConnectionOptions],
) -> HttpEmbeddingModel:
    """An embedding model of OpenAI, such as `text-embedding-3-small`.

    The key and the address are those given, else `OPENAI_API_KEY` and `OPENAI_BASE_URL` of the
    environment.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    endpoint = openai_endpoint(
        model_id, _OPENAI, options, organization=organization, project=project
    )
    return HttpEmbeddingModel(EMBEDDING_CODEC, endpoint, connections_of(options))


def openai_compatible_embedding(
    model_id: str,
    *,
    base_url: str,
    provider: str = "openai-compatible",
    max_values_per_call: int | None = 2048,
    **options: Unpack[ClientOptions],
) -> HttpEmbeddingModel:
    """An embedding model of any server with `/embeddings` below `base_url`, `/v1` included.

    `provider` names it, and its `provider_options`; `max_values_per_call` is how many texts one
    call may hold. Nothing is read from the environment.

    Raises:
        UsageError: the address is not one of http or https.
    """
    key = (options.get("api_key") or "").strip()
    endpoint = endpoint_of(
        model_id,
        EmbeddingDialect(provider=provider, max_values_per_call=max_values_per_call),
        base_url=base_url,
        headers={"authorization": f"Bearer {key}" if key else None},
        options=options,
    )
    return HttpEmbeddingModel(EMBEDDING_CODEC, endpoint, connections_of(options))
