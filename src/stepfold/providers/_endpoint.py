"""Where a model is, and what a user may say of the way to it."""

from collections.abc import Mapping
from typing import Final, Generic, Protocol, TypeVar, final

from attrs import field, frozen
from typing_extensions import TypedDict

from stepfold.transport import BlockingHttpClient, HttpClient, HttpLimits, HttpRequest
from stepfold.values import Instant, UsageError

WEB: Final = "^https?://"
"""Every address of the web, as a server says that it fetches files from there."""


class Dialect(Protocol):
    """What a model or server understands of its protocol."""

    @property
    def provider(self) -> str:
        """The key of `provider_options` and `provider_metadata`."""
        ...

    @property
    def fetched_urls(self) -> tuple[tuple[str, str], ...]:
        """The addresses of files that the server fetches itself: media types, and expressions."""
        ...


class SignRequest(Protocol):
    """Signs a request that is about to be sent."""

    def __call__(self, request: HttpRequest, now: Instant, /) -> HttpRequest: ...


D_co = TypeVar("D_co", bound=Dialect, covariant=True)


@final
@frozen(order=False, kw_only=True)
class Endpoint(Generic[D_co]):
    """One model of one server: `headers` hold the key, and the `repr` does not show them.

    `name` is the provider in the model's name, where that is another than in the options: OpenAI
    has the same models behind several protocols. `sign` signs each request before it is sent.
    """

    model_id: str
    base_url: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    dialect: D_co
    name: str | None = None
    sign: SignRequest | None = field(default=None, repr=False)

    @property
    def provider(self) -> str:
        """The provider in the model's name: `provider/model_id` makes the same model again."""
        return self.name or self.dialect.provider

    def under(self, path: str) -> str:
        """The address of a path below `base_url`."""
        return f"{self.base_url.rstrip('/')}/{path}"


class ClientOptions(TypedDict, total=False):
    """What a server is told of its caller, and the client that speaks to it.

    `api_key` comes before the environment's. `headers` are added to our own, and win. A `client`
    that is given is used as it is and never closed; `blocking_client` serves runs without an
    event loop. `limits` bound our own clients: time, sizes, connections.
    """

    api_key: str | None
    headers: Mapping[str, str] | None
    client: HttpClient | None
    blocking_client: BlockingHttpClient | None
    limits: HttpLimits | None


class ConnectionOptions(ClientOptions, total=False):
    """How to come to a server; `base_url` comes before the environment's."""

    base_url: str | None


def checked_address(base_url: str) -> str:
    """An address without white space around it.

    Raises:
        UsageError: it is not one of http or https.
    """
    address = base_url.strip()
    if not address.startswith(("http://", "https://")):
        raise UsageError(
            f"expected base_url to start with https:// or http://, got {address[:60]!r}"
        )
    return address
