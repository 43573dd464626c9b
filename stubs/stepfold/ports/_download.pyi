from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias, final
from attrs import field, frozen
from stepfold.ports._model import LanguageModel

@final
@frozen(order=False)
class Downloaded:
    data: bytes = field()
    media_type: str | None = None

Download: TypeAlias = Callable[[str], Awaitable[Downloaded | None]]
SupportedUrls: TypeAlias = Mapping[str, Sequence[str]]

def supported_urls_of(model: LanguageModel) -> SupportedUrls | None: ...
def supports_url(supported: SupportedUrls, media_type: str, url: str) -> bool: ...
