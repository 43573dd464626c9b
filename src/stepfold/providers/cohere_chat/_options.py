"""What models of Cohere understand of its chat, by their names."""

from typing import final

from attrs import frozen

from stepfold.providers._endpoint import WEB


@final
@frozen(order=False, kw_only=True, cache_hash=True)
class CohereDialect:
    """What a model understands.

    `provider` is the key of `provider_options` and `provider_metadata`. `reasons` tells whether
    it may be told to think, or not to. `fetched_urls` are the files that the server fetches by
    their addresses; others are fetched before it is asked.
    """

    provider: str = "cohere"
    reasons: bool = False
    fetched_urls: tuple[tuple[str, str], ...] = (("image/*", WEB),)


def cohere_dialect(model_id: str) -> CohereDialect:
    """What a model understands, by its name: such as `command-a-reasoning-08-2025`."""
    return CohereDialect(reasons="reasoning" in model_id)
