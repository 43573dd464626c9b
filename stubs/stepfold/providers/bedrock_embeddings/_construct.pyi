from collections.abc import Callable
from typing import Literal, TypeAlias
from typing_extensions import Unpack
from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_embedding import HttpEmbeddingModel, HttpRerankingModel
from stepfold.providers.bedrock_converse import AwsCredentials

BedrockEmbeddingFamily: TypeAlias = Literal["titan", "cohere"]

def bedrock_embedding(
    model_id: str,
    *,
    family: BedrockEmbeddingFamily | None = None,
    region: str | None = None,
    credentials: AwsCredentials | Callable[[], AwsCredentials] | None = None,
    **options: Unpack[ConnectionOptions],
) -> HttpEmbeddingModel: ...
def bedrock_reranking(
    model_id: str,
    *,
    region: str | None = None,
    credentials: AwsCredentials | Callable[[], AwsCredentials] | None = None,
    **options: Unpack[ConnectionOptions],
) -> HttpRerankingModel: ...
