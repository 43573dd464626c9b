from typing import final
from attrs import frozen

@final
@frozen(order=False, kw_only=True, cache_hash=True)
class GatewayDialect:
    provider: str = "gateway"
    fetched_urls: tuple[tuple[str, str], ...] = (("*", ".*"),)
