"""How a user names an embedding or reranking model of Amazon Bedrock."""

import re
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from typing_extensions import Unpack

from stepfold.ports import EmbeddingReply, EmbeddingRequest, RerankingReply, RerankingRequest
from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_caller import connections_of
from stepfold.providers._http_embedding import (
    AnswerCodec,
    EmbeddingDialect,
    HttpEmbeddingModel,
    HttpRerankingModel,
)
from stepfold.providers.bedrock_converse import AwsCredentials, bedrock_endpoint
from stepfold.providers.bedrock_embeddings._codec import (
    decode_cohere_embedding,
    decode_titan_embedding,
    encode_cohere_embedding,
    encode_cohere_reranking,
    encode_titan_embedding,
)
from stepfold.providers.cohere_embeddings import decode_reranking
from stepfold.values import UsageError

BedrockEmbeddingFamily: TypeAlias = Literal["titan", "cohere"]
"""Whose words an embedding model of Bedrock understands."""

_NAME: Final = re.compile(r"(?:^|[./])(?:amazon\.(titan)-embed-(?:g1-)?text|(cohere)\.embed)-")
_TITAN: Final[AnswerCodec[EmbeddingRequest, EmbeddingReply]] = AnswerCodec(
    encode_titan_embedding, decode_titan_embedding
)
_COHERE: Final[AnswerCodec[EmbeddingRequest, EmbeddingReply]] = AnswerCodec(
    encode_cohere_embedding, decode_cohere_embedding
)
_RERANKING: Final[AnswerCodec[RerankingRequest, RerankingReply]] = AnswerCodec(
    encode_cohere_reranking, decode_reranking
)
_ONE_TEXT: Final = EmbeddingDialect(provider="bedrock", max_values_per_call=1)
_MANY_TEXTS: Final = EmbeddingDialect(provider="bedrock", max_values_per_call=96)


def bedrock_embedding(
    model_id: str,
    *,
    family: BedrockEmbeddingFamily | None = None,
    region: str | None = None,
    credentials: AwsCredentials | Callable[[], AwsCredentials] | None = None,
    **options: Unpack[ConnectionOptions],
) -> HttpEmbeddingModel:
    """An embedding model of Bedrock, such as `amazon.titan-embed-text-v2:0`.

    There are two families: Amazon's Titan for texts, with one text in a call, and Cohere's, whose
    vectors are made to be searched among unless
    `provider_options={"bedrock": {"input_type": "search_query"}}` says otherwise. The name tells
    which; the ARN of a provisioned model does not, and needs `family`. Credentials, region and
    address are those of `bedrock`.

    Raises:
        UsageError: the name is of no known family, there are no credentials or no region, or the
            address is not one of http or https.
    """
    found = family or _family_in(model_id)
    codec, dialect = (_TITAN, _ONE_TEXT) if found == "titan" else (_COHERE, _MANY_TEXTS)
    endpoint = bedrock_endpoint(model_id, dialect, options, region, credentials)
    return HttpEmbeddingModel(codec, endpoint, connections_of(options))


def bedrock_reranking(
    model_id: str,
    *,
    region: str | None = None,
    credentials: AwsCredentials | Callable[[], AwsCredentials] | None = None,
    **options: Unpack[ConnectionOptions],
) -> HttpRerankingModel:
    """A reranking model of Cohere behind Bedrock, such as `cohere.rerank-v3-5:0`.

    Credentials, region and address are those of `bedrock`.

    Raises:
        UsageError: there are no credentials or no region, or the address is not one of http or
            https.
    """
    endpoint = bedrock_endpoint(model_id, _MANY_TEXTS, options, region, credentials)
    return HttpRerankingModel(_RERANKING, endpoint, connections_of(options))


def _family_in(model_id: str) -> BedrockEmbeddingFamily:
    match = _NAME.search(model_id)
    if match is None:
        raise UsageError(
            f"bedrock/{model_id}: expected an embedding model by the name of its family, such as "
            f"amazon.titan-embed-text-v2:0 or cohere.embed-v4:0. In Python, family=… says whose "
            f"words another one understands."
        )
    return "titan" if match[1] else "cohere"
