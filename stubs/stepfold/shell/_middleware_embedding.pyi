from collections.abc import Callable, Mapping
from stepfold.ports import EmbeddingMiddleware, EmbeddingModel, EmbeddingRequest

def wrap_embedding_model(
    model: EmbeddingModel,
    /,
    *middleware: EmbeddingMiddleware,
    model_id: str | None = None,
    provider: str | None = None,
) -> EmbeddingModel: ...
def map_embedding_request(
    function: Callable[[EmbeddingRequest], EmbeddingRequest], /
) -> EmbeddingMiddleware: ...
def default_embedding_settings(
    *,
    dimensions: int | None = None,
    headers: Mapping[str, str] | None = None,
    provider_options: Mapping[str, object] | None = None,
) -> EmbeddingMiddleware: ...
