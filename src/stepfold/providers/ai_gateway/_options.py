"""What the gateway understands, whatever the model behind it."""

from typing import final

from attrs import frozen


@final
@frozen(order=False, kw_only=True, cache_hash=True)
class GatewayDialect:
    """What the gateway understands.

    `provider` is the key of its own `provider_options` and `provider_metadata`; those of the
    providers behind it have their own keys. `fetched_urls` are the files that it fetches by their
    addresses: by default all.
    """

    provider: str = "gateway"
    fetched_urls: tuple[tuple[str, str], ...] = (("*", ".*"),)
