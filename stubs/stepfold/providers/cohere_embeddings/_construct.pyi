from typing import TypeVar
from typing_extensions import Unpack
from stepfold.providers._endpoint import ConnectionOptions, Dialect, Endpoint
from stepfold.providers._http_embedding import HttpEmbeddingModel, HttpRerankingModel

D = TypeVar("D", bound=Dialect)

def cohere_embedding(model_id: str, **options: Unpack[ConnectionOptions]) -> HttpEmbeddingModel: ...
def cohere_reranking(model_id: str, **options: Unpack[ConnectionOptions]) -> HttpRerankingModel: ...
def cohere_endpoint(model_id: str, dialect: D, options: ConnectionOptions) -> Endpoint[D]: ...
