"""What the gateway understands, whatever the model behind it."""

from collections.abc import Mapping
from typing import final

from attrs import frozen

from stepfold.values import JsonObject, JsonText, UsageError


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


def passed_options(options: JsonText | None) -> Mapping[str, JsonObject]:
    """The options of a request, for the gateway and every provider behind it, as a member.

    Raises:
        UsageError: they are no object.
    """
    if options is None:
        return {}
    if not isinstance(options.value, JsonObject):
        raise UsageError(
            f"expected provider_options to be an object by provider, got {options.text[:200]}"
        )
    return {"providerOptions": options.value}
