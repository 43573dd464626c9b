from collections.abc import Iterable
from typing import Literal
from stepfold.values import ProviderTool

__all__ = ("parallel_search", "perplexity_search")

def perplexity_search(
    *,
    max_results: int | None = None,
    max_tokens_per_page: int | None = None,
    max_tokens: int | None = None,
    country: str | None = None,
    domains: Iterable[str] | None = None,
    languages: Iterable[str] | None = None,
    recency: Literal["day", "week", "month", "year"] | None = None,
) -> ProviderTool: ...
def parallel_search(
    *,
    mode: Literal["turbo", "fast", "basic", "advanced"] | None = None,
    max_results: int | None = None,
    include_domains: Iterable[str] | None = None,
    exclude_domains: Iterable[str] | None = None,
    after_date: str | None = None,
    max_characters: int | None = None,
    location: str | None = None,
) -> ProviderTool: ...
