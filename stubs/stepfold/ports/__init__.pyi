from stepfold.ports._blocking import BLOCKING
from stepfold.ports._clock import Clock
from stepfold.ports._download import (
    Download,
    Downloaded,
    SupportedUrls,
    supported_urls_of,
    supports_url,
)
from stepfold.ports._embedding import (
    Embedding,
    EmbeddingMiddleware,
    EmbeddingModel,
    EmbeddingReply,
    EmbeddingRequest,
)
from stepfold.ports._journal import Journal
from stepfold.ports._keeping import KEEPER, Keeper, Kept
from stepfold.ports._model import (
    LanguageModel,
    Middleware,
    ModelStream,
    compose,
    model_name,
    streamed,
)
from stepfold.ports._reranking import Ranked, RerankingModel, RerankingReply, RerankingRequest

__all__ = (
    "BLOCKING",
    "KEEPER",
    "Clock",
    "Download",
    "Downloaded",
    "Embedding",
    "EmbeddingMiddleware",
    "EmbeddingModel",
    "EmbeddingReply",
    "EmbeddingRequest",
    "Journal",
    "Keeper",
    "Kept",
    "LanguageModel",
    "Middleware",
    "ModelStream",
    "Ranked",
    "RerankingModel",
    "RerankingReply",
    "RerankingRequest",
    "SupportedUrls",
    "compose",
    "model_name",
    "streamed",
    "supported_urls_of",
    "supports_url",
)
