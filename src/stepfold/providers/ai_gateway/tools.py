"""Tools that the AI Gateway runs for every model behind it, with typed arguments."""

from collections.abc import Iterable
from typing import Literal

from stepfold.providers._own_tools import hosted_tool, said
from stepfold.values import ProviderTool, UsageError

__all__ = (
    "parallel_search",
    "perplexity_search",
)


def perplexity_search(
    *,
    max_results: int | None = None,
    max_tokens_per_page: int | None = None,
    max_tokens: int | None = None,
    country: str | None = None,
    domains: Iterable[str] | None = None,
    languages: Iterable[str] | None = None,
    recency: Literal["day", "week", "month", "year"] | None = None,
) -> ProviderTool:
    """Search the web by Perplexity.

    Args:
        max_results: How many results are found at most, from 1 to 20.
        max_tokens_per_page: How much of a page is shown, in tokens.
        max_tokens: How much is shown of all pages, in tokens.
        country: Where results are from, a code of two letters.
        domains: Only these; or, with `-` before each, never these.
        languages: Only pages in these, codes of two letters.
        recency: How old results may be.
    """
    return hosted_tool(
        "gateway.perplexity_search",
        maxResults=max_results,
        maxTokensPerPage=max_tokens_per_page,
        maxTokens=max_tokens,
        country=country,
        searchDomainFilter=None if domains is None else tuple(domains),
        searchLanguageFilter=None if languages is None else tuple(languages),
        searchRecencyFilter=recency,
    )


def parallel_search(
    *,
    mode: Literal["turbo", "fast", "basic", "advanced"] | None = None,
    max_results: int | None = None,
    include_domains: Iterable[str] | None = None,
    exclude_domains: Iterable[str] | None = None,
    after_date: str | None = None,
    max_characters: int | None = None,
    location: str | None = None,
) -> ProviderTool:
    """Search the web by Parallel, for a goal in words.

    Args:
        mode: How thorough a search is; the quick ones show less of each page.
        max_results: How many results are found at most, from 1 to 20.
        include_domains: Only these; not together with `exclude_domains`.
        exclude_domains: Never these.
        after_date: Only what was published from that day on, as `2026-01-31`.
        max_characters: How much is shown of all pages.
        location: Where the user is, a code of two letters.

    Raises:
        UsageError: both lists of domains are given.
    """
    if include_domains is not None and exclude_domains is not None:
        raise UsageError("parallel_search: expected one list of domains, got two")
    policy = said(
        includeDomains=None if include_domains is None else tuple(include_domains),
        excludeDomains=None if exclude_domains is None else tuple(exclude_domains),
        afterDate=after_date,
    )
    return hosted_tool(
        "gateway.parallel_search",
        mode=mode,
        maxResults=max_results,
        sourcePolicy=policy or None,
        maxCharsTotal=max_characters,
        location=location,
    )
