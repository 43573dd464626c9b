from typing_extensions import Unpack
from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_embedding import HttpEmbeddingModel

def embedding_model(
    server: str, model_id: str, **options: Unpack[ConnectionOptions]
) -> HttpEmbeddingModel: ...
