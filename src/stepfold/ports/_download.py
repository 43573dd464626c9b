"""The port through which files are fetched that a model cannot fetch itself."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias, final

from attrs import field, frozen

from stepfold.ports._model import LanguageModel


@final
@frozen(order=False)
class Downloaded:
    """What an address holds: its content, and the media type that was said of it, if any."""

    data: bytes = field(repr=lambda data: f"<{len(data)} bytes>")
    media_type: str | None = None


Download: TypeAlias = Callable[[str], Awaitable[Downloaded | None]]
"""Fetches a file by its address; gives `None` to hand the address on to the model as it is.

Raises `ModelError` when the file cannot be had. Never suspends where `BLOCKING` is set.
"""

SupportedUrls: TypeAlias = Mapping[str, Sequence[str]]
"""Which addresses a model's provider fetches itself: regular expressions, by media type.

A media type is whole (`application/pdf`), or stands for many (`image/*`, `*/*`). Expressions are
searched for in the address in lower case.
"""


def supported_urls_of(model: LanguageModel) -> SupportedUrls | None:
    """What a model says in its optional attribute `supported_urls`.

    `None` if it says nothing: then every address is its own business, and nothing is fetched.
    """
    supported: SupportedUrls | None = getattr(model, "supported_urls", None)
    return supported


def supports_url(supported: SupportedUrls, media_type: str, url: str) -> bool:
    """Whether the provider fetches a file of this type from this address."""
    kind, address = media_type.lower(), url.lower()
    top_level = f"{kind.partition('/')[0]}/*"
    return any(
        re.search(expression, address) is not None
        for pattern, expressions in supported.items()
        if pattern.lower() in {"*", "*/*", top_level, kind}
        for expression in expressions
    )
