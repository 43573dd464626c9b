from typing import Literal, TypeAlias, final
from attrs import frozen

Thinking: TypeAlias = Literal["none", "budget", "level"]

@final
@frozen(order=False, kw_only=True, cache_hash=True)
class GoogleDialect:
    provider: str = "google"
    thinking: Thinking = "level"
    mixes_tools: bool = True
    fetched_urls: tuple[tuple[str, str], ...] = (
        ("*", "^https://generativelanguage\\.googleapis\\.com/[^/]+/files/"),
        ("*", "^https://(?:www\\.)?youtube\\.com/watch\\?v="),
        ("*", "^https://youtu\\.be/"),
    )

def google_dialect(model_id: str) -> GoogleDialect: ...
