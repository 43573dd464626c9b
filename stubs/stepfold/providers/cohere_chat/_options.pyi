from typing import final
from attrs import frozen
from stepfold.providers._endpoint import WEB

@final
@frozen(order=False, kw_only=True, cache_hash=True)
class CohereDialect:
    provider: str = "cohere"
    reasons: bool = False
    fetched_urls: tuple[tuple[str, str], ...] = (("image/*", WEB),)

def cohere_dialect(model_id: str) -> CohereDialect: ...
