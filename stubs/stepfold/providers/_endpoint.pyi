from collections.abc import Mapping
from typing import Final, Generic, Protocol, TypeVar, final
from attrs import field, frozen
from typing_extensions import TypedDict
from stepfold.transport import BlockingHttpClient, HttpClient, HttpLimits, HttpRequest
from stepfold.values import Instant

WEB: Final = "^https?://"

class Dialect(Protocol):
    @property
    def provider(self) -> str: ...
    @property
    def fetched_urls(self) -> tuple[tuple[str, str], ...]: ...

class SignRequest(Protocol):
    def __call__(self, request: HttpRequest, now: Instant, /) -> HttpRequest: ...

D_co = TypeVar("D_co", bound=Dialect, covariant=True)

@final
@frozen(order=False, kw_only=True)
class Endpoint(Generic[D_co]):
    model_id: str
    base_url: str
    headers: tuple[tuple[str, str], ...] = field(default=())
    dialect: D_co
    name: str | None = None
    sign: SignRequest | None = field(default=None)

    @property
    def provider(self) -> str: ...
    def under(self, path: str) -> str: ...

class ClientOptions(TypedDict, total=False):
    api_key: str | None
    headers: Mapping[str, str] | None
    client: HttpClient | None
    blocking_client: BlockingHttpClient | None
    limits: HttpLimits | None

class ConnectionOptions(ClientOptions, total=False):
    base_url: str | None
