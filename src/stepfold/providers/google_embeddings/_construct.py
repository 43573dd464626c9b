"""How a user names an embedding model of Google."""

from typing_extensions import Unpack

from stepfold.ports import EmbeddingReply, EmbeddingRequest
from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._google import google_endpoint
from stepfold.providers._http_caller import connections_of
from stepfold.providers._http_embedding import AnswerCodec, EmbeddingDialect, HttpEmbeddingModel
from stepfold.providers.google_embeddings._codec import decode_embedding, encode_embedding

_CODEC: AnswerCodec[EmbeddingRequest, EmbeddingReply] = AnswerCodec(
    encode_embedding, decode_embedding
)
_GOOGLE = EmbeddingDialect(provider="google", max_values_per_call=100)


def google_embedding(model_id: str, **options: Unpack[ConnectionOptions]) -> HttpEmbeddingModel:
    """An embedding model of Google, such as `gemini-embedding-001`, over the Gemini API.

    The key and the address are those given, else `GEMINI_API_KEY`, or `GOOGLE_API_KEY`, and
    `GOOGLE_GEMINI_BASE_URL` of the environment. What the vectors are for is an option:
    `provider_options={"google": {"taskType": "RETRIEVAL_QUERY"}}`.

    Raises:
        UsageError: there is no key, or the address is not one of http or https.
    """
    return HttpEmbeddingModel(
        _CODEC, google_endpoint(model_id, _GOOGLE, options), connections_of(options)
    )
