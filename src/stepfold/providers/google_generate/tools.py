"""Tools that Google runs, with typed arguments, for the list of tools of an agent.

What was found is in the sources of the reply; the rest of what Google says of it is in the
`provider_metadata` of the reply (`groundingMetadata`, `urlContextMetadata`).
"""

from collections.abc import Iterable

from stepfold.providers._own_tools import hosted_tool, said
from stepfold.values import ProviderTool, UsageError

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
) -> ProviderTool:
    """Search the web.

    Args:
        web: Whether pages are found.
        images: Whether images are found.
        start_time: Only what is from then on, as `2026-01-31T00:00:00Z`.
        end_time: Only what is from before then; both times or none are given.

    Raises:
        UsageError: one of the times is missing, or nothing is to be found.
    """
    if not (web or images):
        raise UsageError("google_search: expected web or images to be found, got neither")
    if (start_time is None) != (end_time is None):
        raise UsageError("google_search: expected start_time and end_time, got one of them")
    kinds = said(webSearch={} if web else None, imageSearch={} if images else None)
    times = said(startTime=start_time, endTime=end_time)
    return hosted_tool(
        "google.googleSearch",
        "google_search",
        searchTypes=kinds if images else None,
        timeRangeFilter=times or None,
    )


def enterprise_web_search() -> ProviderTool:
    """Search the web under the terms of enterprises, at Vertex AI."""
    return hosted_tool("google.enterpriseWebSearch", "enterprise_web_search")


def url_context() -> ProviderTool:
    """Read the pages whose addresses stand in the prompt."""
    return hosted_tool("google.urlContext", "url_context")


def code_execution() -> ProviderTool:
    """Run Python in a sandbox of Google's."""
    return hosted_tool("google.codeExecution", "code_execution")


def google_maps() -> ProviderTool:
    """Ask Google Maps for places."""
    return hosted_tool("google.googleMaps", "google_maps")


def file_search(
    store_names: Iterable[str], *, top_k: int | None = None, metadata_filter: str | None = None
) -> ProviderTool:
    """Search stores of files.

    Args:
        store_names: The stores, such as `fileSearchStores/…`.
        top_k: How many pieces are found at most.
        metadata_filter: Which files are searched, as an expression (`author = "Ada"`).
    """
    return hosted_tool(
        "google.fileSearch",
        "file_search",
        fileSearchStoreNames=tuple(store_names),
        topK=top_k,
        metadataFilter=metadata_filter,
    )


def vertex_rag_store(rag_corpus: str, *, top_k: int | None = None) -> ProviderTool:
    """Search a corpus of Vertex AI's RAG engine.

    Args:
        rag_corpus: The name of the corpus: `projects/…/locations/…/ragCorpora/…`.
        top_k: How many pieces are found at most.
    """
    store = said(rag_resources={"rag_corpus": rag_corpus}, similarity_top_k=top_k)
    return hosted_tool("google.retrieval", "vertex_rag_store", vertex_rag_store=store)
