from typing_extensions import Unpack
from stepfold.providers._endpoint import ClientOptions, ConnectionOptions
from stepfold.providers._http_embedding import HttpEmbeddingModel

def openai_embedding(
    model_id: str,
    *,
    organization: str | None = None,
    project: str | None = None,
    **options: Unpack[ConnectionOptions],
) -> HttpEmbeddingModel: ...
def openai_compatible_embedding(
    model_id: str,
    *,
    base_url: str,
    provider: str = "openai-compatible",
    max_values_per_call: int | None = 2048,
    **options: Unpack[ClientOptions],
) -> HttpEmbeddingModel: ...
