from collections.abc import Iterable
from stepfold.values import ProviderTool

__all__ = (
    "code_execution",
    "enterprise_web_search",
    "file_search",
    "google_maps",
    "google_search",
    "url_context",
    "vertex_rag_store",
)

def google_search(
    *,
    web: bool = True,
    images: bool = False,
    start_time: str | None = None,
    end_time: str | None = None,
) -> ProviderTool: ...
def enterprise_web_search() -> ProviderTool: ...
def url_context() -> ProviderTool: ...
def code_execution() -> ProviderTool: ...
def google_maps() -> ProviderTool: ...
def file_search(
    store_names: Iterable[str], *, top_k: int | None = None, metadata_filter: str | None = None
) -> ProviderTool: ...
def vertex_rag_store(rag_corpus: str, *, top_k: int | None = None) -> ProviderTool: ...
