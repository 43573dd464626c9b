"""What a model of Google understands."""

import re
from typing import Literal, TypeAlias, final

from attrs import frozen

Thinking: TypeAlias = Literal["none", "budget", "level"]


@final
@frozen(order=False, kw_only=True, cache_hash=True)
class GoogleDialect:
    """What a model understands.

    `provider` is the key of `provider_options` and `provider_metadata`. `thinking` says how a
    model is told to think: by a `budget` of tokens (Gemini 2.5), or by a `level` (from Gemini 3).
    `mixes_tools` tells that functions may stand beside tools that Google runs (from Gemini 3).
    `fetched_urls` are the files that Google fetches by their addresses, those that were uploaded to
    it and videos of YouTube; others are fetched before it is asked.
    """

    provider: str = "google"
    thinking: Thinking = "level"
    mixes_tools: bool = True
    fetched_urls: tuple[tuple[str, str], ...] = (
        ("*", r"^https://generativelanguage\.googleapis\.com/[^/]+/files/"),
        ("*", r"^https://(?:www\.)?youtube\.com/watch\?v="),
        ("*", r"^https://youtu\.be/"),
    )


_VERSION = re.compile(r"gemini-(\d+)(?:\.(\d+))?")


def google_dialect(model_id: str) -> GoogleDialect:
    """What Google's own models understand, by the version in their names."""
    match = _VERSION.search(model_id)
    if match is None:
        is_gemma = "gemma" in model_id
        return GoogleDialect(thinking="none" if is_gemma else "level", mixes_tools=not is_gemma)
    version = (int(match[1]), int(match[2] or 0))
    if version >= (3, 0):
        return GoogleDialect()
    return GoogleDialect(thinking="budget" if version >= (2, 5) else "none", mixes_tools=False)
