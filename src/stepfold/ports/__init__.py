"""Floor 3: what the shell needs from outside, as protocols."""

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
from stepfold.ports._journal import (
    Journal,
    JournalConflict,
    JournalDamaged,
    JournalError,
    JournalFault,
    JournalMissing,
    JournalRecord,
    JournalStore,
    JournalUnavailable,
    Lease,
    LeaseHeld,
    RunStatus,
    StoredJournal,
    StoredRun,
    write_down,
)
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
    "JournalConflict",
    "JournalDamaged",
    "JournalError",
    "JournalFault",
    "JournalMissing",
    "JournalRecord",
    "JournalStore",
    "JournalUnavailable",
    "Keeper",
    "Kept",
    "LanguageModel",
    "Lease",
    "LeaseHeld",
    "Middleware",
    "ModelStream",
    "Ranked",
    "RerankingModel",
    "RerankingReply",
    "RerankingRequest",
    "RunStatus",
    "StoredJournal",
    "StoredRun",
    "SupportedUrls",
    "compose",
    "model_name",
    "streamed",
    "supported_urls_of",
    "supports_url",
    "write_down",
)
